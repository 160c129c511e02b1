import type { Command, Option } from 'commander'

/** One flag or argument, as the help shows it. */
export interface Item {
  term: string
  text: string
}

/** A command as its pages show it. */
export interface Description {
  /** `kvup restore-settings`. */
  path: string
  summary: string
  usage: string
  arguments: readonly Item[]
  options: readonly Item[]
  /** Commands below it, by their path. */
  commands: readonly Item[]
  /** What `--help` prints after the flags: examples and the like. */
  after: string
  /** It does something itself. */
  runs: boolean
}

/** The command and all below it that are not hidden, the root first. */
export function describeTree(command: Command, parents: readonly string[] = []): Description[] {
  const path = [...parents, command.name()]
  const children = visible(command)
  return [describe(command, path), ...children.flatMap((child) => describeTree(child, path))]
}

function describe(command: Command, path: readonly string[]): Description {
  const help = command.createHelp()
  const options: readonly Option[] = help.visibleOptions(command)
  return {
    path: path.join(' '),
    summary: command.description(),
    usage: `${path.join(' ')} ${command.usage()}`,
    arguments: command.registeredArguments.map((argument) => ({
      term: help.argumentTerm(argument),
      text: help.argumentDescription(argument),
    })),
    options: options
      .filter(({ long }) => long !== '--help' || path.length === 1)
      .map((option) => ({ term: option.flags, text: help.optionDescription(option) })),
    commands: visible(command).map((child) => ({
      term: [...path, child.name()].join(' '),
      text: child.description(),
    })),
    after: afterHelp(command),
    runs: visible(command).length === 0 || command.registeredArguments.length > 0,
  }
}

/** commander's own `help` says nothing that `--help` does not. */
function visible(command: Command): readonly Command[] {
  return command
    .createHelp()
    .visibleCommands(command)
    .filter((child) => child.name() !== 'help')
}

function afterHelp(command: Command): string {
  let printed = ''
  command.configureOutput({ writeOut: (text) => (printed += text) })
  command.outputHelp()
  return printed.slice(command.helpInformation().length).trim()
}
