import type { CommandTree, OptionSpec } from './command-tree.ts'

export interface Candidate {
  value: string
  description: string
}

/** What may stand at the cursor. `files`: a file name, which the shell completes itself. */
export interface Completion {
  candidates: readonly Candidate[]
  files: boolean
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

const nothing: Completion = { candidates: [], files: false }

/** A value that the command line itself does not know: of that option, or of the command's first argument. */
export interface Wanted {
  command: string
  /** `--to`; absent for the argument. */
  option?: string
}

/** Completes the last of `words` (`''` for a new one; the program's name is not among them), with what `wanted` was found to be. */
export function complete(
  tree: CommandTree,
  words: readonly string[],
  values?: readonly Candidate[],
): Completion {
  const current = currentOf(words)
  const place = placeOf(tree, words)
  if (values !== undefined && wanted(tree, words) !== undefined) return live(values, current)
  if (place.pending !== undefined) return valuesOf(place.pending, current, '')
  const assigns = /^(--[^=]+)=(.*)$/s.exec(current)
  if (assigns !== null && !place.isOperandsOnly) return assignment(place, assigns[1] ?? '', assigns[2] ?? '')
  if (current.startsWith('-') && !place.isOperandsOnly) return matching(optionCandidates(place), current)
  return operands(place, current)
}

/** What has to be asked elsewhere to complete the last of `words`; undefined where nothing has. */
export function wanted(tree: CommandTree, words: readonly string[]): Wanted | undefined {
  const place = placeOf(tree, words)
  const { name, subcommands } = place.command
  const option = place.pending ?? assigned(place, currentOf(words))
  if (option !== undefined)
    return option.values === undefined ? { command: name, option: longOf(option) } : undefined
  const isFirst = place.positionals === 0 && subcommands.length === 0
  return isFirst && !currentOf(words).startsWith('-') ? { command: name } : undefined
}

/** Options that stand before the cursor, by their long names: `--context` and what it was given. */
export function typedOptions(tree: CommandTree, words: readonly string[]): ReadonlyMap<string, string> {
  const typed = new Map<string, string>()
  let place = start(tree)
  for (const word of words.slice(0, -1)) {
    const [, name = '', value = ''] = /^(--[^=]+)=(.*)$/s.exec(word) ?? []
    if (place.pending !== undefined) typed.set(longOf(place.pending), word)
    else if (name !== '' && !place.isOperandsOnly) typed.set(name, value)
    place = step(place, word)
  }
  return typed
}

// Older PowerShells cannot pass an empty argument and send its quotes.
const currentOf = (words: readonly string[]) => (words.at(-1) ?? '').replace(/^""$/, '')

const placeOf = (tree: CommandTree, words: readonly string[]) => words.slice(0, -1).reduce(step, start(tree))

const longOf = ({ flags }: OptionSpec) => names(flags).at(-1) ?? flags

function assigned({ options, isOperandsOnly }: Place, current: string): OptionSpec | undefined {
  const name = isOperandsOnly ? undefined : /^(--[^=]+)=/.exec(current)?.[1]
  return name === undefined ? undefined : options.find(({ flags }) => names(flags).includes(name))
}

function live(values: readonly Candidate[], current: string): Completion {
  const [, prefix = '', typed = current] = /^(--[^=]+=)(.*)$/s.exec(current) ?? []
  const { candidates } = matching(values, typed)
  return {
    files: false,
    candidates: candidates.map(({ value, description }) => ({ value: prefix + value, description })),
  }
}

function start(command: CommandTree, above: readonly OptionSpec[] = []): Place {
  const options = [...command.options, ...above]
  return { command, options, positionals: 0, isOperandsOnly: false }
}

function step(place: Place, word: string): Place {
  const { pending, ...rest } = place
  if (pending !== undefined) return rest
  if (place.isOperandsOnly) return { ...rest, positionals: place.positionals + 1 }
  if (word === '--') return { ...rest, isOperandsOnly: true }
  if (word.startsWith('-')) return afterOption(rest, word)
  const child = place.command.subcommands.find(({ name }) => name === word)
  if (child !== undefined && place.positionals === 0) return start(child, place.options)
  return { ...rest, positionals: place.positionals + 1 }
}

function afterOption(place: Place, word: string): Place {
  const option = place.options.find(({ flags }) => names(flags).includes(word))
  return option !== undefined && takesValue(option) ? { ...place, pending: option } : place
}

function names(flags: string): string[] {
  return flags.match(/(?<![\w-])--?[\w-]+/g) ?? []
}

function takesValue({ flags }: OptionSpec): boolean {
  return flags.includes('<')
}

function assignment({ options }: Place, name: string, value: string): Completion {
  const option = options.find(({ flags }) => names(flags).includes(name))
  return option === undefined ? nothing : valuesOf(option, value, `${name}=`)
}

function valuesOf({ flags, values, description }: OptionSpec, current: string, prefix: string): Completion {
  if (values === undefined) return { candidates: [], files: /<[^>]*(file|folder|dir)[^>]*>/i.test(flags) }
  const candidates = values.map((value) => ({ value, description }))
  const { candidates: found } = matching(candidates, current)
  return { files: false, candidates: found.map(({ value }) => ({ value: prefix + value, description })) }
}

function optionCandidates({ options }: Place): Candidate[] {
  return options.flatMap(({ flags, description }) => names(flags).map((value) => ({ value, description })))
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

function matching(candidates: readonly Candidate[], prefix: string): Completion {
  const found = new Map(
    candidates.filter(({ value }) => value.startsWith(prefix)).map((one) => [one.value, one] as const),
  )
  return { candidates: [...found.values()], files: false }
}
