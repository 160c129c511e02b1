import { brief, displayWidth, pad } from './text.ts'
import { describeError, type Paint } from './printer.ts'
import { KvupError, Unforeseen } from '../kube/errors.ts'
import { sanitise, sanitiseLine } from './terminal.ts'
import { nearest } from '../kube/text.ts'
import { shellWord } from '../kube/shell-line.ts'

/** Lines for stderr: the failure, its object and cause indented, then what helps behind an arrow. Bugs say so; the stack only from `-v 6`. */
export function errorLines(error: unknown, paint: Paint, verbosity = 0): string[] {
  if (!(error instanceof KvupError)) return bugLines(error, paint, verbosity)
  const [first = '', ...rest] = sanitise(error.message).split('\n')
  const object = error.object === undefined ? [] : [sanitiseLine(error.object)]
  const details = [
    ...rest.map((line) => notALine(brief(sanitiseLine(line)))),
    ...object.filter((text) => !error.message.includes(text)),
  ]
  return [
    `${paint.bad('error:')} ${brief(sanitiseLine(first))}`,
    ...details.filter((line) => line !== '').map((line) => `  ${line}`),
    ...causeLines(error, verbosity),
    ...error.notes.map((line) => `  ${notALine(brief(sanitiseLine(line)))}`),
    ...remedyLines(error.remedy, paint),
  ]
}

/** A line behind the first may be somebody else's: one that begins as a line of what helps or a new error does is neither. */
const notALine = (line: string): string =>
  /^\s*(?:→|->|error:)/u.test(line) ? `| ${line.trimStart()}` : line

/** `command     what it does`: the second halves stand below each other. */
export function remedyLines(remedy: readonly string[], { mark }: Pick<Paint, 'mark'>): string[] {
  const split = remedy.map((line) => sanitiseLine(line).split(/ {3,}/))
  const width = Math.max(0, ...split.filter(([, why]) => why).map(([command = '']) => displayWidth(command)))
  return split.map(
    ([command = '', ...why]) =>
      `  ${mark.next} ${why.length > 0 ? `${pad(command, width)}   ${why.join(' ')}` : command}`,
  )
}

function causeLines(error: Error, verbosity: number): string[] {
  if (verbosity < 6 || error.cause === undefined) return []
  const { cause } = error
  return stackLines(cause).map((line, index) => (index === 0 ? `  caused by ${line}` : `  ${line}`))
}

function bugLines(thrown: unknown, paint: Paint, verbosity: number): string[] {
  const { message, remedy = [] } = describeError(thrown)
  const error = thrown instanceof Unforeseen ? thrown.cause : thrown
  const name = error instanceof Error ? error.name : 'Error'
  return [
    `${paint.bad('error:')} ${sanitiseLine(`${name}: ${message}`)}`,
    '  this is a bug in kvup, not a fault of the cluster or of the command line',
    ...(verbosity >= 6 ? stackLines(error).map((line) => `  ${line}`) : []),
    ...remedyLines(remedy, paint),
  ]
}

function stackLines(error: unknown): string[] {
  const text = error instanceof Error ? (error.stack ?? error.message) : String(error)
  return sanitise(text).split('\n')
}

/** A command of the tree, as far as it is needed to say what was meant. */
export interface KnownCommand {
  name(): string
  readonly commands: readonly KnownCommand[]
  readonly options: readonly { long?: string | undefined }[]
  readonly registeredArguments: readonly { argChoices?: readonly string[] | undefined }[]
}

/** What commander refused, and the words that were typed. */
interface Refused {
  code: string
  message: string
  argv: readonly string[]
  root: KnownCommand
}

/** What helps against words that cannot be meant, nearest first; the last line shows the help of the command. */
export function usageRemedy(refused: Refused): readonly string[] {
  const path = pathOf(refused)
  const command = path.at(-1) ?? refused.root
  return [
    ...suggested(refused.message),
    ...(remedies[refused.code]?.(refused, command) ?? []),
    `${path.map((one) => one.name()).join(' ')} --help`,
  ]
}

type Remedy = (refused: Refused, command: KnownCommand) => readonly string[]

const remedies: Readonly<Record<string, Remedy>> = {
  'commander.excessArguments': ({ message }, command) => asFlag(message, command),
  'commander.missingArgument': (_, { registeredArguments }) => {
    const choices = registeredArguments.flatMap(({ argChoices = [] }) => argChoices)
    return choices.length > 0 ? [`one of ${choices.join(', ')}`] : []
  },
  'commander.optionMissingArgument': dryRunOnServer,
  'commander.invalidArgument': dryRunOnServer,
}

/** commander's own suggestion. */
function suggested(message: string): readonly string[] {
  const names = /\(?Did you mean (?:one of )?(?<names>.*)\?/u.exec(message)?.groups?.['names']
  return names === undefined ? [] : [`did you mean ${names}?`]
}

/** `kvup upgrade v1.8.4`: a version without the flag that takes it. */
function asFlag(message: string, { options }: KnownCommand): readonly string[] {
  const version = / but got \d+: (?<word>v?\d+\.\d+(?:\.\d+\S*)?)\.$/u.exec(message)?.groups?.['word']
  const flag = { '--to': '--to ', '--for': '--for version=' }
  const known = Object.entries(flag).find(([long]) => options.some((option) => option.long === long))
  return version === undefined || known === undefined ? [] : [`did you mean ${known[1]}${version}?`]
}

/** `--dry-run` without its value: the whole line with it. */
function dryRunOnServer({ argv, root, message }: Refused): readonly string[] {
  const at = argv.findIndex((word, index) => word === '--dry-run' && isBare(argv[index + 1]))
  if (at < 0 || !message.includes("'--dry-run ")) return []
  return [[root.name(), ...argv.with(at, '--dry-run=server').map(shellWord)].join(' ')]
}

const isBare = (next: string | undefined): boolean => next === undefined || next.startsWith('-')

function pathOf({ root, argv }: Refused): readonly KnownCommand[] {
  const path = [root]
  for (const word of argv) {
    const child = path.at(-1)?.commands.find((command) => command.name() === word)
    if (child) path.push(child)
  }
  return path
}

/**
 * `help upgrade` as `upgrade --help`; other lines as they are. A name that is no command is given back as `unknown`, with the one
 * that is near.
 */
export function helpWords(
  root: KnownCommand,
  argv: readonly string[],
): { words: readonly string[] } | { unknown: string; meant: string | undefined } {
  const at = argv.findIndex((_, index) => !within(root, argv.slice(0, index + 1)))
  if (argv[at] !== 'help') return { words: argv }
  const path = argv.slice(0, at)
  for (const word of argv.slice(at + 1).filter((one) => one !== 'help' && !one.startsWith('-'))) {
    const names = within(root, path)?.commands.map((command) => command.name()) ?? []
    if (!names.includes(word)) return { unknown: word, meant: nearest(word, names) }
    path.push(word)
  }
  return { words: [...path, '--help'] }
}

/** The command that these words lead to. */
function within(root: KnownCommand, words: readonly string[]): KnownCommand | undefined {
  return words.reduce<KnownCommand | undefined>(
    (command, word) => command?.commands.find((child) => child.name() === word),
    root,
  )
}
