import type { Unread, UnreadPart } from '../../kube/readable-pages.ts'
import type { Reader } from '../../kube/cluster.ts'
import { openOverrides } from '../../engine/overrides.ts'
import { narrowedLine } from '../../output/kvup-words.ts'
import { type Version, versionOf } from '../../releases/release-versions.ts'
import { jointly, type Judging } from './vm-forecast.ts'
import { type Span, speedOf, type WholeTime } from './migration-time.ts'
import { homeOf, listKubeVirts, type ReadCluster } from '../../kubevirt/snapshot.ts'
import { lateRemarks, nodesIn, readRoom, type Room } from './cluster-room.ts'
import { onceCached } from '../../kube/read-cache.ts'
import type { VirtualMachineInstance } from '../../kube/kinds/kubevirt-kinds.ts'
import { parseImage } from '../../kubevirt/installation.ts'
import type { Override } from '../../engine/journal.ts'
import { knownReleases } from '../../releases/releases.ts'
import {
  dueFor,
  launchersOf,
  type OutlookRules,
  readContext,
  rulesFrom,
  type UpdaterContext,
} from '../workload-updater.ts'
import { keptMethods, overrideId } from '../update-methods.ts'
import type { Counts, ForecastPage, ForecastTotals, NamespaceTotals } from './forecast-report.ts'
import type { SelectedVms } from '../vm.ts'

/** What was asked for, and what is left of the rows once they are printed. */
export interface Foretold {
  selection: SelectedVms
  to: Version | undefined
  totals: ForecastTotals
  current: number
  time: WholeTime | undefined
  unread: Unread[]
  remarks: string[]
}

export const foundNone = ({ totals, current, unread }: Foretold): boolean =>
  totals.total + current + unread.length === 0

export const isUneven = ({ byOutcome, total }: ForecastTotals): boolean =>
  total - byOutcome.migrates - byOutcome['is down'] > 0

export function fold(foretold: Foretold, { items, current, unread }: ForecastPage): void {
  foretold.current += current
  foretold.unread.push(...unread)
  for (const item of items) {
    foretold.totals.add(item)
    if (item.seconds) foretold.time?.addMigration(item.node ?? '', item.seconds)
    else if (item.outcome === 'restarts' || item.outcome === 'shuts down' || item.outcome === 'is lost')
      foretold.time?.addEviction()
  }
}

/** Everything besides the rows. Pure. */
export function forecastDocument(
  { selection, to, totals, current, time, unread, remarks }: Foretold,
  { at, context, room, judging, methodsFrom, remarks: known }: Basis,
): ForecastDocument {
  const next = nextOf(totals.byOutcome, {
    selection,
    to: to?.text,
    methodsFrom,
    methods: judging?.rules.methods,
  })
  const span = time?.span
  return {
    apiVersion: 'kvup.io/v1alpha1',
    kind: 'WorkloadForecast',
    asOf: at.toISOString(),
    selection,
    ...(to && { to: to.text }),
    ...(judging && { methods: judging.rules.methods }),
    methodsFrom,
    totals: { total: totals.total, byOutcome: totals.byOutcome, current, namespaces: totals.namespaces },
    ...(span && { seconds: span }),
    unread: [...context.unread, ...unread],
    remarks: [...known, ...room.remarks, ...lateRemarks(room), ...remarks],
    ...(next !== undefined && { next }),
  }
}

interface Judged {
  selection: SelectedVms
  to: string | undefined
  methodsFrom: Basis['methodsFrom']
  methods: readonly string[] | undefined
}

/** What is held, or only supposed, needs no hold. */
function nextOf(
  counts: Foretold['totals']['byOutcome'],
  { selection, to, methodsFrom, methods = [] }: Judged,
): string | undefined {
  if (to !== undefined) return `kvup plan --to ${to}`
  const interrupted = counts.restarts + counts['shuts down'] + counts['is lost']
  if (interrupted + counts.stays + (counts.restart ?? 0) + counts.migrates === 0) return undefined
  if (methodsFrom === 'flag')
    return `kvup workloads strategy set --methods ${methods.join(',') || 'none'} --dry-run=client`
  if (methodsFrom === 'override') return narrowedLine('kvup workloads update', selection)
  return interrupted > 0 ? 'kvup workloads pause-updates' : narrowedLine('kvup workloads outdated', selection)
}

/** Besides its `items`, which are ForecastItem. Times are RFC 3339. */
export interface ForecastDocument {
  apiVersion: 'kvup.io/v1alpha1'
  kind: 'WorkloadForecast'
  asOf: string
  selection: { namespace?: string; labels?: string }
  /** The version that was asked for; absent: the one that is installed. */
  to?: string
  /** The methods that it is judged by. Absent: they may not be read. */
  methods?: readonly string[]
  /** `override`: kvup borrowed them, and gives these back; `flag`: --methods. */
  methodsFrom: 'cluster' | 'override' | 'flag' | 'unknown'
  totals: {
    total: number
    byOutcome: Counts
    /** VMs that run the new virt-launcher already: no rows. */
    current: number
    namespaces: readonly NamespaceTotals[]
  }
  /** How long the whole takes, in seconds; absent: nothing moves, or it is not known. */
  seconds?: Span
  unread: readonly UnreadPart[]
  remarks: readonly string[]
  next?: string
}

export const judgingOf = async (basis: Promise<Basis>) => (await basis).judging

/** Everything that a forecast rests on besides the VMs. */
export interface Basis {
  /** When it was read. */
  at: Date
  context: UpdaterContext
  methodsFrom: 'cluster' | 'override' | 'flag' | 'unknown'
  room: Room
  /** Undefined: the KubeVirt CR may not be read. */
  judging: Judging | undefined
  remarks: readonly string[]
}

interface Asked {
  selection: SelectedVms
  to: Version | undefined
  /** Of --methods. */
  methods: readonly string[] | undefined
}

/** Borrowed methods are given back: what they were decides. Throws what reading throws but 403 and 404. */
export async function readForForecast({ cluster, clock }: ReadCluster, asked: Asked): Promise<Basis> {
  const reader = onceCached(cluster.reader)
  const home = listKubeVirts(reader).then(homeOf)
  const surrounding = home.then((known) => readContext(reader, clock, asked.selection.namespace, known))
  const [context, room, { override, unread }] = await Promise.all([
    surrounding,
    readRoom(
      reader,
      surrounding.then((known) => known.kubevirt),
    ),
    home.then((known) => overrideOf(cluster.reader, known)),
  ])
  const { kubevirt } = context
  const at = clock.now()
  const rules = rulesFrom(context, { asked: asked.selection, releases: knownReleases, at })
  const kept = override && keptMethods(override)
  const methods = asked.methods ?? kept ?? rules?.methods ?? []
  const judged = rules && rulesAfter({ ...rules, ...nodesIn(room), methods }, asked.to, at)
  return {
    at,
    context,
    room,
    methodsFrom: whence(asked, { override: override !== undefined, known: rules !== undefined }),
    judging: judged &&
      kubevirt && { rules: judged, room, speed: speedOf(kubevirt), ...jointly(room, kubevirt) },
    remarks: [...context.remarks, ...unread],
  }
}

async function overrideOf(
  reader: Reader,
  namespace: string | undefined,
): Promise<{ override?: Override | undefined; unread: readonly string[] }> {
  if (namespace === undefined) return { unread: [] }
  const found = await openOverrides(reader, namespace)
  if ('unread' in found)
    return { unread: [`kvup does not know whether automatic VM updates are paused: ${found.unread}`] }
  return { override: found.overrides.find(({ id }) => id === overrideId), unread: [] }
}

function whence(
  { methods }: Asked,
  { override: isPaused, known }: { override: boolean; known: boolean },
): Basis['methodsFrom'] {
  if (methods !== undefined) return 'flag'
  if (isPaused) return 'override'
  return known ? 'cluster' : 'unknown'
}

/** After an upgrade nothing of today is the new launcher, and the upgrade is over. */
function rulesAfter(rules: OutlookRules, to: Version | undefined, at: Date): OutlookRules {
  if (to === undefined) return rules
  const launcher = launchersOf({ image: undefined, version: undefined }, knownReleases, at)
  return { ...rules, updating: false, launcher, installs: to.text }
}

/** Which VMIs have nothing to be done for: by the version of their launcher where an upgrade is asked for, else as KubeVirt counts. */
export function isCurrentFor(
  { context: { launcher } }: Basis,
  to: Version | undefined,
): (vmi: VirtualMachineInstance) => boolean {
  if (to === undefined) return (vmi) => vmi.status?.phase === 'Running' && dueFor(vmi, launcher) === undefined
  return ({ status }) =>
    versionOf(parseImage(status?.launcherContainerImageVersion ?? '').tag)?.text === to.text
}
