import type { Command, Option } from 'commander'
import type { CommandTree, OptionSpec } from '../lib/output/completion/command-tree.ts'
import { formatNames } from '../lib/output/format.ts'

/** commander's commands as plain data; hidden commands and options are left out. */
export function treeOf(command: Command): CommandTree {
  const help = command.createHelp()
  return {
    name: command.name(),
    description: command.description(),
    options: help.visibleOptions(command).map(optionOf),
    arguments: command.registeredArguments.map(({ argChoices }) => argChoices ?? []),
    subcommands: help.visibleCommands(command).map(treeOf),
  }
}

function optionOf({ flags, description, argChoices, long }: Option): OptionSpec {
  const values = long === '--output' ? formatNames : argChoices
  return { flags, description, ...(values && { values }) }
}
