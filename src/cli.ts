import { Command } from 'commander'
import { entries, type Entry } from './commands/entries.ts'
import { connection, everyCode, type Manual, manual, outputOptions } from './commands/command-options.ts'
import { kvupVersion, type Wire } from './context.ts'

/** The command tree. Only the commands named in `words` (or `all`) are loaded; the others are known by name. */
export async function program(name: string, wire: Wire, words: readonly string[] | 'all'): Promise<Command> {
  const root = new Command(name)
    .description('Plan, run and watch KubeVirt upgrades')
    .version(kvupVersion, '-V, --version', 'print the version of kvup')
    .helpOption('-h, --help', 'show help')
    .helpCommand('help [command]', 'show help for a command')
  for (const option of [...connection, ...outputOptions]) root.addOption(option)
  for (const entry of entries)
    root.addCommand(await commandOf(entry, wire, words), { hidden: entry.hidden ?? false })
  return root.addHelpText('after', manual(rootManual))
}

const rootManual: Manual = {
  examples: [
    ['kvup status', 'where it stands, and why'],
    ['kvup check --to v1.8.4', 'will it work here, and what to do first'],
    ['kvup plan --to v1.8.4', 'what would be done, and what is different then'],
    ['kvup upgrade --to v1.8.4', 'do it; the same line resumes it'],
    ['kvup demo', 'try it without a cluster'],
  ],
  codes: everyCode,
  last: 'Docs: docs/ beside this program, or kvup help COMMAND',
}

/** The same words for the same flag everywhere. */
function uniform(command: Command): Command {
  if (command.name() !== '__complete') command.helpOption('-h, --help', 'show help')
  if (command.commands.length > 0) command.helpCommand('help [command]', 'show help for a command')
  command.commands.forEach(uniform)
  return command
}

async function commandOf(entry: Entry, wire: Wire, words: readonly string[] | 'all'): Promise<Command> {
  const named = words === 'all' || words.includes(entry.name)
  if (entry.load && named) return uniform((await entry.load())(wire).description(entry.description))
  const command = new Command(entry.name).description(entry.description)
  if (entry.manual) command.addHelpText('after', manual(entry.manual))
  // `kvup status` is not `kvup eus status`: what stands under a command that was not typed is not loaded.
  const below = named ? words : []
  for (const child of entry.under ?? []) command.addCommand(await commandOf(child, wire, below))
  return uniform(command)
}
