import { KvupError } from '../kube/errors.ts'
import { mayBePrinted } from '../kube/line-guard.ts'

/** How kvup was called: what a command that it prints has to repeat to mean the same cluster. */
interface TypedFlags {
  /** `kvup`, or `kubectl kvup` as a plug-in. */
  name: string
  /** The connection flags that were typed, for a shell. */
  connection: readonly ConnectionFlag[]
  /** Nobody sits there: what is printed has to end by itself. */
  isPiped?: boolean
}

export interface ConnectionFlag {
  /** Each way to write it: `--server`, `-s`. */
  names: readonly string[]
  /** `--server https://one:6443`. */
  text: string
  /** kubectl has it as well. */
  kubectl: boolean
}

/** Makes the commands that kvup prints the ones that were meant: with the name it was called by and the typed connection flags. */
export interface CommandSpeech {
  /** Every command in a text. */
  line(text: string): string
  /** Those in the remedies of a document, an event, an error; the rest is somebody's data and stays as it is. */
  parts<T>(value: T): T
  error(error: unknown): unknown
}

const ownCommand =
  /(?<!\b(?:kubectl|oc) )\bkvup(?: (?<cluster>status|wait|check|plan|rehearse|measure|snapshot|upgrade|restore-settings|(?:workloads|eus|fleet)(?: (?:live-update (?:show|set)|[a-z][a-z-]*))?|job|history|report|version)\b| (?<other>explain|releases|rbac|demo|config|completion|help)\b)/gu
/** The programs that take kubectl's connection flags, where they begin a remedy. */
const foreignCommand = /^(?<program>kubectl|oc|virtctl) (?!kvup\b)/u
const fields: ReadonlySet<string> = new Set([
  'remedy',
  'next',
  'details',
  'back',
  'afterwards',
  'instead',
  'commands',
  'undo',
  'restore',
  'help',
])

/** Without connection flags the commands stay as they are; what is said behind one is a comment to a shell, so that a whole line can be pasted. */
export function commandSpeech(asTyped: TypedFlags): CommandSpeech {
  const isPlain = asTyped.name === 'kvup' && asTyped.connection.length === 0
  const line = (typed: string) => {
    const text = asTyped.isPiped ? endingByItself(typed) : typed
    return isPlain ? text : speak(text, asTyped)
  }
  const command = (text: string) => commented(isPlain ? line(text) : alsoForeign(line(text), asTyped))
  const parts = <T>(value: T) => inFields(value, command) as T
  return { line, parts, error: (error) => errorAsTyped(error, parts) }
}

/** Worker pools are the last part of an EUS upgrade, which takes longer than the 60 minutes that a wait has by default. */
const poolsWait = 'kvup wait --for pools-updated --timeout 24h'

/** What watches ends with Ctrl-C alone: a script waits. */
const endingByItself = (text: string): string =>
  text
    .replaceAll(/\bkvup status -w\b( {3,}\S.*)?/gu, (_, comment?: string) =>
      comment === undefined ? 'kvup wait --for healthy' : 'kvup wait --for healthy     waits for its end',
    )
    .replaceAll(/\bkvup eus status -w\b( {3,}\S.*)?/gu, (_, comment?: string) =>
      comment === undefined ? poolsWait : `${poolsWait}     ends when every pool is updated`,
    )
    .replaceAll(/\bkvup workloads migrations -w\b( {3,}\S.*)?/gu, 'kvup workloads migrations')

/** `kvup history     shows it` → `kvup history     # shows it` */
export function commented(text: string): string {
  return text.replace(/^(\S.*?\S {3,})(?![# ])/u, '$1# ')
}

function speak(text: string, { name, connection }: TypedFlags): string {
  const missing = missingIn(text, connection)
  return text.replaceAll(ownCommand, (...found) => {
    const { cluster, other = '' } = found.at(-1) as { cluster?: string; other?: string }
    return cluster === undefined ? `${name} ${other}` : [name, cluster, ...missing].join(' ')
  })
}

function alsoForeign(text: string, { connection }: TypedFlags): string {
  const missing = missingIn(
    text,
    connection.filter(({ kubectl }) => kubectl),
  )
  return text.replace(foreignCommand, (_, program: string) => `${[program, ...missing].join(' ')} `)
}

/** A line that has a flag already, as one that was typed and is repeated whole, keeps its own. A saved cluster needs none. */
function missingIn(text: string, connection: readonly ConnectionFlag[]): string[] {
  if (text.includes(' --from ')) return []
  const words = new Set(text.split(/[ =]/u))
  return connection.filter(({ names }) => !names.some((flag) => words.has(flag))).map((flag) => flag.text)
}

/** What a plan is sealed over stays to the letter. */
const sealed: ReadonlySet<string> = new Set(['seal', 'request'])

/** What is handed to a printer without the lines to type that must not be printed. */
export const withoutDanger = <T>(value: T): T =>
  inFields(value, (text) => (mayBePrinted(text) ? text : undefined)) as T

type Change = (text: string) => string | undefined

/** What needs no change is not copied: of thousands of rows hardly one does. */
function inFields(value: unknown, change: Change): unknown {
  if (Array.isArray(value)) return mapped(value, (inner) => inFields(inner, change))
  if (value === null || typeof value !== 'object' || value instanceof Date) return value
  let copy: Record<string, unknown> | undefined
  for (const [key, inner] of Object.entries(value)) {
    const said = inField(key, inner, change)
    if (said !== inner) (copy ??= { ...value })[key] = said
    if (said === undefined && inner !== undefined) delete copy?.[key]
  }
  return copy ?? value
}

function inField(key: string, value: unknown, change: Change): unknown {
  if (sealed.has(key)) return value
  return fields.has(key) ? changed(value, change) : inFields(value, change)
}

function changed(value: unknown, change: Change): unknown {
  if (typeof value === 'string') return change(value)
  if (Array.isArray(value)) return mapped(value, (inner) => changed(inner, change))
  return inFields(value, change)
}

function mapped(values: readonly unknown[], change: (value: unknown) => unknown): readonly unknown[] {
  const said = values.map(change)
  return said.some((value, index) => value !== values[index])
    ? said.filter((value) => value !== undefined)
    : values
}

function errorAsTyped(error: unknown, parts: CommandSpeech['parts']): unknown {
  if (!(error instanceof KvupError)) return error
  const { exitCode, reason, message, object, notes, cause } = error
  const { remedy, left } = parts({ remedy: error.remedy, left: error.left })
  return new KvupError(exitCode, reason, message, { object, notes, cause, remedy, left })
}
