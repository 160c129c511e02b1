import { Command, type Option } from 'commander'
import { entries, type Entry } from './commands/entries.ts'
import {
  connection,
  everyCode,
  flagText,
  groupFlags,
  lastLine,
  manual,
  outputOptions,
} from './commands/command-options.ts'
import { kvupVersion, type Wire } from './context.ts'
import { usageError } from './lib/kube/errors.ts'

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
  root.addCommand(uniform(optionsCommand()))
  refuseEmptyValues(root)
  return root.configureHelp({ formatHelp: () => overview(name) })
}

const purpose = 'kvup upgrades KubeVirt: it checks, upgrades, watches, and can be interrupted.'

/** A screen of 24 lines: the commands by what they are for, three lines to paste, and where the rest is. */
function overview(name: string): string {
  const shown = entries.filter(({ hidden }) => hidden !== true)
  const width = Math.max(...shown.filter(({ group }) => group).map(({ name: of }) => of.length))
  const groups = [...new Set(shown.flatMap(({ group }) => group ?? []))]
  const others = [...shown.filter(({ group }) => !group).map(({ name: of }) => of), 'options']
  return [
    purpose,
    '',
    ...groups.flatMap((group) => {
      const under = shown.filter((entry) => entry.group === group)
      const lines = under.map(({ name: of, description }) => `  ${of.padEnd(width)}  ${description}`)
      return [`${group}:`].concat(lines)
    }),
    ...inLines('Other:  ', others),
    'Examples:',
    ...examples.map(([line, what]) => `  ${line.padEnd(24)}   ${what}`),
    `${name} help COMMAND explains one; ${name} options: global flags and exit codes.`,
    '',
  ].join('\n')
}

/** Names with commas between, broken before column 80. */
function inLines(heading: string, names: readonly string[]): string[] {
  const lines = [heading]
  for (const [index, name] of names.entries()) {
    const word = index < names.length - 1 ? `${name}, ` : name
    const last = lines.at(-1) ?? ''
    if (last.length + word.length <= 80) lines[lines.length - 1] = last + word
    else lines.push(`  ${word}`)
  }
  return lines.map((line) => line.trimEnd())
}

const examples = [
  ['kvup check --to v1.8.4', 'what blocks the upgrade?'],
  ['kvup upgrade --to v1.8.4', 'upgrade; the same command continues'],
  ['kvup demo', 'try it without a cluster'],
] as const

/** As `kubectl options`: what every command takes stands in one place. */
function optionsCommand(): Command {
  const command = new Command('options')
  return command
    .description('List the flags that every command takes, and the exit codes')
    .configureHelp({
      visibleOptions: () => [
        ...connection.map((option) => option.helpGroup('Connection:')),
        ...outputOptions.map((option) => option.helpGroup('Output and questions:')),
      ],
    })
    .addHelpText(
      'after',
      manual({
        examples: [
          ['kvup status -o wide', 'show more columns'],
          ['kvup status -o json', 'print JSON for a script'],
        ],
        codes: everyCode,
      }),
    )
    .addHelpText('after', '\nDocs: docs/ beside this program, or kvup help COMMAND\n')
    .action(() => command.outputHelp())
}

/** An unset variable of a script leaves an empty value, as if the flag had not been typed: no flag takes one. As for kubectl, `-A` wins over any `-n`. */
function refuseEmptyValues(root: Command): void {
  const empty: Option[] = []
  const watch = (command: Command): void => {
    for (const option of command.options)
      command.on(`option:${option.name()}`, (value: unknown) => {
        if (value === '') empty.push(option)
      })
    command.commands.forEach(watch)
  }
  watch(root)
  root.hook('preAction', (_, command) => {
    const isAll = command.opts()['allNamespaces'] === true
    const option = empty.find(({ long }) => long !== '--namespace' || !isAll)
    if (option === undefined) return
    const { short, long = option.flags } = option
    throw usageError('empty-value', `${short ?? long} is empty`, {
      remedy: `leave ${long} out, or set the variable that its value comes from`,
    })
  })
}

/** The same words for the same flag everywhere. */
function uniform(command: Command): Command {
  if (!command.name().startsWith('__')) command.helpOption('-h, --help', 'show help')
  if (command.commands.length > 0) command.helpCommand('help [command]', 'show help for a command')
  groupFlags(command)
  command.configureHelp({ ...command.configureHelp(), optionDescription: flagText })
  command.commands.forEach(uniform)
  return command
}

async function commandOf(entry: Entry, wire: Wire, words: readonly string[] | 'all'): Promise<Command> {
  const named = words === 'all' || words.includes(entry.name)
  if (entry.load && named) {
    const loaded = (await entry.load())(wire).name(entry.name).description(entry.description)
    if (!entry.hidden)
      for (const one of [loaded, ...loaded.commands])
        one.addHelpText('after', lastLine(one === loaded ? entry.formats : []))
    return uniform(loaded)
  }
  const command = new Command(entry.name).description(entry.description)
  if (entry.manual) command.addHelpText('after', manual(entry.manual)).addHelpText('after', lastLine())
  // `kvup status` is not `kvup eus status`: what stands under a command that was not typed is not loaded.
  const below = named ? words : []
  for (const child of entry.under ?? [])
    command.addCommand(await commandOf(child, wire, below), { hidden: child.hidden ?? false })
  return uniform(command)
}
