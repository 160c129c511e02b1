import type { Method } from '../../lib/releases/operator-rule.ts'
import { parseRegistry } from '../../lib/releases/registry.ts'
import { ensureOneMinorApart } from '../../lib/releases/upgrade-path.ts'
import { parseVersion } from '../../lib/releases/version.ts'
import { parseDuration } from '../../lib/system/duration.ts'
import { usageError } from '../../lib/system/errors.ts'
import { shellWord } from '../../lib/system/shell-word.ts'
import type { UpgradeRequest } from '../../lib/upgrade/plan.ts'
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
  /** Releases to go through, separated by commas. */
  via?: string
  /** What is waited for between the steps of an upgrade path. */
  between?: 'wait' | 'none'
  rewriteNamespace?: boolean
  imageRegistry?: string
  /** A file-based catalog. */
  catalogFile?: string
  /** Names, separated by commas. */
  approveAlso?: string
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
  const to = parseVersion(options.to ?? '')
  return {
    to,
    ...viaOf(options, to),
    between: options.between ?? 'wait',
    olm: olmRequestOf(options),
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

/** Throws `usage` for releases that do not lead from one to the next. */
function viaOf({ via }: UpgradeOptions, to: UpgradeRequest['to']): Pick<UpgradeRequest, 'via'> {
  if (via === undefined) return {}
  const releases = via.split(',').map(parseVersion)
  ensureOneMinorApart(releases, to)
  return { via: releases }
}

function olmRequestOf(options: UpgradeOptions): UpgradeRequest['olm'] {
  const { to = '', approveAlso = '', accept } = options
  const also = approveAlso.split(',').filter((name) => name !== '')
  return {
    typed: to.trim(),
    approveAlso: also,
    accepted: accept.map((one) => one.split('=', 1)[0] ?? one),
    command: olmLine(options, also),
  }
}

const valued = (flag: string, values: readonly string[]): readonly string[] =>
  values.map((value) => `${flag} ${shellWord(value)}`)

/** With what decides about its way; the others are of one run. */
function olmLine(
  { to = '', accept, catalogFile, leaveHeld }: UpgradeOptions,
  also: readonly string[],
): string {
  return [
    `kvup upgrade --to ${shellWord(to.trim())} --method olm`,
    ...valued('--catalog-file', catalogFile === undefined ? [] : [catalogFile]),
    ...(leaveHeld ? ['--leave-held'] : []),
    ...valued('--approve-also', also),
    ...valued('--accept', accept),
  ].join(' ')
}

/** What only one method looks at is not to be passed over. */
function refuseForeignFlags(options: UpgradeOptions): void {
  const { method, catalogFile, approveAlso, imageRegistry, follow, via } = options
  const ofOlm =
    catalogFile !== undefined ? '--catalog-file' : approveAlso !== undefined ? '--approve-also' : undefined
  const byOther = method === 'image-tag' || method === 'operator-manifest'
  if (ofOlm !== undefined && byOther)
    throw usageError('contradiction', `${ofOlm} is for the method olm, not for ${method}`)
  const notOfOlm = imageRegistry !== undefined ? '--image-registry' : follow ? '--follow' : undefined
  if (via !== undefined && (method === 'olm' || follow))
    throw usageError(
      'contradiction',
      `--via and ${follow ? '--follow' : '--method olm'} exclude each other: ${follow ? 'whoever owns KubeVirt commits one minor at a time' : 'OLM and its catalog decide which releases lie between'}`,
    )
  if (method === 'olm' && notOfOlm !== undefined)
    throw usageError(
      'contradiction',
      `${notOfOlm} and --method olm exclude each other: HyperConverged and OLM decide there`,
    )
}

/** Who brings a manifest wants it applied; what fits the cluster is chosen where nothing was said. */
function methodOf({ method, manifest, manifestSha256 }: UpgradeOptions): UpgradeRequest['method'] {
  return method === 'auto' && (manifest ?? manifestSha256) !== undefined ? 'operator-manifest' : method
}

function refuseContradictions(options: UpgradeOptions, yes: boolean): void {
  refuseForeignFlags(options)
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

/** Throws `usage` for a bare `--dry-run` and for anything but none, client and server. */
export function rehearsalOf({ dryRun = 'none' }: UpgradeOptions): 'client' | 'server' | undefined {
  if (dryRun === 'none') return undefined
  if (dryRun === 'client' || dryRun === 'server') return dryRun
  throw usageError('dry-run', `--dry-run takes none, client or server, not ${JSON.stringify(dryRun)}`)
}
