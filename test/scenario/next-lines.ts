import { refusedBy } from './tool-flags.ts'

/** A command that kvup printed for a person to type, and what stands beside it. */
export interface NextLine {
  command: string
  /** Without `#`; empty: nothing. */
  says: string
}

const tool = /^(?:kvup|kubectl|oc|virtctl|helm|opm|etcdctl|skopeo|crictl) /u
/** `->`, or what a line is for before a colon. */
const mark = /^\s*(?:->|→|(?:Next|Back|Details|Then|Also|Or|Continue):)\s+/u
const arrow = /\s(?:->|→)\s+(?=(?:kvup|kubectl|oc|virtctl) )/u

/** Every line to type in what was printed on a pipe: behind an arrow or a label, several of them on a line as well. */
export function nextLinesIn(text: string): readonly NextLine[] {
  const lines = text.replaceAll(/ \\\n\s*/gu, ' ').split('\n')
  const found = lines.flatMap(lineOf)
  return [...new Map(found.map((line) => [`${line.command}  ${line.says}`, line])).values()]
}

function lineOf(line: string): NextLine[] {
  const at = endOf(mark.exec(line)) ?? endOf(arrow.exec(line))
  const rest = at === undefined ? indented(line) : line.slice(at)
  if (rest === undefined) return []
  const found: NextLine[] = []
  for (const part of rest.split(/ {3,}|(?<=\S) (?=# )/u)) {
    const plain = part.replace(mark, '').trim()
    const last = found.at(-1)
    if (tool.test(`${plain} `)) found.push({ command: plain, says: '' })
    else if (last !== undefined) last.says = `${last.says} ${plain.replace(/^# /u, '')}`.trim()
    else if (at !== undefined && /\b(?:kvup|kubectl|oc|virtctl|helm) [a-z]/u.test(plain))
      throw new Error(`a command in the middle of prose: ${line.trim()}`)
  }
  return found
}

const endOf = (found: RegExpExecArray | null) => (found === null ? undefined : found.index + found[0].length)

/** A command on a line of its own below what it belongs to, with its comment or without one. */
function indented(line: string): string | undefined {
  return /^ {2,}(?=(?:kvup|kubectl|oc|virtctl) )(?=[^.;:]*(?:$| {3,}| # ))/u.test(line)
    ? line.trim()
    : undefined
}

/** What has to be said beside a line: `any`: whatever says what it does; else what it takes from somebody. */
const harms: readonly (readonly [does: RegExp, harm: string, any?: 'any'])[] = [
  [/^(?:kubectl|oc) (?:\S+ )*?delete (?:installplan|job|pods?|nodemaintenances)\b/u, 'it deletes', 'any'],
  [/^(?:kubectl|oc) (?:\S+ )*?delete /u, 'it deletes'],
  [/^(?:kubectl|oc) (?:\S+ )*?(?:drain|scale .*--replicas[= ]0)\b/u, 'it ends pods'],
  [/ --force-conflicts\b| replace --force\b/u, 'it takes what others wrote', 'any'],
  [/ --force(?= |$)| --grace-period[= ]0/u, 'it forces'],
  [/^virtctl .*\b(?:restart|stop|soft-reboot|reset)\b/u, 'it ends a guest'],
  [/^kvup .*--accept[= ]'?(?:data-loss|evictions|vm-outages)/u, 'it takes VMs down'],
  [/^kvup .*--accept[= ]'?(?:downgrade|way-back)/u, 'it goes back'],
  [/^kvup workloads (?:restart\b(?!-)|update .*--restart-unmigratable)/u, 'it restarts VMs'],
  [/^kvup .*--(?:take-over|keep-current|no-pause-updates)\b/u, 'it takes something from somebody', 'any'],
  [/^kvup .*--migrations[= ]cancel/u, 'it cancels migrations'],
  [/Evict/u, 'it lets KubeVirt shut VMs down'],
  [/"paused":\s*false/u, 'it lets nodes reboot'],
  [/finalizers/u, 'it lets go of what was held'],
]

const warning =
  /restart|interrupt|\bdown\b|stops|\bends\b|shut|lost|loses|delet|forget|cancel|break|not support|no way back|reboot|drain|powered off/u

/** What a line does to VMs, data or the way back without saying so beside it; undefined: nothing, or it says so. */
export function unsaidHarm({ command, says }: NextLine): string | undefined {
  const found = harms.find(([does]) => does.test(command))
  if (found === undefined) return undefined
  const [, harm, any] = found
  return (any ? says !== '' : warning.test(says)) ? undefined : harm
}

/** A word that a person has to put something else in the place of; what is quoted is a program's. */
export function placeholderIn(command: string): string | undefined {
  const bare = command.replaceAll(/'[^']*'/gu, "''")
  return /(?:^|[\s=/])([A-Z][A-Z-]+|KEY=VALUE|<[^>]+>)(?=$|[\s/,])/u.exec(bare)?.[1]
}

/** Why a line is none that can be pasted: a placeholder, or another tool's verb or flag that there is not. Pipes are several lines. */
export function unpasteable(command: string): string | undefined {
  const placeholder = placeholderIn(command)
  if (placeholder !== undefined) return `${placeholder} is nothing to paste`
  const parts = command.split(/ \| | && | ?> ?(?=\S+$)/u)
  const foreign = parts.filter((part) =>
    /^(?:kubectl|oc|virtctl|etcdctl|skopeo|crictl|helm|opm) /u.test(part),
  )
  return foreign.map((part) => refusedBy(roughWords(part))).find((why) => why !== undefined)
}

/** Quoted words are one, whatever is in them. */
export const roughWords = (line: string): string[] =>
  (line.match(/(?:'[^']*'|\\.|[^\s'])+/gu) ?? []).map((word) => word.replaceAll("'", ''))

/**
 * The command that ran, or that was refused, once more: all that is printed was typed already. `ended`: its exit code; a run that came to no end (4, 6, 8, 9, 130) may be told how it goes on.
 */
export function isSameAgain(command: string, typed: readonly string[], ended: number): boolean {
  const [, ...words] = roughWords(command)
  const path = (all: readonly string[]) =>
    all
      .filter((word) => !word.startsWith('-'))
      .slice(0, typed[0] === 'workloads' || typed[0] === 'eus' ? 2 : 1)
  if (!command.startsWith('kvup ') || path(words).join() !== path(typed).join()) return false
  if (!words.every((word) => typed.includes(word)) || words.includes('--to') !== typed.includes('--to'))
    return false
  return isRead(typed) || [2, 3, 5, 7].includes(ended)
}

export const isRead = ([first = '', second = '', third = '']: readonly string[]): boolean =>
  ['status', 'check', 'plan', 'explain', 'history', 'releases', 'rbac', 'version', 'snapshot'].includes(
    first,
  ) ||
  (first === 'eus' && ['plan', 'status'].includes(second)) ||
  (first === 'workloads' && ['outdated', 'forecast', 'migrations', 'restart-required'].includes(second)) ||
  (first === 'workloads' && third === 'show')
