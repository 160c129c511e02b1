import type { MeasureOptions } from '../../availability/measurement.ts'
import type { Method } from '../../releases/hop-findings.ts'
import { parseRegistry } from '../../manifests/image-registry.ts'
import { ensureOneMinorApart } from '../../releases/release-path.ts'
import { parseVersion } from '../../releases/release-versions.ts'
import { parseDuration } from '../../kube/duration.ts'
import { usageError } from '../../kube/errors.ts'
import { shellWord, withoutFlags, wordsOf } from '../../kube/shell-line.ts'
import { chooseMethod, type UpgradeRequest, type UpgradeState } from '../upgrade-plan.ts'
import type { MigrationsPolicy } from '../../vms/migrations/migration-snapshot.ts'
import { withoutLogin } from '../../manifests/manifest-source.ts'
import type { SealedPlan } from '../../engine/sealed-plan.ts'
import type { CommandContext } from '../../kube/world.ts'
import type { Releases } from '../../releases/releases.ts'
import { seeOperator } from '../methods/olm-operator.ts'
import type { Reader } from '../../kube/cluster.ts'
import { olmGoal } from '../methods/olm-plan.ts'
import { readCatalog } from '../../releases/catalog-path.ts'

/** As commander hands them over. */
export interface UpgradeOptions extends MeasureOptions {
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
  /** What `kvup rehearse --to-file` saved. */
  rehearsal?: string
  /** Absent: as long as the estimate asks for. */
  timeout?: string
  stalledAfter?: string
  stableFor: string
  dryRun?: string
  pauseUpdates: boolean
  leavePaused?: boolean
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

/** For a command that offers none. Throws `usage` (exit 2) where no version was typed. */
export function typedTarget({ to }: Pick<UpgradeOptions, 'to'>): string {
  if (to !== undefined) return to
  throw usageError('no-target', 'name a version with --to', {
    remedy: 'kvup releases     lists the releases that this kvup knows',
  })
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
    hold: options.pauseUpdates,
    leavePaused: options.leavePaused ?? false,
    waitWorkloads: options.waitWorkloads ?? false,
    migrations: options.migrations,
    migrationsTimeoutMs: parseDuration(options.migrationsTimeout),
    follow: options.follow ?? false,
    stableMs: parseDuration(options.stableFor),
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
  { to = '', accept, catalogFile, leavePaused }: UpgradeOptions,
  also: readonly string[],
): string {
  return [
    `kvup upgrade --to ${shellWord(to.trim())} --method olm`,
    ...valued('--catalog-file', catalogFile === undefined ? [] : [catalogFile]),
    ...(leavePaused ? ['--leave-paused'] : []),
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
      `--via and ${follow ? '--follow' : '--method olm'} exclude each other: ${follow ? 'the owner of KubeVirt commits one minor at a time' : 'OLM and its catalog decide the releases in between'}`,
    )
  if (method === 'olm' && notOfOlm !== undefined)
    throw usageError(
      'contradiction',
      `${notOfOlm} and --method olm exclude each other: HyperConverged and OLM decide this`,
    )
}

/** Who brings a manifest wants it applied; what fits the cluster is chosen where nothing was said. */
function methodOf({ method, manifest, manifestSha256 }: UpgradeOptions): UpgradeRequest['method'] {
  return method === 'auto' && (manifest ?? manifestSha256) !== undefined ? 'operator-manifest' : method
}

function refuseContradictions(options: UpgradeOptions, yes: boolean): void {
  refuseForeignFlags(options)
  const { leavePaused, pauseUpdates, waitWorkloads, manifest, dryRun, rehearsal } = options
  if (leavePaused && !pauseUpdates)
    throw usageError('contradiction', '--leave-paused and --no-pause-updates exclude each other')
  if (leavePaused && waitWorkloads)
    throw usageError(
      'contradiction',
      '--leave-paused and --wait-workloads exclude each other: VMs do not move while updates are paused',
    )
  if (rehearsal !== undefined && (dryRun ?? 'none') !== 'none')
    throw usageError(
      'contradiction',
      '--rehearsal and --dry-run exclude each other: a dry run has nothing to compare with',
    )
  if (manifest === '-' && !yes && (dryRun ?? 'none') === 'none')
    throw usageError('contradiction', 'standard input cannot provide both the manifest and your answer', {
      remedy: 'add --yes, or pass the manifest as a file',
    })
}

/** Throws `usage` for anything but none, client and server. */
export function dryRunOf({ dryRun = 'none' }: UpgradeOptions): 'client' | 'server' | undefined {
  if (dryRun === 'none') return undefined
  if (dryRun === 'client' || dryRun === 'server') return dryRun
  throw usageError('dry-run', `--dry-run takes none, client or server, not ${JSON.stringify(dryRun)}`)
}

/** The flags that make a plan, in the words of the command line; a sealed plan keeps their values. */
const kept = [
  'to',
  'method',
  'manifest',
  'manifestBase',
  'manifestSha256',
  'via',
  'between',
  'rewriteNamespace',
  'imageRegistry',
  'catalogFile',
  'approveAlso',
  'stableFor',
  'pauseUpdates',
  'leavePaused',
  'waitWorkloads',
  'migrations',
  'migrationsTimeout',
  'follow',
] as const satisfies (keyof UpgradeOptions)[]

type SealedRequest = Pick<UpgradeOptions, (typeof kept)[number]>

/** `chosen`: what `auto` came to, the releases between, and the checksums of the manifests that were read. A login in an address is not kept. */
export function sealedRequest(
  options: UpgradeOptions,
  chosen: Pick<UpgradeOptions, 'method' | 'manifestSha256' | 'via'>,
): SealedRequest {
  const asked = Object.entries({ ...options, ...chosen })
    .filter(([name, value]) => isKept(name) && value !== undefined)
    .map(([name, value]): [string, unknown] => [name, asKept(name, value)])
  return Object.fromEntries(asked) as unknown as SealedRequest
}

const addresses: ReadonlySet<string> = new Set(['manifest', 'manifestBase'])

const asKept = (name: string, value: unknown): unknown =>
  addresses.has(name) && typeof value === 'string' ? withoutLogin(value) : value

/** The same words, where no flag says otherwise: what they mean without a plan. */
const silent: Readonly<Record<string, unknown>> = {
  method: 'auto',
  between: 'wait',
  stableFor: '30s',
  pauseUpdates: true,
  migrations: 'wait',
  migrationsTimeout: '30m',
}

/**
 * What was typed, with the plan's values for all that makes a plan. `--manifest` may say where the file lies now where its checksum is sealed,
 * and an address may be given its login again. Throws `usage` for a flag that would make another plan, with `line`, the one that was typed, without it.
 */
export function asPlanned(
  typed: UpgradeOptions,
  request: Readonly<Record<string, unknown>>,
  accepted: readonly { id: string; reason?: string }[],
  line = `kvup upgrade --plan ${shellWord(typed.plan ?? 'FILE')}`,
): UpgradeOptions {
  ensureSound(request)
  if (typed.to !== undefined)
    throw usageError('contradiction', '--to and --plan exclude each other: the plan names the target', {
      remedy: withoutFlags(wordsOf(line), { valued: ['--to'] }).join(' '),
    })
  if (typed.accept.length > 0)
    throw usageError(
      'contradiction',
      '--accept and --plan exclude each other: the plan names the accepted risks',
      {
        remedy: `${planAgain({ request, accepted, file: fileOf(typed) }, typed.accept)}     makes a plan that takes the risk`,
      },
    )
  const other = kept.find((name) => differs(name, typed[name], request))
  if (other !== undefined)
    throw usageError(
      'contradiction',
      `${flagOf(other)} contradicts the plan (${JSON.stringify(request[other] ?? 'nothing of it')})`,
      { remedy: 'omit it, or make a new plan with it' },
    )
  const accept = accepted.map(({ id, reason }) => (reason === undefined ? id : `${id}=${reason}`))
  const { manifest, manifestBase } = typed
  return {
    ...typed,
    ...request,
    ...(manifest !== undefined && { manifest }),
    ...(manifestBase !== undefined && { manifestBase }),
    accept,
  }
}

/** As a sealed plan names the file that it was read from. */
export const fileOf = ({ plan = 'FILE' }: UpgradeOptions): string => (plan === '-' ? 'standard input' : plan)

const choices: Readonly<Record<string, readonly unknown[]>> = {
  method: ['auto', 'image-tag', 'operator-manifest', 'olm'],
  between: ['wait', 'none'],
  migrations: ['wait', 'cancel', 'ignore'],
  pauseUpdates: [true, false],
  leavePaused: [true, false],
  waitWorkloads: [true, false],
  follow: [true, false],
  rewriteNamespace: [true, false],
}

/** Whoever can make a seal can put anything under it. */
function ensureSound(request: Readonly<Record<string, unknown>>): void {
  const wrong = Object.entries(request).find(
    ([name, value]) => !isKept(name) || !(choices[name]?.includes(value) ?? typeof value === 'string'),
  )
  if (wrong === undefined && typeof request['to'] === 'string') return
  throw usageError('not-a-plan', `the plan asks for what kvup does not know: ${wrong?.[0] ?? 'no version'}`, {
    remedy: 'make it anew, by kvup plan with --to and --to-file',
  })
}

function differs(
  name: (typeof kept)[number],
  typed: unknown,
  request: Readonly<Record<string, unknown>>,
): boolean {
  if (name === 'to' || (name === 'manifest' && request['manifestSha256'] !== undefined)) return false
  return typed !== undefined && typed !== silent[name] && asKept(name, typed) !== request[name]
}

const isKept = (name: string): boolean => kept.some((one) => one === name)

/** Whether no flag says the same. */
const isAsWithout = (name: string, value: unknown): boolean =>
  value === undefined || value === silent[name] || (value === false && name !== 'pauseUpdates')

/** As it is typed: `--image-registry`. */
function flagOf(name: string): string {
  const words = name.replaceAll(/[A-Z]/gu, (letter) => `-${letter.toLowerCase()}`)
  return name === 'pauseUpdates' ? '--no-pause-updates' : `--${words}`
}

/** Worked out when the plan is made, not asked for. */
const workedOut: ReadonlySet<string> = new Set(['to', 'manifestSha256'])

/** The line that makes a sealed plan anew, with `more` risks taken: the flags that it was made with, into the same file. */
export function planAgain(
  {
    request,
    accepted,
    file,
  }: Pick<SealedPlan, 'request' | 'file'> & { accepted: readonly { id: string; reason?: string }[] },
  more: readonly string[] = [],
): string {
  const flags = Object.entries(request)
    .filter(([name, value]) => !workedOut.has(name) && !isAsWithout(name, value))
    .map(([name, value]) => (typeof value === 'boolean' ? flagOf(name) : `${flagOf(name)} ${quoted(value)}`))
  const risks = [
    ...accepted.map(({ id, reason }) => (reason === undefined ? id : `${id}=${reason}`)),
    ...more,
  ]
  return [
    `kvup plan --to ${quoted(request['to'])}`,
    ...flags,
    ...risks.map((risk) => `--accept ${shellWord(risk)}`),
    file === 'standard input' ? '-o yaml' : `--to-file ${shellWord(file)}`,
  ].join(' ')
}

const quoted = (value: unknown): string => shellWord(String(value))

interface Question {
  cx: CommandContext
  options: UpgradeOptions
  request: UpgradeRequest
  releases: Releases
  reader: Reader
}

/**
 * Where OLM is the method: what there is of the operator, and where `--to` leads. Throws `usage` for flags of OLM that would not be looked at, and
 * what `seeOperator` and `olmGoal` throw.
 */
export async function withOlm(
  upgradeState: UpgradeState,
  { cx, options, request, releases, reader }: Question,
): Promise<UpgradeState> {
  const { installation } = upgradeState
  const isOlm = chooseMethod(request.method, installation, request.to) === 'olm'
  if (!isOlm || installation.manager.kind !== 'hyperconverged' || request.follow) {
    refuseUnused(options, request)
    return upgradeState
  }
  const [operator, catalog] = await Promise.all([
    seeOperator(reader),
    readCatalog(cx.world, options.catalogFile),
  ])
  return {
    ...upgradeState,
    olm: olmGoal({ request: request.olm, operatorSnapshot: operator, releases, catalog }),
  }
}

function refuseUnused({ catalogFile, approveAlso }: UpgradeOptions, { method }: UpgradeRequest): void {
  if (method === 'olm' || (catalogFile ?? approveAlso) === undefined) return
  const flag = catalogFile === undefined ? '--approve-also' : '--catalog-file'
  throw usageError('catalog-unused', `${flag} has no effect: no HyperConverged owns KubeVirt here`, {
    remedy: 'omit it',
  })
}
