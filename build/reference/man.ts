import { exitCode } from '../../src/lib/kube/errors.ts'
import type { Description, Item } from './describe.ts'

/** `kvup-workloads-restore.1`. */
export function manFile({ path }: Pick<Description, 'path'>): string {
  return `${manName(path)}.1`
}

export function manPage(command: Description, all: readonly Description[], version: string): string {
  const isRoot = !command.path.includes(' ')
  return [
    `.TH "${manName(command.path).toUpperCase()}" "1" "" "kvup ${version}" "kvup"`,
    '.SH NAME',
    `${manName(command.path).replaceAll('-', '\\-')} \\- ${escaped(command.summary)}`,
    '.SH SYNOPSIS',
    `.B ${escaped(command.usage)}`,
    ...items('ARGUMENTS', command.arguments),
    ...items('COMMANDS', command.commands),
    ...items(isRoot ? 'FLAGS OF EVERY COMMAND' : 'FLAGS', command.options),
    ...(isRoot || command.after === '' ? [] : ['.SH MORE', '.nf', escaped(command.after), '.fi']),
    '.SH EXIT CODES',
    escaped(
      Object.entries(exitCode)
        .map(([name, code]) => `${code} ${name}`)
        .join(', '),
    ),
    ...seeAlso(command, all),
  ]
    .join('\n')
    .concat('\n')
}

function items(title: string, list: readonly Item[]): string[] {
  if (list.length === 0) return []
  return [`.SH ${title}`, ...list.flatMap(({ term, text }) => ['.TP', `.B ${escaped(term)}`, escaped(text)])]
}

function seeAlso({ path }: Description, all: readonly Description[]): string[] {
  const others = all.filter((other) => other.path !== path && other.runs)
  const names = path.includes(' ') ? ['kvup'] : others.map((other) => manName(other.path))
  return ['.SH SEE ALSO', names.map((name) => `.BR ${name.replaceAll('-', '\\-')} (1)`).join('\n')]
}

const manName = (path: string) => path.replaceAll(' ', '-')

/** A backslash, a hyphen that must stay one, and a line that would be taken for a request. */
function escaped(text: string): string {
  return text
    .replaceAll('\\', '\\e')
    .replaceAll('-', '\\-')
    .replaceAll(/^(?=[.'])/gmu, '\\&')
    .replaceAll(/[\u0080-\u{10ffff}]/gu, (character) => `\\[u${hex(character)}]`)
}

const hex = (character: string) => (character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')
