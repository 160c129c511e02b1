import { readGraph } from '../../lib/eus/planned-eus.ts'
import { parseDuration } from '../../lib/kube/duration.ts'
import { harmsOf } from '../../lib/engine/change.ts'
import { blocked, usageError } from '../../lib/kube/errors.ts'
import { shellWord } from '../../lib/kube/shell-line.ts'
import { kubeVirtAt } from '../../lib/rehearsal/catalog-twin.ts'
import type { ClusterTwin, TwinFiles } from '../../lib/rehearsal/cluster-twin.ts'
import type { Played, Rehearsal } from '../../lib/rehearsal/rehearsal.ts'
import { makesCatalog, readCatalog } from '../../lib/releases/catalog-path.ts'
import type { Method } from '../../lib/releases/hop-findings.ts'
import { minorsTo, nextEus } from '../../lib/releases/platform-releases.ts'
import {
  minorOfPlatform,
  parsePlatformMinor,
  parseVersion,
  type Version,
  versionOf,
} from '../../lib/releases/release-versions.ts'
import { candidatesIn, hop, releasesLeft } from '../../lib/releases/release-path.ts'
import { knownReleases } from '../../lib/releases/releases.ts'
import { fetchesGraph } from '../../lib/releases/update-graph.ts'
import { typedTarget } from '../../lib/upgrade/plan/upgrade-options.ts'
import type { Context } from '../../context.ts'
import { withRisks } from '../run-change.ts'

/** Which upgrade is rehearsed: what goes on to it as it was typed. */
export interface UpgradeFlags {
  to?: string
  /** The EUS upgrade of the platform, in the place of one of KubeVirt. */
  eus?: boolean
  method: 'auto' | Method
  catalogFile?: string
  graphFile?: string
  /** As `kvup upgrade` and `kvup eus run` take them; absent: their defaults. */
  approval?: 'Manual' | 'Automatic'
  approveAlso?: readonly string[]
  via?: string
  stableFor?: string
  timeout?: string
  leavePaused?: boolean
  accept: readonly string[]
}

/** As it is typed, with its value where it has one. */
type Flag = readonly [name: string] | readonly [name: string, value: string]

/** What would be typed on the cluster: `kvup upgrade` with a target of KubeVirt or its operator, or `kvup eus run` with a minor of the platform. */
export interface TypedUpgrade {
  command: 'upgrade' | 'eus run'
  /** Absent: the next EUS release. */
  to?: string
  method: 'auto' | Method
  /** All others but for what is accepted. */
  flags: readonly Flag[]
  accept: readonly string[]
}

/** Throws `usage` for what cannot be meant, before the cluster is read. */
export function typedUpgrade(options: UpgradeFlags): TypedUpgrade {
  const { eus = false, to, method, accept, via, graphFile, approval, timeout } = options
  if (timeout !== undefined) parseDuration(timeout)
  const flags = flagsOf(options)
  if (!eus) {
    const ofEus =
      graphFile === undefined ? (approval === undefined ? undefined : '--approval') : '--graph-file'
    if (ofEus !== undefined)
      throw usageError('contradiction', `${ofEus} is for a rehearsal of an EUS upgrade: add --eus`)
    return { command: 'upgrade', to: typedTarget(options), method, flags, accept }
  }
  if (method !== 'auto' && method !== 'olm')
    throw usageError('contradiction', `--eus and --method ${method} exclude each other`)
  if (via !== undefined)
    throw usageError('contradiction', '--eus and --via exclude each other: the graph decides the releases')
  if (options.leavePaused)
    throw usageError(
      'contradiction',
      '--eus and --leave-paused exclude each other: pools wait for VM updates',
    )
  const minor = to === undefined ? {} : { to: parsePlatformMinor(to) }
  return { command: 'eus run', ...minor, method: 'auto', flags, accept }
}

const flagsOf = (options: UpgradeFlags): readonly Flag[] => [
  ...flag('--via', options.via),
  ...flag('--stable-for', options.stableFor),
  ...flag('--timeout', options.timeout),
  ...flag('--graph-file', options.graphFile),
  ...flag('--catalog-file', options.catalogFile),
  ...flag('--approval', options.approval),
  ...(options.approveAlso ?? []).flatMap((name) => flag('--approve-also', name)),
  ...(options.leavePaused ? [leavePaused] : []),
]

const leavePaused: Flag = ['--leave-paused']

const flag = (name: string, value: string | undefined): readonly Flag[] =>
  value === undefined ? [] : [[name, value]]

/** What the cluster does not show. Throws `usage` for a file that cannot be read. */
export async function readFiles(
  { world }: Pick<Context, 'world'>,
  { catalogFile, graphFile, to }: UpgradeFlags,
): Promise<TwinFiles> {
  return {
    releases: knownReleases,
    catalog: await readCatalog(world, catalogFile),
    graph: await readGraph(world, graphFile, to),
  }
}

/** The upgrade of this cluster. */
export interface RehearsedUpgrade {
  typed: TypedUpgrade
  product: Rehearsal['product']
  from: string
  to: string
  /** What its first step installs: over several minors not `to`. What kvup finds in the cluster now is found about this. */
  first: string
  /** At its end. */
  kubevirt: string
}

/** Throws `blocked` where the cluster is not one that such an upgrade is for, or where its twin would end halfway. */
export function rehearsedUpgrade(twin: ClusterTwin, typed: TypedUpgrade): RehearsedUpgrade {
  if (typed.command === 'eus run') return rehearsedEus(twin, typed)
  const { version = '', olm } = twin.shape
  const { to = '' } = typed
  if (olm !== undefined) {
    const kubevirt = kubeVirtAt(twin.releases, to) ?? version
    // As `kvup upgrade` reads it: a `v` says KubeVirt.
    const isKubeVirt = to.startsWith('v') && kubevirt === to
    const said = isKubeVirt
      ? ({ product: 'KubeVirt', from: version } as const)
      : ({ product: 'HyperConverged', from: olm.installed } as const)
    return { typed, ...said, to, first: to, kubevirt }
  }
  const target = parseVersion(to)
  const first = firstStep(version, target, valueOf(typed.flags, '--via')).text
  return {
    typed: { ...typed, to: target.text },
    product: 'KubeVirt',
    from: version,
    to: target.text,
    first,
    kubevirt: target.text,
  }
}

/** As `kvup upgrade` chooses it where there are no manifests to choose by. Throws `usage` for releases in between that do not follow on what is installed. */
function firstStep(installed: string, to: Version, via: string | undefined): Version {
  const from = versionOf(installed)
  if (from === undefined) return to
  if (via !== undefined) return releasesLeft({ from, to, via: via.split(',').map(parseVersion) })[0] ?? to
  const [minor] = hop(from, to).skipped ?? []
  return (minor === undefined ? undefined : candidatesIn(minor, from, knownReleases)[0]) ?? to
}

function rehearsedEus({ shape, releases }: ClusterTwin, typed: TypedUpgrade): RehearsedUpgrade {
  const { version = '', olm, openshift } = shape
  if (openshift === undefined)
    throw blocked('no-cluster-version', 'this cluster is not OKD or OpenShift: it has no EUS upgrade', {
      remedy: 'kvup check      says where KubeVirt stands',
    })
  const here = minorOfPlatform(openshift.version)
  const to = typed.to ?? nextEus(here)
  if (to === undefined || minorsTo(here, to) === undefined)
    throw blocked('no-eus-path', `kvup knows no upgrade from ${here} to ${to ?? 'an EUS release'}`, {
      remedy: 'kvup eus plan',
    })
  const plays = (name: string, file: string) =>
    `${lineOf('rehearse --eus', to, replaced(typed.flags, name, file))}     plays it with the whole upgrade path`
  if (!openshift.graph.some((release) => minorOfPlatform(release.version) === to)) {
    const given = valueOf(typed.flags, '--graph-file')
    // What is there is of another channel, and is kept.
    const file = given === undefined ? 'graph.json' : `graph-${to}.json`
    throw blocked(
      'path-unknown',
      given === undefined
        ? `the cluster shows only its next update: a rehearsal to ${to} needs the graph of the update service`
        : `${given} has no release of ${to}: a rehearsal needs the graph of a channel that has`,
      { remedy: [fetchesGraph(to, file), plays('--graph-file', file)] },
    )
  }
  if (olm !== undefined && !releases.some(({ platform }) => platform === to)) {
    const given = valueOf(typed.flags, '--catalog-file')
    throw blocked(
      'path-unknown',
      given === undefined
        ? `the cluster does not show the catalog of ${to}: a rehearsal of its operator needs it`
        : `${given} is not the catalog of ${to}: a rehearsal of its operator needs that`,
      { remedy: [makesCatalog(to), plays('--catalog-file', 'catalog.yaml')] },
    )
  }
  const kubevirt = kubeVirtAt(releases, to) ?? version
  return { typed: { ...typed, to }, product: 'OpenShift', from: openshift.version, to, first: to, kubevirt }
}

const valueOf = (flags: readonly Flag[], wanted: string): string | undefined =>
  flags.find(([name]) => name === wanted)?.[1]

function replaced(flags: readonly Flag[], name: string, value: string): readonly Flag[] {
  const place = flags.findIndex((one) => one[0] === name)
  return place < 0 ? [...flags, [name, value]] : flags.with(place, [name, value])
}

const lineOf = (command: string, to: string, flags: readonly Flag[]): string =>
  ['kvup', command, '--to', shellWord(to), ...flags.flat().map(shellWord)].join(' ')

/** Where what was read and what was played is kept, and how it is played again. */
interface Kept {
  /** A saved cluster. */
  from?: string
  /** The rehearsal that is saved. */
  toFile?: string
  /** How it is played. */
  fault?: readonly string[]
  faults?: string
  seed?: string
}

/** The line that carries the upgrade out in the cluster. */
export function upgradeLine({ typed, to }: RehearsedUpgrade, { toFile }: Kept = {}): string {
  const { command, method, flags, accept } = typed
  const more: readonly Flag[] = [
    ...methodFlag(method),
    ...flags,
    // An EUS upgrade is compared with nothing.
    ...(command === 'eus run' ? [['--approve'] as const] : flag('--rehearsal', toFile)),
  ]
  return accepting(lineOf(command, to, more), accept)
}

/** The line that says what kvup finds in the cluster about the first step. */
export function explainingLine({ typed, to, first }: RehearsedUpgrade, kept: Pick<Kept, 'from'>): string {
  const { command, method, flags } = typed
  const saved = flag('--from', kept.from)
  if (command === 'eus run')
    return lineOf('eus plan', to, [...flags.filter(([name]) => ofEusPlan.has(name)), ...saved])
  return lineOf('check', first, [...methodFlag(method), ...saved])
}

const methodFlag = (method: TypedUpgrade['method']): readonly Flag[] =>
  method === 'auto' ? [] : [['--method', method]]

const ofEusPlan: ReadonlySet<string> = new Set(['--graph-file', '--catalog-file'])

/** What can be looked at in the cluster now. Pods of the twin are not there. */
export function nextLines(played: Played, upgrade: RehearsedUpgrade, kept: Kept): string[] {
  const { outcome, why, stages } = played
  if (outcome === 'through' && stages.length === 0) return []
  if (outcome === 'through') return [inCluster(upgrade, 'does it in the cluster', kept)]
  const explaining = explainingLine(upgrade, kept)
  if (outcome === 'timed-out')
    return [
      `${rehearseLine(withTimeout(upgrade, twiceOf(played)), kept)}     # plays it with more time`,
      `${explaining}     # says what can be seen beforehand`,
    ]
  if (outcome === 'blocked') return blockedLines(why?.remedy ?? [], upgrade, kept)
  if (kept.fault !== undefined && kept.fault.length > 0)
    return [`${rehearseLine(upgrade, eachFault(kept))}     # says what helps, and what to type if it happens`]
  return [`${explaining}     # says what can be seen beforehand`]
}

/** By what the upgrade was refused with: its risks are explained, and can be gone round or accepted on the twin. */
function blockedLines(remedy: readonly string[], upgrade: RehearsedUpgrade, kept: Kept): string[] {
  const explaining = explainingLine(upgrade, kept)
  const risks = risksIn(remedy)
  // What a later step of a path is blocked by, a check of the first one may not find.
  const [first] = upgrade.first === upgrade.to ? [] : risks
  if (risks.length === 0) return [`${explaining}     # says what can be seen beforehand`]
  const { typed } = upgrade
  // Over several minors VM updates resume between two steps.
  const isPausable =
    first === undefined &&
    !typed.flags.includes(leavePaused) &&
    remedy.some((line) => line.includes(' --leave-paused '))
  const paused = { ...upgrade, typed: { ...typed, flags: [...typed.flags, leavePaused] } }
  const accepted = { ...upgrade, typed: { ...typed, accept: [...typed.accept, ...risks] } }
  return [
    `${first === undefined ? explaining : `kvup explain ${shellWord(first)}`}     # says what the risk is`,
    ...(isPausable ? [`${rehearseLine(paused, kept)}     # plays it with VM updates left paused`] : []),
    `${rehearseLine(accepted, kept)}     # plays it with the risk accepted`,
  ]
}

/** The upgrade itself, with the harm that it does. */
function inCluster(upgrade: RehearsedUpgrade, does: string, kept?: Kept): string {
  const line = upgradeLine(upgrade, kept)
  return `${line}     # ${does}${harmsOf(line)}`
}

/** Each fault by itself, in the place of all together. */
const eachFault = ({ fault = [], from, seed }: Kept): Kept => ({
  faults: fault.join(','),
  ...(from !== undefined && { from }),
  ...(seed !== undefined && { seed }),
})

function rehearseLine({ typed, to }: RehearsedUpgrade, kept: Kept): string {
  const { command, method, flags, accept } = typed
  const how: readonly Flag[] = [
    ...methodFlag(method),
    ...flags,
    ...flag('--from', kept.from),
    ...(kept.fault ?? []).flatMap((fault) => flag('--fault', fault)),
    ...flag('--faults', kept.faults),
    ...flag('--seed', kept.seed === '1' ? undefined : kept.seed),
    ...flag('--to-file', kept.toFile),
  ]
  return accepting(lineOf(command === 'eus run' ? 'rehearse --eus' : 'rehearse', to, how), accept)
}

/** In whole hours: twice of what it had. */
const twiceOf = ({ upgradeSeconds = 0 }: Played): string => `${Math.ceil((2 * upgradeSeconds) / 3600)}h`

function withTimeout(upgrade: RehearsedUpgrade, timeout: string): RehearsedUpgrade {
  const { flags, ...typed } = upgrade.typed
  return { ...upgrade, typed: { ...typed, flags: replaced(flags, '--timeout', timeout) } }
}

/** What to type where a fault happens in the cluster: what shows it, what goes on once it is fixed, what goes back where that is possible, and what restores what was left. */
export function linesOnFault(
  { outcome, why, left }: Pick<Played, 'outcome' | 'why' | 'left'>,
  upgrade: RehearsedUpgrade,
): string[] {
  if (outcome === 'through') return [inCluster(upgrade, 'goes through anyway')]
  const printed = (why?.remedy ?? []).filter((line) => /^(?:kvup|kubectl|oc) /u.test(line))
  const shows = printed.filter((line) => !/^kvup (?:upgrade|eus|workloads) /u.test(line)).slice(0, 2)
  // The new version is installed: there is nothing to continue.
  if (outcome === 'degraded') return [...shows, ...restoringLines(left, printed)]
  const own = printed.filter((line) => line.startsWith(`kvup ${upgrade.typed.command} `))
  const back = own.filter((line) => / {5}(?:# )?(?:goes back|cancels the downgrade)/u.test(line))
  const continues = own.find((line) => !back.includes(line))
  return [
    ...shows,
    continues ?? inCluster(upgrade, 'continues once that is fixed'),
    ...back,
    ...restoringLines(left, printed),
  ]
}

/** The end of an EUS upgrade restores all that it changed. */
function restoringLines(left: Played['left'], printed: readonly string[]): string[] {
  const lines = new Set(left.map(({ restores }) => restores))
  if (lines.has(abort)) return [`${abort}     # ends the EUS upgrade, and restores what is left behind`]
  return Array.from(
    lines,
    (line) => printed.find((one) => one.startsWith(line)) ?? `${line}     # restores what is left behind`,
  )
}

const abort = 'kvup eus abort'

const accepting = (line: string, risks: readonly string[]): string =>
  withRisks(
    line,
    risks.map((id) => ({ id })),
  )

/** Names that a line accepts which the upgrade offers. */
const risksIn = (lines: readonly string[]): readonly string[] =>
  lines
    .filter((line) => /^kvup (?:upgrade|eus (?:run|plan)) /u.test(line))
    .flatMap((line) =>
      [...line.matchAll(/ --accept (?<risk>[a-z0-9-]+)/gu)].map(({ groups }) => groups?.['risk'] ?? ''),
    )
