import type { Command } from 'commander'
import type { Wire } from '../context.ts'
import type { ReportFormat } from '../lib/output/printer.ts'
import type { Manual } from './command-options.ts'

/**
 * The declaration of a command: all that must be known of it before it is loaded. Its flags, its help and what it does are in the module that `load` brings, only when its
 * name was typed: `--help` and completion stay fast.
 */
export interface Entry {
  name: string
  description: string
  /** Of the document that it prints, and in which it reports a failure. Absent: `Error`. */
  kind?: string
  /** Output formats that it has besides those of `-o` everywhere. */
  formats?: readonly ReportFormat[]
  load?: () => Promise<(wire: Wire) => Command>
  under?: readonly Entry[]
  hidden?: boolean
  /** Of a command that only groups others. */
  manual?: Manual
}

/** The commands under `kvup eus`. */
const eusEntries: readonly Entry[] = [
  {
    name: 'plan',
    description: 'Show the way to the next minor with extended support, hop by hop, and what is in its way',
    kind: 'EusPlan',
    formats: ['markdown'],
    load: async () => (await import('./eus.ts')).eusPlanCommand,
  },
  {
    name: 'run',
    description: 'Carry the way out: hops of platform and operator, with pools and VMs kept until the end',
    kind: 'EusReport',
    load: async () => (await import('./eus.ts')).eusRunCommand,
  },
  {
    name: 'status',
    description: 'Show where a window stands, since when, and what is borrowed',
    kind: 'EusStatus',
    load: async () => (await import('./eus.ts')).eusStatusCommand,
  },
  {
    name: 'abort',
    description: 'End a window where it stands, and give back what is borrowed',
    kind: 'EusReport',
    load: async () => (await import('./eus.ts')).eusAbortCommand,
  },
  {
    name: 'restore',
    description: 'Give back borrowed settings alone, wherever the window stands',
    kind: 'EusReport',
    load: async () => (await import('./eus.ts')).eusRestoreCommand,
  },
]

export const entries: readonly Entry[] = [
  {
    name: 'status',
    description: 'Show where KubeVirt stands, component by component, and why',
    kind: 'Status',
    load: async () => (await import('./status.ts')).statusCommand,
  },
  {
    name: 'wait',
    description: 'Wait until KubeVirt is where it should be, for scripts',
    kind: 'Wait',
    load: async () => (await import('./wait.ts')).waitCommand,
  },
  {
    name: 'check',
    description: 'Say what speaks against an upgrade, and what to do first',
    kind: 'CheckReport',
    formats: ['junit', 'sarif', 'markdown'],
    load: async () => (await import('./check.ts')).checkCommand,
  },
  {
    name: 'explain',
    description: 'Explain a check, a finding or a refusal by its name',
    kind: 'Explanations',
    load: async () => (await import('./explain.ts')).explainCommand,
  },
  {
    name: 'releases',
    description:
      'Show the releases of KubeVirt that are known, the Kubernetes they run on, and what each minor breaks',
    kind: 'Releases',
    load: async () => (await import('./releases.ts')).releasesCommand,
  },
  {
    name: 'snapshot',
    description: 'Save what kvup judges by, to look at it elsewhere or later with --from',
    kind: 'SavedSnapshot',
    load: async () => (await import('./snapshot.ts')).snapshotCommand,
  },
  {
    name: 'plan',
    description: 'Show what an upgrade would do, as a document to review and to carry out',
    kind: 'UpgradePlan',
    formats: ['markdown'],
    load: async () => (await import('./plan.ts')).planCommand,
  },
  {
    name: 'upgrade',
    description: 'Take KubeVirt to another version, and end only when every component runs it',
    kind: 'UpgradeReport',
    load: async () => (await import('./upgrade.ts')).upgradeCommand,
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
        kind: 'OutdatedWorkloads',
        load: async () => (await import('./workloads/outdated.ts')).outdatedCommand,
      },
      {
        name: 'forecast',
        description: 'Say VM by VM what will become of it, before anything is touched',
        kind: 'WorkloadForecast',
        load: async () => (await import('./workloads/forecast.ts')).forecastCommand,
      },
      {
        name: 'hold',
        description: 'Keep KubeVirt from moving VMs by itself, until they are restored',
        kind: 'PausedUpdates',
        load: async () => (await import('./workloads/pause-updates.ts')).pauseCommand,
      },
      {
        name: 'strategy',
        description: 'Show and set how VMs follow: methods, batches, limits of migrations',
        kind: 'WorkloadStrategy',
        load: async () => (await import('./workloads/strategy.ts')).strategyCommand,
      },
      {
        name: 'restore',
        description: 'Give back what an upgrade, a hold or unblock borrowed: update methods, settings of VMs',
        kind: 'RestoreReport',
        load: async () => (await import('./workloads/restore.ts')).restoreCommand,
      },
      {
        name: 'migrations',
        description: 'Show what migrates, what waits and for what, and what fails every time',
        kind: 'Migrations',
        load: async () => (await import('./workloads/migrations.ts')).migrationsCommand,
      },
      {
        name: 'update',
        description: 'Move outdated VMs to the new virt-launcher, in an order and at a pace that you choose',
        kind: 'WorkloadsUpdate',
        load: async () => (await import('./workloads/update.ts')).updateCommand,
      },
      {
        name: 'unblock',
        description: 'Let VMs that block drains and updates be evicted, until they are restored',
        kind: 'UnblockedWorkloads',
        load: async () => (await import('./workloads/unblock.ts')).unblockCommand,
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
        kind: 'VmRollout',
        load: async () => (await import('./rollout/live-update.ts')).showRolloutCommand,
      },
      {
        name: 'set',
        description: 'Set what a change of a running VM does: LiveUpdate, Stage, or the default',
        kind: 'VmRollout',
        load: async () => (await import('./rollout/live-update.ts')).setRolloutCommand,
      },
      {
        name: 'restart-required',
        description: 'Show which VMs wait for a restart, for which changes, and since when',
        kind: 'RestartRequired',
        load: async () => (await import('./rollout/restart-required.ts')).restartRequiredCommand,
      },
      {
        name: 'restart',
        description: 'Restart the VMs that wait for it, in waves, each one well again before the next',
        kind: 'VmRestarts',
        load: async () => (await import('./rollout/restart.ts')).restartCommand,
      },
    ],
  },
  {
    name: 'eus',
    description: 'Take OKD or OpenShift from minor to minor together with virtualization',
    manual: {
      examples: [
        ['kvup eus plan', 'the hops, what decides, what is in the way'],
        ['kvup eus plan --to 4.20 --graph-file graph.json', 'with every release known beforehand'],
        ['kvup eus run --approve', 'carries it out; run it again to go on'],
        ['kvup eus status', 'where it stands'],
      ],
    },
    under: eusEntries,
  },
  {
    name: 'history',
    description: 'Show what kvup changed on this cluster, and what is still borrowed',
    kind: 'History',
    load: async () => (await import('./history.ts')).historyCommand,
  },
  {
    name: 'rbac',
    description: 'Print the roles that kvup needs, ready for kubectl apply',
    load: async () => (await import('./rbac.ts')).rbacCommand,
  },
  {
    name: 'demo',
    description: 'Run an upgrade on the built-in simulated cluster',
    load: async () => (await import('./demo.ts')).demoCommand,
  },
  {
    name: 'config',
    description: 'Show the configuration and where each value comes from',
    load: async () => (await import('./config.ts')).configCommand,
  },
  {
    name: 'completion',
    description: 'Print the completion script of a shell',
    load: async () => (await import('./completion.ts')).completionCommand,
  },
  {
    name: '__complete',
    description: 'Say what may stand at the cursor: for the completion scripts and kubectl',
    load: async () => (await import('./complete.ts')).completeCommand,
    hidden: true,
  },
  {
    name: 'version',
    description: 'Show the versions of kvup, the API server and KubeVirt',
    kind: 'Version',
    load: async () => (await import('./version.ts')).versionCommand,
  },
]

/** The declaration of this command, or of the nearest one above it: a command may have subcommands of its own. */
export function entryOf(command: Command): Entry | undefined {
  if (command.parent === null) return undefined
  const above = entryOf(command.parent)
  const beside = command.parent.parent === null ? entries : above?.under
  return beside?.find(({ name }) => name === command.name()) ?? above
}
