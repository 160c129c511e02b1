import type { Description, Item } from './describe.ts'

/** `workloads-restore.md`; the root is `kvup.md`. */
export function markdownFile({ path }: Pick<Description, 'path'>): string {
  return `${pageName(path)}.md`
}

export function markdownPage(command: Description): string {
  const isRoot = !command.path.includes(' ')
  return [
    `# ${command.path}`,
    `${command.summary}.`,
    fenced(command.usage),
    ...section('Arguments', table(command.arguments)),
    ...section('Commands', links(command.commands)),
    ...section(isRoot ? 'Flags of every command' : 'Flags', table(command.options)),
    ...section(isRoot ? '' : 'More', command.after === '' ? '' : fenced(command.after)),
    isRoot
      ? 'Exit codes: [exit-codes.md](../exit-codes.md). Documents of `-o json`: [schema](../schema/README.md).'
      : 'The flags of every command (connection, output, `--yes`): [kvup](kvup.md). Exit codes: [exit-codes.md](../exit-codes.md).',
    '<!-- made by npm run reference; edit the command instead -->',
  ]
    .filter((part) => part !== '')
    .join('\n\n')
    .concat('\n')
}

/** The table of contents of docs/commands. */
export function markdownIndex(commands: readonly Description[]): string {
  const rows = commands.filter(({ runs }) => runs).map(({ path, summary }) => ({ term: path, text: summary }))
  return `# Commands\n\n[kvup](kvup.md) lists the flags that every command takes.\n\n${links(rows)}\n\n<!-- made by npm run reference -->\n`
}

function section(title: string, text: string): string[] {
  if (text === '') return []
  return title === '' ? [text] : [`## ${title}`, text]
}

function table(items: readonly Item[]): string {
  if (items.length === 0) return ''
  return ['| | |', '|---|---|', ...items.map(({ term, text }) => `| ${code(term)} | ${cell(text)} |`)].join(
    '\n',
  )
}

function links(items: readonly Item[]): string {
  return items.map(({ term, text }) => `- [${term}](${pageName(term)}.md): ${text}`).join('\n')
}

const pageName = (path: string) => (path.includes(' ') ? path.split(' ').slice(1).join('-') : path)
const fenced = (text: string) => `\`\`\`text\n${text}\n\`\`\``
const code = (text: string) => `\`${text.replaceAll('|', '\\|')}\``
const cell = (text: string) => text.replaceAll('|', '\\|').replaceAll('<', '&lt;').replaceAll('\n', ' ')
