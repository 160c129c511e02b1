import type { Command } from 'commander'
import type { Wire } from '../context.ts'
import type { ReportFormat } from '../lib/output/printer.ts'
import type { Manual } from './command-options.ts'
import declared from './entries.json' with { type: 'json' }

/**
 * The declaration of a command: all that must be known of it before it is loaded. Its flags, its help and what it does are in the module that `load` brings, only when its
 * name was typed: `--help` and completion stay fast.
 */
export interface Entry extends Declared {
  name: string
  load?: () => Promise<(wire: Wire) => Command>
  under?: readonly Entry[]
}

/** As it stands in entries.json, by its name with those above it. */
interface Declared {
  description: string
  /** Of the document that it prints, and in which it reports a failure. Absent: `Error`. */
  kind?: string
  /** Output formats that it has besides those of `-o` everywhere. */
  formats?: readonly ReportFormat[]
  /** Of the commands at the top, the heading that `kvup --help` puts it under; without one it stands among the others. */
  group?: 'Look' | 'Upgrade' | 'Virtual machines'
  /** For programs alone: no help and no completion names it. */
  hidden?: boolean
  manual?: Manual
}

/** What brings each command, by its name with those above it. */
const loads: Readonly<Record<string, Entry['load']>> = {
  status: async () => (await import('./status.ts')).statusCommand,
  wait: async () => (await import('./wait.ts')).waitCommand,
  check: async () => (await import('./check.ts')).checkCommand,
  explain: async () => (await import('./explain.ts')).explainCommand,
  releases: async () => (await import('./releases.ts')).releasesCommand,
  snapshot: async () => (await import('./snapshot.ts')).snapshotCommand,
  plan: async () => (await import('./plan.ts')).planCommand,
  rehearse: async () => (await import('./rehearse.ts')).rehearseCommand,
  upgrade: async () => (await import('./upgrade.ts')).upgradeCommand,
  'workloads outdated': async () => (await import('./workloads/outdated.ts')).outdatedCommand,
  'workloads forecast': async () => (await import('./workloads/forecast.ts')).forecastCommand,
  'workloads pause-updates': async () => (await import('./workloads/pause-updates.ts')).pauseCommand,
  'workloads resume-updates': async () => (await import('./workloads/restore.ts')).resumeCommand,
  'workloads strategy': async () => (await import('./workloads/strategy.ts')).strategyCommand,
  'workloads migrations': async () => (await import('./workloads/migrations.ts')).migrationsCommand,
  'workloads update': async () => (await import('./workloads/update.ts')).updateCommand,
  'workloads unblock': async () => (await import('./workloads/unblock.ts')).unblockCommand,
  'workloads restart-required': async () =>
    (await import('./workloads/restart-required.ts')).restartRequiredCommand,
  'workloads restart': async () => (await import('./workloads/restart.ts')).restartCommand,
  'workloads live-update show': async () => (await import('./workloads/live-update.ts')).showRolloutCommand,
  'workloads live-update set': async () => (await import('./workloads/live-update.ts')).setRolloutCommand,
  'eus plan': async () => (await import('./eus.ts')).eusPlanCommand,
  'eus run': async () => (await import('./eus.ts')).eusRunCommand,
  'eus status': async () => (await import('./eus.ts')).eusStatusCommand,
  'eus abort': async () => (await import('./eus.ts')).eusAbortCommand,
  'fleet status': async () => (await import('./fleet.ts')).fleetStatusCommand,
  'fleet check': async () => (await import('./fleet.ts')).fleetCheckCommand,
  'fleet plan': async () => (await import('./fleet.ts')).fleetPlanCommand,
  history: async () => (await import('./history.ts')).historyCommand,
  'restore-settings': async () => (await import('./restore-settings.ts')).restoreSettingsCommand,
  rbac: async () => (await import('./rbac.ts')).rbacCommand,
  job: async () => (await import('./job.ts')).jobCommand,
  demo: async () => (await import('./demo.ts')).demoCommand,
  config: async () => (await import('./config.ts')).configCommand,
  completion: async () => (await import('./completion.ts')).completionCommand,
  __complete: async () => (await import('./complete.ts')).completeCommand,
  __unpack: async () => (await import('./job.ts')).unpackCommand,
  __head: async () => (await import('./status.ts')).headCommand,
  version: async () => (await import('./version.ts')).versionCommand,
}

/** Those below `above`, which ends with a blank. */
const entriesBelow = (above: string): readonly Entry[] =>
  Object.entries(declared as unknown as Readonly<Record<string, Declared>>).flatMap(([path, entry]) => {
    const name = path.slice(above.length)
    if (!path.startsWith(above) || name.includes(' ')) return []
    const [load, under] = [loads[path], entriesBelow(`${path} `)]
    return [{ name, ...entry, ...(load && { load }), ...(under.length > 0 && { under }) }]
  })

export const entries: readonly Entry[] = entriesBelow('')

/** The declaration of this command, or of the nearest one above it: a command may have subcommands of its own. */
export function entryOf(command: Command): Entry | undefined {
  if (command.parent === null) return undefined
  const above = entryOf(command.parent)
  const beside = command.parent.parent === null ? entries : above?.under
  return beside?.find(({ name }) => name === command.name()) ?? above
}
