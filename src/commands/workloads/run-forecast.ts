import type { Context } from '../../context.ts'
import type { Rows } from '../../lib/output/printer.ts'
import {
  type ForecastDocument,
  type ForecastScoreDocument,
  forecastScoreView,
  forecastView,
} from '../../lib/output/views/vms/workload-forecast.ts'
import { parseVersion, type Version, versionOf } from '../../lib/releases/release-versions.ts'
import { type ExitCode, exitCode, usageError } from '../../lib/kube/errors.ts'
import { type ForecastItem, type Judging, outcomes } from '../../lib/vms/forecast/vm-forecast.ts'
import {
  type ForecastPage,
  ForecastTotals,
  listForecast,
  probeEvictions,
  scoreForecast,
  whyNotProbed,
} from '../../lib/vms/forecast/forecast-report.ts'
import { speedOf, WholeTime } from '../../lib/vms/forecast/migration-time.ts'
import { parseWanted } from '../../lib/vms/strategy/set-strategy.ts'
import { type ReadCluster, partlyUnread, readerFor } from '../../lib/kube/saved/read-cluster.ts'
import { noSuchPlace, type SelectedVms, selectionOf } from '../../lib/vms/vm-selection.ts'
import { lateRemarks, nodesIn, readRoom, type Room } from '../../lib/vms/forecast/cluster-room.ts'
import { narrowedLine } from '../../lib/kube/shell-line.ts'
import { onceCached } from '../../lib/kube/read-cache.ts'
import type { VirtualMachineInstance } from '../../lib/kube/kinds/kubevirt-kinds.ts'
import { listKubeVirts, homeOf } from '../../lib/kubevirt/snapshot.ts'
import { parseImage } from '../../lib/kubevirt/installation.ts'
import type { Override } from '../../lib/engine/journal.ts'
import { openOverrides } from '../../lib/engine/journal-config-map.ts'
import { knownReleases } from '../../lib/releases/releases.ts'
import {
  dueFor,
  launchersOf,
  type OutlookRules,
  readContext,
  rulesFrom,
  type UpdaterContext,
} from '../../lib/vms/workload-updater.ts'
import { keptMethods, overrideId } from '../../lib/vms/update-methods.ts'

export interface ForecastOptions {
  to?: string
  methods?: string
  probe?: boolean
  allNamespaces?: boolean
  selector?: string
  score?: string
  exitCode?: boolean
  from?: string
}

/** What was asked for, and what is left of the rows once they are printed. */
export interface Foretold {
  selection: SelectedVms
  to: Version | undefined
  totals: ForecastTotals
  current: number
  time: WholeTime | undefined
  unread: { namespace?: string; what: string; why: string }[]
  remarks: string[]
}

/** Says VM by VM what becomes of it, as their pages arrive. Exit 7 where a part may not be read, after what may; changes nothing. */
export async function forecast(cx: Context, options: ForecastOptions): Promise<ExitCode> {
  const selection = selectionOf(options, cx.flags.namespace)
  const to = options.to === undefined ? undefined : parseVersion(options.to)
  const methods = methodsOf(options)
  const snapshot = await readerFor(cx, options.from)
  const basis = readForForecast(snapshot, { selection, to, methods })
  // Awaited with the first page.
  basis.catch(() => undefined)
  const rows = cx.printer.rows('WorkloadForecast', forecastView)
  const foretold: Foretold = {
    selection,
    to,
    totals: new ForecastTotals(),
    current: 0,
    time: undefined,
    unread: [],
    remarks: [],
  }
  await tell(snapshot, { foretold, basis, rows, probe: options.probe === true })
  if (foundNone(foretold)) foretold.remarks.push(...(await noSuchPlace(snapshot, selection)))
  const document = forecastDocument(foretold, await basis)
  const refusal = partlyUnread(document.unread)
  rows.end(document, refusal ? 'partial' : 'complete')
  if (refusal) throw refusal
  return options.exitCode && isUneven(foretold.totals) ? exitCode.asked : exitCode.done
}

function methodsOf({ methods }: ForecastOptions): readonly string[] | undefined {
  if (methods === undefined) return undefined
  const { workloadUpdateMethods } = parseWanted({ methods })
  return Array.isArray(workloadUpdateMethods) ? workloadUpdateMethods : []
}

const foundNone = ({ totals, current, unread }: Foretold): boolean =>
  totals.total + current + unread.length === 0

const isUneven = ({ byFate, total }: ForecastTotals): boolean =>
  total - byFate.migrates - byFate['is down'] > 0

interface Telling {
  foretold: Foretold
  basis: Promise<Basis>
  rows: Rows<ForecastItem, ForecastDocument>
  probe: boolean
}

async function tell(snapshot: ReadCluster, { foretold, basis, rows, probe }: Telling): Promise<void> {
  const { selection } = foretold
  const isCurrent = basis.then((known) => isCurrentFor(known, foretold.to))
  // Both are awaited with the first page, which is read meanwhile.
  const judging = judgingOf(basis)
  for (const early of [isCurrent, judging]) early.catch(() => undefined)
  const notProbed = probe ? await whyNotProbed(snapshot.cluster, selection.namespace) : undefined
  if (notProbed !== undefined) foretold.remarks.push(notProbed)
  const pages = listForecast(snapshot.cluster.reader, { ...selection, isCurrent }, judging)
  for await (const page of pages) {
    const { kubevirt } = (await basis).context
    foretold.time ??= kubevirt && new WholeTime(kubevirt)
    const asked = probe && notProbed === undefined
    const items = asked ? await probeEvictions(snapshot.cluster, page.items, page.vmis) : page.items
    fold(foretold, { ...page, items })
    rows.add(items)
  }
}

const judgingOf = async (basis: Promise<Basis>) => (await basis).judging

function fold(foretold: Foretold, { items, current, unread }: ForecastPage): void {
  foretold.current += current
  foretold.unread.push(...unread)
  for (const item of items) {
    foretold.totals.add(item)
    if (item.seconds) foretold.time?.addMigration(item.node ?? '', item.seconds)
    else if (item.will === 'restarts' || item.will === 'shuts down' || item.will === 'is lost')
      foretold.time?.addEviction()
  }
}

/** Everything besides the rows. Pure. */
export function forecastDocument(
  { selection, to, totals, current, time, unread, remarks }: Foretold,
  { at, context, room, judging, methodsFrom, remarks: known }: Basis,
): ForecastDocument {
  const next = nextOf(totals.byFate, {
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
    totals: { total: totals.total, byFate: totals.byFate, current, namespaces: totals.namespaces },
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
  counts: Foretold['totals']['byFate'],
  { selection, to, methodsFrom, methods = [] }: Judged,
): string | undefined {
  if (to !== undefined) return `kvup plan --to ${to}`
  const interrupted = counts.restarts + counts['shuts down'] + counts['is lost']
  if (interrupted + counts.stays + counts.migrates === 0) return undefined
  if (methodsFrom === 'flag')
    return `kvup workloads strategy set --methods ${methods.join(',') || 'none'} --dry-run=client`
  if (methodsFrom === 'loan') return narrowedLine('kvup workloads update', selection)
  return interrupted > 0 ? 'kvup workloads hold' : narrowedLine('kvup workloads outdated', selection)
}

/** Everything that a forecast rests on besides the VMs. */
export interface Basis {
  /** When it was read. */
  at: Date
  context: UpdaterContext
  methodsFrom: 'cluster' | 'loan' | 'flag' | 'unknown'
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
  const [context, room, { loan, unread }] = await Promise.all([
    surrounding,
    readRoom(
      reader,
      surrounding.then((known) => known.kubevirt),
    ),
    home.then((known) => overrideOf(cluster, known, clock)),
  ])
  const { kubevirt } = context
  const at = clock.now()
  const rules = rulesFrom(context, { asked: asked.selection, releases: knownReleases, at })
  const kept = loan && keptMethods(loan)
  const methods = asked.methods ?? kept ?? rules?.methods ?? []
  const judged = rules && rulesAfter({ ...rules, ...nodesIn(room), methods }, asked.to, at)
  return {
    at,
    context,
    room,
    methodsFrom: whence(asked, { loan: loan !== undefined, known: rules !== undefined }),
    judging: judged && kubevirt && { rules: judged, room, speed: speedOf(kubevirt) },
    remarks: [...context.remarks, ...unread],
  }
}

async function overrideOf(
  cluster: ReadCluster['cluster'],
  namespace: string | undefined,
  clock: ReadCluster['clock'],
): Promise<{ loan?: Override | undefined; unread: readonly string[] }> {
  if (namespace === undefined) return { unread: [] }
  const found = await openOverrides(cluster, { namespace, clock })
  if ('unread' in found)
    return { unread: [`whether workload updates are held is not known: ${found.unread}`] }
  return { loan: found.loans.find(({ id }) => id === overrideId), unread: [] }
}

function whence(
  { methods }: Asked,
  { loan, known }: { loan: boolean; known: boolean },
): Basis['methodsFrom'] {
  if (methods !== undefined) return 'flag'
  if (loan) return 'loan'
  return known ? 'cluster' : 'unknown'
}

/** After an upgrade nothing of today is the new launcher, and the upgrade is over. */
function rulesAfter(rules: OutlookRules, to: Version | undefined, at: Date): OutlookRules {
  if (to === undefined) return rules
  const launcher = launchersOf({ image: undefined, version: undefined }, knownReleases, at)
  return { ...rules, updating: false, launcher }
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

interface SavedForecast {
  asOf: string
  to?: string
  items: readonly ForecastItem[]
}

/** Says of each VM of an earlier forecast what became of it. Exit 10 with --exit-code where one went another way. Throws `usage` for a file that is none. */
export async function score(cx: Context, file: string, options: ForecastOptions): Promise<ExitCode> {
  const saved = await savedForecast(cx, file)
  const { cluster, clock } = await readerFor(cx, options.from)
  const rows = cx.printer.rows('WorkloadForecast', forecastScoreView)
  const { items, agreed, unknown } = await scoreForecast(cluster.reader, saved.items)
  rows.add(items)
  const document: ForecastScoreDocument = {
    apiVersion: 'kvup.io/v1alpha1',
    kind: 'WorkloadForecast',
    asOf: clock.now().toISOString(),
    forecastOf: { asOf: saved.asOf, ...(saved.to !== undefined && { to: saved.to }) },
    score: { total: items.length, agreed, unknown },
  }
  rows.end(document)
  return options.exitCode && agreed < items.length ? exitCode.asked : exitCode.done
}

async function savedForecast({ world }: Context, file: string): Promise<SavedForecast> {
  const text = file === '-' ? await world.readStdin() : await read(world, file)
  try {
    const saved: unknown = JSON.parse(text)
    if (isForecast(saved)) return saved
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error
  }
  throw usageError('not-a-forecast', `${JSON.stringify(file)} holds no forecast`, {
    remedy: 'kvup workloads forecast -o json > FILE, before the VMs are moved',
  })
}

async function read(world: Context['world'], file: string): Promise<string> {
  try {
    return await world.readText(file)
  } catch (cause) {
    throw usageError('no-such-file', `cannot read ${JSON.stringify(file)}`, { cause })
  }
}

function isForecast(saved: unknown): saved is SavedForecast {
  const { kind, asOf, items } = (saved ?? {}) as Record<string, unknown>
  return (
    kind === 'WorkloadForecast' && typeof asOf === 'string' && Array.isArray(items) && items.every(isItem)
  )
}

function isItem(item: unknown): item is ForecastItem {
  const { namespace, name, will } = (item ?? {}) as Record<string, unknown>
  const known = will === undefined || outcomes.some((one) => one === will)
  return typeof namespace === 'string' && typeof name === 'string' && known
}
