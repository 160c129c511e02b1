import { nearest } from '../kube/text.ts'

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
  const own = remedies[refused.code]?.(refused, command) ?? []
  const isSaid = own.some((line) => line.startsWith('did you mean '))
  return [
    ...(isSaid ? [] : suggested(refused.message)),
    ...own,
    `${path.map((one) => one.name()).join(' ')} --help`,
  ]
}

/** What commander says of an argument, in words of kvup; other messages as they are. */
export function usageText(message: string): string {
  const found =
    /^command-argument value '(?<value>.*)' is invalid for argument '(?<name>[^']+)'\. (?<why>.*)$/su.exec(
      message,
    )?.groups
  if (found === undefined) return message
  const { value = '', name = '', why = '' } = found
  const choices = /^Allowed choices are (?<choices>.*)\.$/u.exec(why)?.groups?.['choices']
  return choices === undefined
    ? `${JSON.stringify(value)} is no ${name}. ${why}`
    : `no ${name} is named ${JSON.stringify(value)}; choose ${choices}`
}

type Remedy = (refused: Refused, command: KnownCommand) => readonly string[]

const remedies: Readonly<Record<string, Remedy>> = {
  'commander.unknownCommand': ({ message }, command) => beginningSo(message, command),
  'commander.excessArguments': ({ message }, command) => asFlag(message, command),
  'commander.missingArgument': (_, { registeredArguments }) => {
    const choices = registeredArguments.flatMap(({ argChoices = [] }) => argChoices)
    return choices.length > 0 ? [`one of ${choices.join(', ')}`] : []
  },
  'commander.unknownOption': toForVersion,
}

/** commander's own suggestion. */
function suggested(message: string): readonly string[] {
  const names = /\(?Did you mean (?:one of )?(?<names>.*)\?/u.exec(message)?.groups?.['names']
  return names === undefined ? [] : [`did you mean ${names}?`]
}

/** `kvup workloads pause`: the commands whose first word it is, or that begin so. */
function beginningSo(message: string, { commands }: KnownCommand): readonly string[] {
  const typed = /^(?:error: )?unknown command '(?<word>[^']+)'/u.exec(message)?.groups?.['word']
  if (typed === undefined) return []
  const meant = beginningWith(typed, namesOf(commands))
  return meant.length === 0 ? [] : [`did you mean ${meant.join(' or ')}?`]
}

const namesOf = (commands: readonly KnownCommand[]): readonly string[] =>
  commands.map((command) => command.name()).filter((name) => !name.startsWith('__'))

/** Those of which it is the first word, or else those that begin so. */
function beginningWith(typed: string, names: readonly string[]): readonly string[] {
  const found = typed.length < fewLetters ? [] : names.filter((name) => name.startsWith(typed))
  const whole = found.filter((name) => name.startsWith(`${typed}-`))
  return whole.length > 0 ? whole : found
}

/** What is shorter begins too many names. */
const fewLetters = 3

/** `kvup upgrade v1.8.4`: a version without the flag that takes it. */
function asFlag(message: string, { options }: KnownCommand): readonly string[] {
  const version = / but got \d+: (?<word>v?\d+\.\d+(?:\.\d+\S*)?)\.$/u.exec(message)?.groups?.['word']
  const flag = { '--to': '--to ', '--for': '--for version=' }
  const known = Object.entries(flag).find(([long]) => options.some((option) => option.long === long))
  return version === undefined || known === undefined ? [] : [`did you mean ${known[1]}${version}?`]
}

/** `--version v1.9.0`, where `--to` takes the version. */
function toForVersion({ argv, message }: Refused, { options }: KnownCommand): readonly string[] {
  if (!/'--version(?:=[^']*)?'/u.test(message) || !options.some(({ long }) => long === '--to')) return []
  const at = argv.findIndex((word) => /^--version(?:=|$)/u.test(word))
  const version = argv[at]?.split('=')[1] ?? argv[at + 1] ?? ''
  return [`did you mean --to ${/^v?\d/u.test(version) ? version : 'VERSION'}?`]
}

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
    const commands = within(root, path)?.commands ?? []
    const names = commands.map((command) => command.name())
    if (!names.includes(word))
      return { unknown: word, meant: beginningWith(word, namesOf(commands))[0] ?? nearest(word, names) }
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
