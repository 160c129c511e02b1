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
  /** Of the commands at the top, the heading that `kvup --help` puts it under; without one it stands among the others. */
  group?: 'Look' | 'Upgrade' | 'Virtual machines'
  /** For programs alone: no help and no completion names it. */
  hidden?: boolean
  manual?: Manual
}

export const entries: readonly Entry[] = [
  {
    name: 'status',
    group: 'Look',
    description: 'Show whether KubeVirt is healthy, by component, and why not',
    kind: 'Status',
    formats: ['github'],
    load: async () => (await import('./status.ts')).statusCommand,
  },
  {
    name: 'wait',
    group: 'Upgrade',
    description: 'Wait until KubeVirt is healthy or at a version, for scripts',
    kind: 'Wait',
    formats: ['junit', 'github'],
    load: async () => (await import('./wait.ts')).waitCommand,
  },
  {
    name: 'check',
    group: 'Look',
    description: 'Find what blocks an upgrade, and what to do',
    kind: 'CheckReport',
    formats: ['junit', 'markdown', 'html', 'github'],
    load: async () => (await import('./check.ts')).checkCommand,
  },
  {
    name: 'explain',
    group: 'Look',
    description: 'Explain a finding, alert, condition, exit code or log line',
    kind: 'Explanations',
    load: async () => (await import('./explain.ts')).explainCommand,
  },
  {
    name: 'releases',
    group: 'Look',
    description: 'List known releases, what they run on, and what they break',
    kind: 'Releases',
    load: async () => (await import('./releases.ts')).releasesCommand,
  },
  {
    name: 'snapshot',
    description: 'Save what kvup reads, for use elsewhere with --from',
    kind: 'SavedSnapshot',
    load: async () => (await import('./snapshot.ts')).snapshotCommand,
  },
  {
    name: 'plan',
    group: 'Upgrade',
    description: 'Write down what an upgrade would do, to review and run',
    kind: 'UpgradePlan',
    formats: ['markdown', 'html'],
    load: async () => (await import('./plan.ts')).planCommand,
  },
  {
    name: 'rehearse',
    group: 'Upgrade',
    description: 'Play an upgrade on a simulated twin of this cluster',
    kind: 'Rehearsal',
    formats: ['markdown', 'html'],
    load: async () => (await import('./rehearse.ts')).rehearseCommand,
  },
  {
    name: 'upgrade',
    group: 'Upgrade',
    description: 'Upgrade KubeVirt; the same line continues an interrupted one',
    kind: 'UpgradeReport',
    formats: ['junit', 'markdown', 'html', 'github'],
    load: async () => (await import('./upgrade.ts')).upgradeCommand,
  },
  {
    name: 'workloads',
    group: 'Virtual machines',
    description: 'Find outdated VMs, migrate and restart them, pause updates',
    manual: {
      examples: [
        ['kvup history', 'list the temporary changes'],
        ['kvup restore-settings', 'restores every temporary change'],
      ],
    },
    under: [
      {
        name: 'outdated',
        description: 'Show which VMs run an old virt-launcher, and the outcome of an update for each',
        kind: 'OutdatedWorkloads',
        formats: ['github'],
        load: async () => (await import('./workloads/outdated.ts')).outdatedCommand,
      },
      {
        name: 'forecast',
        description: 'Show for each VM what an update does to it, before anything changes',
        kind: 'WorkloadForecast',
        load: async () => (await import('./workloads/forecast.ts')).forecastCommand,
      },
      {
        name: 'pause-updates',
        description: 'Pause automatic VM updates: KubeVirt moves no VM by itself until they are resumed',
        kind: 'PausedUpdates',
        load: async () => (await import('./workloads/pause-updates.ts')).pauseCommand,
      },
      {
        name: 'resume-updates',
        description: 'Resume automatic VM updates: restore the update methods that kvup emptied',
        kind: 'RestoreReport',
        load: async () => (await import('./workloads/restore.ts')).resumeCommand,
      },
      {
        name: 'strategy',
        description: 'Show and set automatic VM updates: methods, batches, migration limits',
        kind: 'WorkloadStrategy',
        load: async () => (await import('./workloads/strategy.ts')).strategyCommand,
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
        formats: ['junit', 'markdown', 'html', 'github'],
        load: async () => (await import('./workloads/update.ts')).updateCommand,
      },
      {
        name: 'unblock',
        description: 'Let VMs that block drains and updates be evicted, until they are restored',
        kind: 'UnblockedWorkloads',
        load: async () => (await import('./workloads/unblock.ts')).unblockCommand,
      },
      {
        name: 'restart-required',
        description: 'Show which VMs need a restart, for which changes, and since when',
        kind: 'RestartRequired',
        load: async () => (await import('./workloads/restart-required.ts')).restartRequiredCommand,
      },
      {
        name: 'restart',
        description: 'Restart the VMs that need it, in waves, each Ready again before the next',
        kind: 'VmRestarts',
        formats: ['markdown', 'html'],
        load: async () => (await import('./workloads/restart.ts')).restartCommand,
      },
      {
        name: 'live-update',
        description: 'Show and set what a change of a running VM does: LiveUpdate, Stage, or the default',
        manual: {
          examples: [
            ['kvup workloads live-update show', 'what a change of a VM does'],
            ['kvup workloads live-update set Stage', 'changes wait for a restart'],
          ],
        },
        under: [
          {
            name: 'show',
            description: 'Show what a change of a running VM does, and which setting decides it',
            kind: 'VmRollout',
            load: async () => (await import('./workloads/live-update.ts')).showRolloutCommand,
          },
          {
            name: 'set',
            description: 'Set what a change of a running VM does: LiveUpdate, Stage, or the default',
            kind: 'VmRollout',
            load: async () => (await import('./workloads/live-update.ts')).setRolloutCommand,
          },
        ],
      },
    ],
  },
  {
    name: 'eus',
    group: 'Upgrade',
    description: 'Upgrade OpenShift or OKD with its virtualization, by minors',
    manual: {
      examples: [
        ['kvup eus plan', 'show the steps, and what blocks them'],
        ['kvup eus plan --to 4.20 --graph-file graph.json', 'with every release known beforehand'],
        ['kvup eus run --approve', 'runs it; the same command continues'],
        ['kvup eus status', 'its progress'],
      ],
    },
    under: [
      {
        name: 'plan',
        description: 'Show the upgrade path to the next EUS release, step by step, and what blocks it',
        kind: 'EusPlan',
        formats: ['markdown', 'html'],
        load: async () => (await import('./eus.ts')).eusPlanCommand,
      },
      {
        name: 'run',
        description: 'Run the EUS upgrade: platform and operator by minors, then worker pools and VMs',
        kind: 'EusReport',
        formats: ['junit', 'markdown', 'html'],
        load: async () => (await import('./eus.ts')).eusRunCommand,
      },
      {
        name: 'status',
        description: 'Show the progress of an EUS upgrade, and its temporary changes',
        kind: 'EusStatus',
        load: async () => (await import('./eus.ts')).eusStatusCommand,
      },
      {
        name: 'abort',
        description: 'End an EUS upgrade early, and restore its temporary changes',
        kind: 'EusReport',
        formats: ['markdown', 'html'],
        load: async () => (await import('./eus.ts')).eusAbortCommand,
      },
    ],
  },
  {
    name: 'fleet',
    group: 'Upgrade',
    description: 'Look at, check and plan many clusters',
    manual: {
      examples: [
        ["kvup fleet status --contexts 'prod-*'", 'one line per cluster'],
        ["kvup fleet plan --contexts 'prod-*' --to v1.8.4 --to-folder plans", 'a sealed plan of each'],
      ],
    },
    under: [
      {
        name: 'status',
        description: 'Show where each cluster stands, one line each, the worst first',
        kind: 'FleetStatus',
        formats: ['junit', 'markdown', 'html'],
        load: async () => (await import('./fleet.ts')).fleetStatusCommand,
      },
      {
        name: 'check',
        description: 'Find what is wrong, or blocks an upgrade, on each cluster',
        kind: 'FleetCheck',
        formats: ['junit', 'markdown', 'html'],
        load: async () => (await import('./fleet.ts')).fleetCheckCommand,
      },
      {
        name: 'plan',
        description: 'Make a sealed plan for each cluster, and say in which order they go',
        kind: 'FleetPlan',
        formats: ['argo-workflow', 'markdown', 'html'],
        load: async () => (await import('./fleet.ts')).fleetPlanCommand,
      },
    ],
  },
  {
    name: 'history',
    group: 'Look',
    description: 'Show what kvup did here, and what it still has to restore',
    kind: 'History',
    formats: ['markdown', 'html'],
    load: async () => (await import('./history.ts')).historyCommand,
  },
  {
    name: 'restore-settings',
    group: 'Upgrade',
    description: 'Restore settings that kvup changed: no VM, data or version',
    kind: 'RestoreReport',
    load: async () => (await import('./restore-settings.ts')).restoreSettingsCommand,
  },
  {
    name: 'rbac',
    description: 'Print the roles that kvup needs, ready for kubectl apply',
    load: async () => (await import('./rbac.ts')).rbacCommand,
  },
  {
    name: 'job',
    description: 'Let the cluster run an upgrade itself, as a Job',
    kind: 'JobManifests',
    load: async () => (await import('./job.ts')).jobCommand,
  },
  {
    name: 'demo',
    description: 'Run an upgrade on the built-in simulated cluster',
    formats: ['markdown', 'html'],
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
    hidden: true,
    load: async () => (await import('./complete.ts')).completeCommand,
  },
  {
    name: '__unpack',
    description: 'Verify and unpack the files of a Job: what its pod does first',
    hidden: true,
    load: async () => (await import('./job.ts')).unpackCommand,
  },
  {
    name: '__head',
    description: 'Say where the cluster stands: what kvup without a command does',
    kind: 'Status',
    hidden: true,
    load: async () => (await import('./status.ts')).headCommand,
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
