import type { Context } from '../../context.ts'
import { blocked, type ExitCode, exitCode, usageError } from '../../lib/kube/errors.ts'
import { shellWord } from '../../lib/kube/shell-line.ts'
import { readerFor } from '../../lib/kubevirt/snapshot.ts'
import { faultRehearsalsView, rehearsalView } from '../../lib/output/views/rehearsal.ts'
import { readGraph } from '../../lib/eus/planned-eus.ts'
import { kubeVirtAt } from '../../lib/rehearsal/catalog-twin.ts'
import { type ClusterTwin, readClusterTwin, type TwinFiles } from '../../lib/rehearsal/cluster-twin.ts'
import type { FaultRehearsals, Played, Rehearsal } from '../../lib/rehearsal/rehearsal.ts'
import { faultsNamed, type TwinFault, twinFaults } from '../../lib/rehearsal/twin-faults.ts'
import { makesCatalog, readCatalog } from '../../lib/releases/catalog-path.ts'
import type { Method } from '../../lib/releases/hop-findings.ts'
import { minorsTo, nextEus } from '../../lib/releases/platform-releases.ts'
import { minorOfPlatform, parsePlatformMinor, parseVersion } from '../../lib/releases/release-versions.ts'
import { knownReleases } from '../../lib/releases/releases.ts'
import { fetchesGraph } from '../../lib/releases/update-graph.ts'
import { typedTarget } from '../../lib/upgrade/plan/upgrade-options.ts'
import { withRisks } from '../run-change.ts'
import { playTwin, type Play, type TypedUpgrade } from './play-twin.ts'

export interface RehearseOptions {
  to?: string
  /** The EUS upgrade of the platform, in the place of one of KubeVirt. */
  eus?: boolean
  method: 'auto' | Method
  catalogFile?: string
  graphFile?: string
  from?: string
  fault: readonly string[]
  /** Names, separated by commas, or `all`: each in a rehearsal of its own. */
  faults?: string
  seed: string
  accept: readonly string[]
}

/**
 * `kvup rehearse`: the upgrade, carried out on a twin of the cluster in this process. Exit 0: through, 4: it would stall, 3: it is blocked. With `--faults` a rehearsal for each fault, and 0 where
 * the upgrade itself goes through without any.
 */
export async function rehearse(cx: Context, options: RehearseOptions): Promise<ExitCode> {
  const typed = typedUpgrade(options)
  const seed = seedOf(options)
  const each = eachOf(options)
  const together = faultsNamed(options.fault)
  const files = await readFiles(cx, options)
  const { cluster, clock } = await readerFor(cx, options.from)
  cx.printer.awaiting('reading the cluster')
  const twin = await readClusterTwin(cluster.reader, clock, files)
  const upgrade = rehearsedUpgrade(twin, typed)
  const asked: Omit<Play, 'faults'> = {
    twin,
    typed: upgrade.typed,
    to: upgrade.kubevirt,
    seed,
    at: clock.now(),
  }
  const about = {
    apiVersion: 'kvup.io/v1alpha1',
    product: upgrade.product,
    from: upgrade.from,
    to: upgrade.to,
    seed,
    twin: twin.counts,
  } as const
  cx.printer.awaiting('playing the upgrade on the twin')
  const played = await playTwin(cx, { ...asked, faults: together })
  const next = nextLines(played, upgrade, options)
  if (each === undefined) {
    const faults = together.map(({ name }) => name)
    const document: Rehearsal = {
      ...about,
      kind: 'Rehearsal',
      ...(faults.length > 0 && { faults }),
      ...played,
      missing: twin.missing,
      next,
    }
    cx.printer.result(document, rehearsalView)
    return codes[played.outcome]
  }
  const items: FaultRehearsals['items'][number][] = []
  for (const fault of saysNothing(played) ? [] : each) {
    cx.printer.awaiting(`playing the upgrade with the fault ${fault.name}`)
    const { name, title } = fault
    items.push({ fault: name, title, ...withoutVms(await playTwin(cx, { ...asked, faults: [fault] })) })
  }
  const { outcome, why, upgradeSeconds } = played
  const without = {
    outcome,
    ...(upgradeSeconds !== undefined && { upgradeSeconds }),
    ...(why && { why }),
  }
  cx.printer.result<FaultRehearsals>(
    { ...about, kind: 'FaultRehearsals', without, items, missing: twin.missing, next },
    faultRehearsalsView,
  )
  return codes[played.outcome]
}

/** A fault says nothing of an upgrade that is not even begun, or has nothing to do. */
const saysNothing = ({ outcome, stages }: Played): boolean => outcome === 'blocked' || stages.length === 0

/** Throws `usage` for what cannot be meant, before the cluster is read. */
function typedUpgrade(options: RehearseOptions): TypedUpgrade {
  const { eus = false, to, method, catalogFile, graphFile, accept } = options
  const files = {
    ...(catalogFile !== undefined && { catalogFile }),
    ...(graphFile !== undefined && { graphFile }),
  }
  if (eus) {
    if (method !== 'auto' && method !== 'olm')
      throw usageError('contradiction', `--eus and --method ${method} exclude each other`)
    const minor = to === undefined ? {} : { to: parsePlatformMinor(to) }
    return { command: 'eus run', ...minor, method: 'olm', ...files, accept }
  }
  if (graphFile !== undefined)
    throw usageError('contradiction', '--graph-file is for a rehearsal of an EUS upgrade: add --eus')
  return { command: 'upgrade', to: typedTarget(options), method, ...files, accept }
}

async function readFiles(
  { world }: Context,
  { catalogFile, graphFile, to }: RehearseOptions,
): Promise<TwinFiles> {
  return {
    releases: knownReleases,
    catalog: await readCatalog(world, catalogFile),
    graph: await readGraph(world, graphFile, to),
  }
}

interface RehearsedUpgrade {
  typed: TypedUpgrade
  product: Rehearsal['product']
  from: string
  to: string
  /** At its end. */
  kubevirt: string
}

/** Throws `blocked` where the cluster is not one that such an upgrade is for, or where its twin would end halfway. */
function rehearsedUpgrade(twin: ClusterTwin, typed: TypedUpgrade): RehearsedUpgrade {
  if (typed.command === 'eus run') return rehearsedEus(twin, typed)
  const { version = '', olm } = twin.shape
  const { to = '' } = typed
  if (olm !== undefined) {
    const kubevirt = kubeVirtAt(twin.releases, to) ?? version
    return { typed, product: 'HyperConverged', from: olm.installed, to, kubevirt }
  }
  const target = parseVersion(to).text
  const product = 'KubeVirt'
  return { typed: { ...typed, to: target }, product, from: version, to: target, kubevirt: target }
}

function rehearsedEus({ shape, releases }: ClusterTwin, typed: TypedUpgrade): RehearsedUpgrade {
  const { version = '', olm, openshift } = shape
  const { to = '' } = typed
  if (openshift === undefined)
    throw blocked('no-cluster-version', 'this cluster is not OKD or OpenShift: it has no EUS upgrade', {
      remedy: 'kvup rehearse --help',
    })
  const here = minorOfPlatform(openshift.version)
  const target = to === '' ? nextEus(here) : to
  if (target === undefined || minorsTo(here, target) === undefined)
    throw blocked('no-eus-path', `kvup knows no upgrade from ${here} to ${target ?? 'an EUS release'}`, {
      remedy: 'kvup eus plan',
    })
  ensureKnown(openshift.graph, target, typed)
  if (olm !== undefined && !releases.some(({ platform }) => platform === target))
    throw blocked(
      'path-unknown',
      `the cluster does not show the catalog of ${target}: a rehearsal of its operator needs it`,
      { remedy: [makesCatalog(target), lineWith(typed, target, { catalogFile: 'catalog.yaml' })] },
    )
  const kubevirt = kubeVirtAt(releases, target) ?? version
  const product = 'OpenShift'
  return { typed: { ...typed, to: target }, product, from: openshift.version, to: target, kubevirt }
}

function ensureKnown(graph: readonly { version: string }[], target: string, typed: TypedUpgrade): void {
  if (graph.some(({ version }) => minorOfPlatform(version) === target)) return
  throw blocked(
    'path-unknown',
    `the cluster shows only its next update: a rehearsal to ${target} needs the graph of the update service`,
    { remedy: [fetchesGraph(target), lineWith(typed, target, { graphFile: 'graph.json' })] },
  )
}

function lineWith(typed: TypedUpgrade, to: string, more: Partial<TypedUpgrade>): string {
  const { graphFile, catalogFile } = { ...typed, ...more }
  const files = [...named('--graph-file', graphFile), ...named('--catalog-file', catalogFile)].join('')
  return `kvup rehearse --eus --to ${to}${files}     plays it with the whole upgrade path`
}

function withoutVms(played: Played): Omit<Played, 'vms' | 'stages'> {
  const { vms: _, stages: __, ...rest } = played
  return rest
}

const codes = { through: exitCode.done, stalls: exitCode.timedOut, blocked: exitCode.blocked } as const

function seedOf({ seed }: RehearseOptions): number {
  const number = Number(seed)
  if (/^\d+$/u.test(seed) && Number.isSafeInteger(number)) return number
  throw usageError('seed', `--seed takes a whole number, not ${JSON.stringify(seed)}`)
}

function eachOf({ faults, fault }: RehearseOptions): readonly TwinFault[] | undefined {
  if (faults === undefined) return undefined
  if (fault.length > 0)
    throw usageError(
      'contradiction',
      '--fault and --faults exclude each other: --fault plays them together, --faults one after the other',
    )
  return faults === 'all' ? twinFaults : faultsNamed(faults.split(','))
}

/** What can be looked at in the cluster now. Pods of the twin are not there. */
function nextLines(
  { outcome, why }: Played,
  { typed }: RehearsedUpgrade,
  { accept, from }: RehearseOptions,
): string[] {
  const { command, to = '', catalogFile, graphFile } = typed
  const isEus = command === 'eus run'
  const files = [...named('--graph-file', graphFile), ...named('--catalog-file', catalogFile)].join('')
  const accepting = (line: string, more: readonly string[] = []) =>
    withRisks(
      line,
      [...accept, ...more].map((id) => ({ id })),
    )
  const saved = named('--from', from).join('')
  const target = `--to ${shellWord(to)}`
  if (outcome === 'through') {
    const approve = isEus ? ' --approve' : ''
    return [`${accepting(`kvup ${command} ${target}${files}${approve}`)}     # does it in the cluster`]
  }
  const risks = risksIn(why?.remedy ?? [])
  const looks = isEus
    ? `kvup eus plan ${target}${files}${saved}`
    : `kvup ${typed.method === 'olm' || catalogFile !== undefined ? 'plan' : 'check'} ${target}${saved}`
  if (outcome === 'blocked' && risks.length > 0)
    return [
      `${looks}     # says what the risk is`,
      `${accepting(`kvup rehearse${isEus ? ' --eus' : ''} ${target}${files}${saved}`, risks)}     # plays it with the risk accepted`,
    ]
  return [`${looks}     # says what can be seen beforehand`]
}

const named = (name: string, value: string | undefined): string[] =>
  value === undefined ? [] : [` ${name} ${shellWord(value)}`]

/** Names that a line accepts which the upgrade offers. */
const risksIn = (lines: readonly string[]): readonly string[] =>
  lines
    .filter((line) => /^kvup (?:upgrade|eus (?:run|plan)) /u.test(line))
    .flatMap((line) =>
      [...line.matchAll(/ --accept (?<risk>[a-z0-9-]+)/gu)].map(({ groups }) => groups?.['risk'] ?? ''),
    )
