import type { Command, Option } from 'commander'
import type { CommandTree, OptionSpec } from '../lib/output/completion/command-tree.ts'
import { formatNames } from '../lib/output/format.ts'
import { reportFormats } from './report-formats.ts'

/** commander's commands as plain data; hidden commands and options are left out. */
export function treeOf(command: Command): CommandTree {
  const subcommands = command.createHelp().visibleCommands(command).map(treeOf)
  return {
    name: command.name(),
    description: command.description(),
    options: optionsOf(command),
    arguments: command.registeredArguments.map(({ argChoices }) => argChoices ?? []),
    ...(command.registeredArguments.at(-1)?.variadic && { repeats: true }),
    subcommands: subcommands.map((one) => (one.name === 'help' ? helpOn(one, subcommands) : one)),
  }
}

function optionsOf(command: Command): OptionSpec[] {
  const own = command.createHelp().visibleOptions(command).map(optionOf)
  const more = reportFormats[command.name()]
  return more ? [...own, outputOf(command, [...formatNames, ...more])] : own
}

/** `-o` where there are more formats than elsewhere: what a command has itself stands before what is above it. */
function outputOf(command: Command, values: readonly string[]): OptionSpec {
  let root = command
  while (root.parent) root = root.parent
  const output = root.options.find(({ long }) => long === '--output')
  return { flags: output?.flags ?? '--output <format>', description: output?.description ?? '', values }
}

function optionOf({ flags, description, argChoices, long }: Option): OptionSpec {
  const values = long === '--output' ? formatNames : argChoices
  return { flags, description, ...(values && { values }) }
}

/** `help COMMAND`, of the commands beside it. */
function helpOn(help: CommandTree, beside: readonly CommandTree[]): CommandTree {
  return { ...help, arguments: [beside.map(({ name }) => name)] }
}
