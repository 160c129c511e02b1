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
