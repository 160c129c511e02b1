import type { Method } from '../../lib/releases/operator-rule.ts'
import { parseRegistry } from '../../lib/releases/registry.ts'
import { parseVersion } from '../../lib/releases/version.ts'
import { parseDeadline } from '../../lib/system/deadline.ts'
import { parseDuration } from '../../lib/system/duration.ts'
import { usageError } from '../../lib/system/errors.ts'
import type { UpgradeRequest } from '../../lib/upgrade/plan.ts'
import type { RunLimits } from '../../lib/procedure/run-context.ts'
import type { MigrationsPolicy } from '../../lib/workloads/migrations-in-flight.ts'

/** As commander hands them over. */
export interface UpgradeOptions {
  to?: string
  /** A sealed plan, instead of `to`. */
  plan?: string
  method: Method | 'auto'
  manifest?: string
  manifestSha256?: string
  manifestBase?: string
  rewriteNamespace?: boolean
  imageRegistry?: string
  backup?: string
  timeout: string
  settle: string
  dryRun?: string
  holdWorkloads: boolean
  leaveHeld?: boolean
  waitWorkloads?: boolean
  migrations: MigrationsPolicy
  migrationsTimeout: string
  accept: string[]
  deadline?: string
  until?: string
  pauseBefore: string[]
  takeOver?: string
  follow?: boolean
  releases?: string
}

/** Throws `usage` (exit 2) for anything that cannot be meant; nothing was read from the cluster yet. */
export function requestOf(options: UpgradeOptions, yes: boolean): UpgradeRequest {
  refuseContradictions(options, yes)
  return {
    to: parseVersion(options.to ?? ''),
    method: methodOf(options),
    hold: options.holdWorkloads,
    leaveHeld: options.leaveHeld ?? false,
    waitWorkloads: options.waitWorkloads ?? false,
    migrations: options.migrations,
    migrationsTimeoutMs: parseDuration(options.migrationsTimeout),
    follow: options.follow ?? false,
    settleMs: parseDuration(options.settle),
    ...(options.imageRegistry !== undefined && { imageRegistry: parseRegistry(options.imageRegistry) }),
  }
}

/** Who brings a manifest wants it applied; what fits the cluster is chosen where nothing was said. */
function methodOf({ method, manifest, manifestSha256 }: UpgradeOptions): UpgradeRequest['method'] {
  return method === 'auto' && (manifest ?? manifestSha256) !== undefined ? 'operator-manifest' : method
}

function refuseContradictions(options: UpgradeOptions, yes: boolean): void {
  const { leaveHeld, holdWorkloads, waitWorkloads, manifest, dryRun } = options
  if (leaveHeld && !holdWorkloads)
    throw usageError('contradiction', '--leave-held and --no-hold-workloads exclude each other')
  if (leaveHeld && waitWorkloads)
    throw usageError(
      'contradiction',
      '--leave-held and --wait-workloads exclude each other: held VMs do not move',
    )
  if (manifest === '-' && !yes && (dryRun ?? 'none') === 'none')
    throw usageError('contradiction', 'standard input cannot carry both the manifest and your answer', {
      remedy: 'add --yes, or pass the manifest as a file',
    })
}

export function limitsOf(options: UpgradeOptions, now: Date): RunLimits {
  return {
    timeoutMs: parseDuration(options.timeout),
    ...(options.deadline !== undefined && { deadline: parseDeadline(options.deadline, now) }),
    until: options.until,
    pauseBefore: options.pauseBefore,
  }
}

/** Throws `usage` for a bare `--dry-run` and for anything but none, client and server. */
export function rehearsalOf({ dryRun = 'none' }: UpgradeOptions): 'client' | 'server' | undefined {
  if (dryRun === 'none') return undefined
  if (dryRun === 'client' || dryRun === 'server') return dryRun
  throw usageError('dry-run', `--dry-run takes none, client or server, not ${JSON.stringify(dryRun)}`)
}
