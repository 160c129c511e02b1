import { isUnsafe } from '../terminal.ts'

/** A command line as plain data, whatever library parses it. */
export interface CommandTree {
  name: string
  description: string
  options: readonly OptionSpec[]
  /** What its positional arguments may be, by place; an empty list where that is not known. */
  arguments: readonly (readonly string[])[]
  /** Its last argument may be given more than once. */
  repeats?: boolean
  subcommands: readonly CommandTree[]
}

export interface OptionSpec {
  /** As in the help: `-o, --output <format>`. */
  flags: string
  description: string
  /** What may follow it. */
  values?: readonly string[]
}

export interface Candidate {
  value: string
  description: string
}

/** What may stand at the cursor. `files`: a file name, which the shell completes itself. */
interface Completion {
  candidates: readonly Candidate[]
  files: boolean
}

/** A value that the command line itself does not know: of that option, or of the command's argument. */
export interface Wanted {
  command: string
  /** `--to`; absent for the argument. */
  option?: string
  /** How far the value was typed. */
  typed: string
}

/**
 * Completes the last of `words` (`''` for a new one; the program's name is not among them), with what `wanted` was found to
 * be. Candidates of `--to=v1` are values without `--to=`, which is how kubectl and oc expect them.
 */
export function complete(
  tree: CommandTree,
  words: readonly string[],
  values?: readonly Candidate[],
): Completion {
  const current = currentOf(words)
  const place = placeOf(tree, words)
  const value = valueAt(place, current)
  if (values !== undefined && wanted(tree, words) !== undefined)
    return matching(value ? values : notGiven(values, words), value?.typed ?? current)
  if (value !== undefined) return valuesOf(value)
  if (current.startsWith('-') && !place.isOperandsOnly) return matching(optionCandidates(place), current)
  return operands(place, current)
}

/** What has to be asked elsewhere to complete the last of `words`; undefined where nothing has. */
export function wanted(tree: CommandTree, words: readonly string[]): Wanted | undefined {
  const current = currentOf(words)
  const place = placeOf(tree, words)
  const { name, subcommands } = place.command
  const value = valueAt(place, current)
  if (value !== undefined) {
    const { option, typed } = value
    const isKnown = option === undefined || option.values !== undefined
    return isKnown ? undefined : { command: name, option: namesOf(option).at(-1) ?? '', typed }
  }
  const isOperand = place.isOperandsOnly || !current.startsWith('-')
  const isNext = place.positionals === 0 || place.command.repeats === true
  return isOperand && isNext && subcommands.length === 0 ? { command: name, typed: current } : undefined
}

/** Of several arguments each is given once. */
const notGiven = (values: readonly Candidate[], words: readonly string[]): readonly Candidate[] =>
  values.filter(({ value }) => !words.slice(0, -1).includes(value))

// Older PowerShells cannot pass an empty argument and send its quotes.
const currentOf = (words: readonly string[]) => (words.at(-1) ?? '').replace(/^""$/, '')

/** `option` is undefined for one that there is not. */
interface ValueAt {
  option: OptionSpec | undefined
  typed: string
}

/** The option whose value is at the cursor: of `--to v1` or `--to=v1`. */
function valueAt({ pending, options, isOperandsOnly }: Place, current: string): ValueAt | undefined {
  if (pending !== undefined) return { option: pending, typed: current }
  if (isOperandsOnly) return undefined
  const [, name, typed = ''] = /^(--[^=]+)=(.*)$/s.exec(current) ?? []
  if (name === undefined) return undefined
  return {
    option: options.find((option) => namesOf(option).includes(name) && takesValue(option)),
    typed,
  }
}

const nothing: Completion = { candidates: [], files: false }

function valuesOf({ option, typed }: ValueAt): Completion {
  if (option === undefined) return nothing
  const { flags, values } = option
  if (values === undefined) return { candidates: [], files: /<[^>]*(file|folder|dir)[^>]*>/i.test(flags) }
  const begun = values.find((value) => value.endsWith('=') && typed.startsWith(value))
  if (begun !== undefined) return { candidates: [], files: begun.endsWith('file=') }
  return matching(
    values.map((value) => ({ value, description: '' })),
    typed,
  )
}

function optionCandidates({ options }: Place): Candidate[] {
  return options.flatMap((option) =>
    namesOf(option).map((value) => ({ value, description: option.description })),
  )
}

function operands({ command, positionals }: Place, current: string): Completion {
  const children = positionals === 0 ? command.subcommands : []
  const values = command.arguments[positionals] ?? []
  return matching(
    [
      ...children.map(({ name, description }) => ({ value: name, description })),
      ...values.map((value) => ({ value, description: '' })),
    ],
    current,
  )
}

/** What comes first stays: an option of a command stands before one of the same name above it. */
function matching(candidates: readonly Candidate[], prefix: string): Completion {
  const found = new Map<string, Candidate>()
  for (const one of candidates)
    if (one.value.startsWith(prefix) && !found.has(one.value)) found.set(one.value, one)
  return { candidates: [...found.values()], files: false }
}

/** Where the words before the cursor lead. */
interface Place {
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
function placeOf(tree: CommandTree, words: readonly string[]): Place {
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
function namesOf({ flags }: OptionSpec): string[] {
  return flags.match(/(?<![\w-])--?[\w-]+/g) ?? []
}

function takesValue({ flags }: OptionSpec): boolean {
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

/** Cobra's directives, which kubectl and oc expect of a plug-in's completion: no space after the word, never files. */
const noSpace = 2
const noFiles = 4

/** A value that no shell does anything with but take it. */
const isPlain = ({ value }: Candidate) => /^[\w./:@%+=,-]+$/.test(value)

/** Control characters end a line of ours, or do something to a terminal; without them it would be another value. */
const isSayable = ({ value }: Candidate) => value !== '' && !/[\t\n]/.test(value) && !isUnsafe(value)

/** Those that may be told to a shell; `unquoted`: to one that may put them on its line as they are. */
export function tellable(found: Completion, unquoted: boolean): Completion {
  const candidates = found.candidates.filter((one) => isSayable(one) && (!unquoted || isPlain(one)))
  return { ...found, candidates }
}

/** One `value<TAB>description` per line and the directive last: what the scripts, kubectl and oc read. */
export function completionLines({ candidates, files }: Completion): string[] {
  const lines = candidates.map(({ value, description }) =>
    description === '' ? value : `${value}\t${description.replace(/\s+/g, ' ')}`,
  )
  const isBegun = candidates.length > 0 && candidates.every(({ value }) => value.endsWith('='))
  return [...lines, `:${(isBegun ? noSpace : 0) + (files ? 0 : noFiles)}`]
}
