import { Command, InvalidArgumentError, Option } from 'commander'
import { everyCode, type Manual, manual } from './commands/manual.ts'
import { kvupVersion } from './lib/system/version.ts'
import type { Wire } from './wire.ts'

/** A command that is loaded only when its name was typed: `--help` and completion stay fast. */
interface Entry {
  name: string
  description: string
  load?: () => Promise<(wire: Wire) => Command>
  under?: readonly Entry[]
  hidden?: boolean
  /** Of a command that only groups others. */
  manual?: Manual
}

const entries: readonly Entry[] = [
  {
    name: 'status',
    description: 'Show where KubeVirt stands, component by component, and why',
    load: async () => (await import('./commands/status.ts')).statusCommand,
  },
  {
    name: 'wait',
    description: 'Wait until KubeVirt is where it should be, for scripts',
    load: async () => (await import('./commands/wait.ts')).waitCommand,
  },
  {
    name: 'check',
    description: 'Say what speaks against an upgrade, and what to do first',
    load: async () => (await import('./commands/check.ts')).checkCommand,
  },
  {
    name: 'explain',
    description: 'Explain a check, a finding or a refusal by its name',
    load: async () => (await import('./commands/explain.ts')).explainCommand,
  },
  {
    name: 'releases',
    description: 'Show the releases of KubeVirt that are known, and the Kubernetes they run on',
    load: async () => (await import('./commands/releases.ts')).releasesCommand,
  },
  {
    name: 'snapshot',
    description: 'Save what kvup judges by, to look at it elsewhere or later with --from',
    load: async () => (await import('./commands/snapshot.ts')).snapshotCommand,
  },
  {
    name: 'plan',
    description: 'Show what an upgrade would do, as a document to review and to carry out',
    load: async () => (await import('./commands/plan.ts')).planCommand,
  },
  {
    name: 'upgrade',
    description: 'Take KubeVirt to another version, and end only when every component runs it',
    load: async () => (await import('./commands/upgrade.ts')).upgradeCommand,
  },
  {
    name: 'workloads',
    description: 'Look after the virtual machines around an upgrade',
    manual: {
      examples: [
        ['kvup history', 'what is borrowed'],
        ['kvup workloads restore', 'gives back what kvup history shows as borrowed'],
      ],
    },
    under: [
      {
        name: 'outdated',
        description: 'Show which VMs run an old virt-launcher, why, and what becomes of each',
        load: async () => (await import('./commands/workloads/outdated.ts')).outdatedCommand,
      },
      {
        name: 'forecast',
        description: 'Say VM by VM what will become of it, before anything is touched',
        load: async () => (await import('./commands/workloads/forecast.ts')).forecastCommand,
      },
      {
        name: 'hold',
        description: 'Keep KubeVirt from moving VMs by itself, until they are restored',
        load: async () => (await import('./commands/workloads/hold.ts')).holdCommand,
      },
      {
        name: 'strategy',
        description: 'Show and set how VMs follow: methods, batches, limits of migrations',
        load: async () => (await import('./commands/workloads/strategy.ts')).strategyCommand,
      },
      {
        name: 'restore',
        description: 'Give back the workload update methods that an upgrade or a hold borrowed',
        load: async () => (await import('./commands/workloads/restore.ts')).restoreCommand,
      },
      {
        name: 'migrations',
        description: 'Show what migrates, what waits and for what, and what fails every time',
        load: async () => (await import('./commands/workloads/migrations.ts')).migrationsCommand,
      },
      {
        name: 'update',
        description: 'Move outdated VMs to the new virt-launcher, in an order and at a pace that you choose',
        load: async () => (await import('./commands/workloads/update.ts')).updateCommand,
      },
      {
        name: 'unblock',
        description: 'Let VMs that block drains and updates be evicted, until they are restored',
        load: async () => (await import('./commands/workloads/unblock.ts')).unblockCommand,
      },
    ],
  },
  {
    name: 'rollout',
    description: 'Look after what a change of a running VM does, and the VMs that wait for a restart',
    manual: {
      examples: [
        ['kvup rollout show', 'what a change of a running VM does'],
        ['kvup rollout restart-required', 'which VMs wait for a restart, and for which change'],
      ],
    },
    under: [
      {
        name: 'show',
        description:
          'Show what a change of a running VM does, who says so, and what this version makes of it',
        load: async () => (await import('./commands/rollout/show.ts')).showRolloutCommand,
      },
      {
        name: 'set',
        description: 'Set what a change of a running VM does: LiveUpdate, Stage, or the default',
        load: async () => (await import('./commands/rollout/set.ts')).setRolloutCommand,
      },
      {
        name: 'restart-required',
        description: 'Show which VMs wait for a restart, for which changes, and since when',
        load: async () => (await import('./commands/rollout/restart-required.ts')).restartRequiredCommand,
      },
      {
        name: 'restart',
        description: 'Restart the VMs that wait for it, in waves, each one well again before the next',
        load: async () => (await import('./commands/rollout/restart.ts')).restartCommand,
      },
    ],
  },
  {
    name: 'history',
    description: 'Show what kvup changed on this cluster, and what is still borrowed',
    load: async () => (await import('./commands/history.ts')).historyCommand,
  },
  {
    name: 'rbac',
    description: 'Print the roles that kvup needs, ready for kubectl apply',
    load: async () => (await import('./commands/rbac.ts')).rbacCommand,
  },
  {
    name: 'demo',
    description: 'Run an upgrade on the built-in simulated cluster',
    load: async () => (await import('./commands/demo.ts')).demoCommand,
  },
  {
    name: 'config',
    description: 'Show the configuration and where each value comes from',
    load: async () => (await import('./commands/config.ts')).configCommand,
  },
  {
    name: 'completion',
    description: 'Print the completion script of a shell',
    load: async () => (await import('./commands/completion.ts')).completionCommand,
  },
  {
    name: '__complete',
    description: 'Say what may stand at the cursor: for the completion scripts and kubectl',
    load: async () => (await import('./commands/complete.ts')).completeCommand,
    hidden: true,
  },
  {
    name: 'version',
    description: 'Show the versions of kvup, the API server and KubeVirt',
    load: async () => (await import('./commands/version.ts')).versionCommand,
  },
]

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
