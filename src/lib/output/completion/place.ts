import type { CommandTree, OptionSpec } from './command-tree.ts'

/** Where the words before the cursor lead. */
export interface Place {
  command: CommandTree
  /** Of the command and of those above it. */
  options: readonly OptionSpec[]
  /** Positional words since the command's name. */
  positionals: number
  /** The option whose value is next. */
  pending?: OptionSpec
  isOperandsOnly: boolean
}

/** By its long name, what an option was given before the cursor, in order; a flag without a value was given `''`. */
export type TypedOptions = ReadonlyMap<string, readonly string[]>

/** Follows all but the last of `words`. */
export function placeOf(tree: CommandTree, words: readonly string[]): Place {
  return words.slice(0, -1).reduce(step, start(tree))
}

/** Options that stand before the cursor, by their long names: `--context` and what it was given. */
export function typedOptions(tree: CommandTree, words: readonly string[]): TypedOptions {
  const typed = new Map<string, string[]>()
  const add = (option: OptionSpec | undefined, value: string) => {
    const name = option && longOf(option)
    if (name !== undefined) typed.set(name, [...(typed.get(name) ?? []), value])
  }
  let place = start(tree)
  for (const word of words.slice(0, -1)) {
    const found = place.isOperandsOnly ? undefined : optionIn(place, word)
    if (place.pending !== undefined) add(place.pending, word)
    else if (found?.value !== undefined) add(found.option, found.value)
    else if (found !== undefined && !takesValue(found.option)) add(found.option, '')
    place = step(place, word)
  }
  return typed
}

/** Each way to write an option: `-o` and `--output`. */
export function namesOf({ flags }: OptionSpec): string[] {
  return flags.match(/(?<![\w-])--?[\w-]+/g) ?? []
}

export function takesValue({ flags }: OptionSpec): boolean {
  return flags.includes('<')
}

const longOf = (option: OptionSpec) => namesOf(option).at(-1)

function start(command: CommandTree, above: readonly OptionSpec[] = []): Place {
  const options = [...command.options, ...above]
  return { command, options, positionals: 0, isOperandsOnly: false }
}

function step(place: Place, word: string): Place {
  const { pending, ...rest } = place
  if (pending !== undefined) return rest
  if (place.isOperandsOnly) return { ...rest, positionals: place.positionals + 1 }
  if (word === '--') return { ...rest, isOperandsOnly: true }
  if (word.startsWith('-') && word !== '-') return afterOption(rest, word)
  const child = place.command.subcommands.find(({ name }) => name === word)
  if (child !== undefined && place.positionals === 0) return start(child, place.options)
  return { ...rest, positionals: place.positionals + 1 }
}

function afterOption(place: Place, word: string): Place {
  const found = optionIn(place, word)
  return found !== undefined && found.value === undefined && takesValue(found.option)
    ? { ...place, pending: found.option }
    : place
}

/** `--to`, `--to=v1.8.4`, `-o` or `-ojson`. */
function optionIn({ options }: Place, word: string): { option: OptionSpec; value?: string } | undefined {
  const named = (name: string) => options.find((option) => namesOf(option).includes(name))
  const whole = named(word)
  if (whole !== undefined) return { option: whole }
  const [, name = '', value = ''] = /^(--[^=]+)=(.*)$/s.exec(word) ?? /^(-[a-zA-Z])(.+)$/s.exec(word) ?? []
  const option = named(name)
  return option === undefined ? undefined : { option, value }
}
