import { Command, InvalidArgumentError, Option } from 'commander'
import { type Entry, entries } from './commands/entries.ts'
import { everyCode, type Manual, manual } from './commands/manual.ts'
import { kvupVersion } from './lib/system/version.ts'
import type { Wire } from './wire.ts'

/** The command tree. Only the commands named in `words` (or `all`) are loaded; the others are known by name. */
export async function program(name: string, wire: Wire, words: readonly string[] | 'all'): Promise<Command> {
  const root = new Command(name)
    .description('Plan, run and watch KubeVirt upgrades')
    .version(kvupVersion, '-V, --version', 'print the version of kvup')
    .helpOption('-h, --help', 'show help')
    .helpCommand('help [command]', 'show help for a command')
  for (const option of [...connection, ...manners]) root.addOption(option)
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
  for (const child of entry.under ?? []) command.addCommand(await commandOf(child, wire, words))
  return uniform(command)
}

/** As kubectl's -v. */
function level(text: string): number {
  if (/^\d$/u.test(text)) return Number(text)
  throw new InvalidArgumentError('It is a number from 0 to 9.')
}

const list = (value: string, before: string[] = []) => [...before, value]

/** kubectl's names, so that nobody has to learn them again. */
export const connection: readonly Option[] = [
  new Option('--kubeconfig <file>', 'kubeconfig to use instead of KUBECONFIG or ~/.kube/config'),
  new Option('--context <name>', 'context of the kubeconfig'),
  new Option('--cluster <name>', 'cluster of the kubeconfig'),
  new Option('--user <name>', 'user of the kubeconfig'),
  new Option('-n, --namespace <namespace>', 'namespace of virtual machines; the one of KubeVirt is found'),
  new Option('--as <user>', 'impersonate this user'),
  new Option('--as-group <group>', 'impersonate this group (repeatable)').argParser(list),
  new Option('--as-uid <uid>', 'impersonate this uid'),
  new Option('--request-timeout <duration>', 'how long one request may take, such as 30s').default('30s'),
  new Option('-s, --server <url>', 'address of the API server'),
  new Option('--token-file <file>', 'file with a bearer token, read again when it changes'),
  new Option('--client-certificate <file>', 'client certificate'),
  new Option('--client-key <file>', 'key of the client certificate'),
  new Option('--certificate-authority <file>', 'certificate authority of the API server'),
  new Option('--insecure-skip-tls-verify', 'do not check the certificate of the API server'),
  new Option('--tls-server-name <name>', 'name to expect in the certificate of the API server'),
]

const manners = [
  new Option(
    '-o, --output <format>',
    'table, wide, json, yaml, name, jsonpath=TEMPLATE, jsonpath-file=FILE, custom-columns=SPEC, ndjson',
  ).default('table'),
  new Option('--no-headers', 'leave out the headings of tables'),
  new Option('--sort-by <jsonpath>', 'sort rows by this field'),
  new Option('--color <when>', 'colour the output').choices(['auto', 'always', 'never']).default('auto'),
  new Option('--no-color', 'the same as --color=never'),
  new Option('-y, --yes', 'do not ask; risks still have to be accepted by name').default(false),
  new Option('--no-input', 'ask nothing: end where a question would be asked'),
  new Option('-v, --verbosity <level>', 'print requests to stderr: 6 lines, 7 headers, 8 and 9 bodies')
    .default(0)
    .argParser(level),
]
