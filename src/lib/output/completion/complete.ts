import type { CommandTree, OptionSpec } from './command-tree.ts'
import { namesOf, type Place, placeOf, takesValue } from './place.ts'

export interface Candidate {
  value: string
  description: string
}

/** What may stand at the cursor. `files`: a file name, which the shell completes itself. */
export interface Completion {
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
