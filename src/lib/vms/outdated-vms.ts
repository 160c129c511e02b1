import { openOverrides } from '../engine/overrides.ts'
import { type Reader, orUnserved } from '../kube/cluster.ts'
import { type VirtualMachineInstance, VirtualMachineInstances } from '../kube/kinds/kubevirt-kinds.ts'
import { ApiError, isNotFound } from '../kube/errors.ts'
import {
  isOfVm,
  outdatedIn,
  placeBehind,
  type SelectedVms,
  type Selection,
  type Vm,
  vmName,
  Vms,
} from './vm.ts'
import {
  type Decision,
  decisionOf,
  dueFor,
  effectiveEviction,
  isAlone,
  moves,
  type OutcomeCounts,
  type OutlookRules,
  takesRestart,
  readContext,
  type UpdaterContext,
  type VmOutcome,
} from './workload-updater.ts'
import { pagesAllowed, type Unread, type UnreadPart } from '../kube/readable-pages.ts'
import { condition } from '../kube/object.ts'
import { counted } from '../kube/text.ts'
import { parseImage } from '../kubevirt/installation.ts'
import { versionOf } from '../releases/release-versions.ts'
import { type Outlook, outlookOf, type Reason } from './vm-outlook.ts'
import {
  homeOf,
  listKubeVirts,
  outdatedLabel,
  outdatedOnes,
  type ReadCluster,
  type Snapshot,
} from '../kubevirt/snapshot.ts'
import { onceCached, readAhead } from '../kube/read-cache.ts'
import { launcherImage, type ShownHolder } from '../kubevirt/lease-holders.ts'
import { hours } from '../kube/clock.ts'
import { canNarrow, narrowedLine } from '../output/kvup-words.ts'
import type { Override } from '../engine/journal.ts'
import { methodsOf, moveWhilePaused, overrideId } from './update-methods.ts'

interface HowListed {
  /** Undefined: what decides may not be read. */
  rules: Promise<OutlookRules | undefined>
  remedies: Promise<RemediesAsked>
}

/** What a page of VMIs became, or a namespace that may not be read. */
export interface OutdatedPage {
  items: readonly OutdatedItem[]
  /** Of them: labelled, but not running. */
  notRunning: number
  unread: readonly Unread[]
}

/**
 * The VMIs labelled outdated, page by page as the server sends them, narrowed by the server. A namespace that may not be read is told
 * and not left out. Throws ApiError.
 */
export async function* listOutdated(
  reader: Reader,
  selection: Selection,
  { rules, remedies }: HowListed,
): AsyncGenerator<OutdatedPage> {
  const vmCache = new Vms(reader)
  try {
    for await (const page of pagesAllowed(reader, VirtualMachineInstances, outdatedIn(selection)))
      yield 'unread' in page
        ? { items: [], notRunning: 0, unread: [page.unread] }
        : await told(page.items, await rules, { vmCache, remedies: await remedies })
  } catch (error) {
    if (!isNotFound(error)) throw error
  }
}

async function told(
  vmis: readonly VirtualMachineInstance[],
  rules: OutlookRules | undefined,
  { vmCache, remedies }: { vmCache: Vms; remedies: RemediesAsked },
): Promise<OutdatedPage> {
  const before = new Set(vmCache.unread.keys())
  const asked = rules ? vmis.filter((vmi) => dependsOnVm(vmi, rules, remedies)) : []
  const vms = await vmCache.behind(asked.map(placeBehind))
  const items = vmis.map((vmi) => itemOf(vmi, vms, { rules, unread: vmCache.unread }))
  return {
    items,
    notRunning: vmis.filter((vmi) => !runs(vmi)).length,
    unread: [...vmCache.unread]
      .filter(([namespace]) => !before.has(namespace))
      .map(([namespace, why]) => ({ namespace, what: 'virtualmachines', why })),
  }
}

function itemOf(
  vmi: VirtualMachineInstance,
  vms: ReadonlyMap<string, Vm>,
  { rules, unread }: { rules: OutlookRules | undefined; unread: ReadonlyMap<string, string> },
): OutdatedItem {
  const { namespace, name } = placeBehind(vmi)
  const vmsUnread = unread.has(namespace)
  return outdatedItem(vmi, vms.get(`${namespace}/${name}`), rules && { ...rules, vmsUnread })
}

/** What its VM says changes nothing for those that migrate: most, mostly. */
function dependsOnVm(vmi: VirtualMachineInstance, rules: OutlookRules, remedies: RemediesAsked): boolean {
  if (!isOfVm(vmi)) return false
  const decision = decisionOf(vmi, rules)
  if (takesRestart(vmi, decision, rules)) return true
  if (moves.has(decision)) return isAlone(rules) && remedies.ask(decision)
  return decision === 'shut-down' || remedies.ask(decision)
}

const runs = ({ metadata, status }: VirtualMachineInstance) =>
  status?.phase === 'Running' && metadata.deletionTimestamp === undefined

/** One outdated VMI, as a row and as an item of the document. Times are RFC 3339. */
export interface OutdatedItem {
  namespace: string
  name: string
  node?: string
  launcher: { image?: string; version?: string; old: boolean }
  /** When the VMI was made. */
  since?: string
  /** The condition LiveMigratable; Unknown where it has none. */
  migratable: { status: 'True' | 'False' | 'Unknown'; reason?: string; message?: string }
  /** The VMI's own strategy was frozen when it was made; where it has none the cluster's holds, and where there is none, None. */
  evictionStrategy: { value?: string; from: 'vmi' | 'cluster' | 'default' | 'unknown' }
  /** Absent: the methods may not be read. */
  outcome?: VmOutcome
  why: readonly Reason[]
  /** Volumes whose content goes with its pod. */
  loses: readonly string[]
  remedy: readonly string[]
}

/** `rules` undefined: what decides may not be read, and nothing is claimed. Pure. */
function outdatedItem(
  vmi: VirtualMachineInstance,
  vm: Vm | undefined,
  rules: OutlookRules | undefined,
): OutdatedItem {
  const { metadata, status } = vmi
  return {
    namespace: metadata.namespace ?? '',
    name: metadata.name,
    ...(status?.nodeName && { node: status.nodeName }),
    launcher: launcherOf(status?.launcherContainerImageVersion, rules),
    ...(metadata.creationTimestamp && { since: metadata.creationTimestamp }),
    migratable: migratableOf(vmi),
    evictionStrategy: evictionOf(vmi, rules),
    ...(rules ? outlookPart(outlookOf(vmi, vm, rules)) : { why: [], loses: [], remedy: [] }),
  }
}

const outlookPart = ({
  outcome,
  ...rest
}: Outlook): Pick<OutdatedItem, 'outcome' | 'why' | 'loses' | 'remedy'> => ({ outcome: outcome, ...rest })

function launcherOf(image: string | undefined, rules: OutlookRules | undefined): OutdatedItem['launcher'] {
  if (!image) return { old: false }
  const known = rules?.launcher?.(image)
  const version = known ? known.version : versionOf(parseImage(image).tag)?.text
  return { image, ...(version && { version }), old: known?.old ?? false }
}

function migratableOf(vmi: VirtualMachineInstance): OutdatedItem['migratable'] {
  const { status = 'Unknown', reason, message } = condition(vmi, 'LiveMigratable') ?? {}
  return { status, ...(reason && { reason }), ...(message && { message }) }
}

function evictionOf(
  vmi: VirtualMachineInstance,
  rules: OutlookRules | undefined,
): OutdatedItem['evictionStrategy'] {
  const own = vmi.spec?.evictionStrategy
  if (own !== undefined) return { value: own, from: 'vmi' }
  if (rules === undefined) return { from: 'unknown' }
  return { value: effectiveEviction(vmi, rules), from: rules.clusterEviction ? 'cluster' : 'default' }
}

/** For whom the VM is read where only what helps depends on it. */
export interface RemediesAsked {
  ask(decision: Decision): boolean
}

export const ofEach: RemediesAsked = { ask: () => true }

/** A table shows one command below it: a few VMs of each kind are enough to know it. Counts, so one for each listing. */
export function ofSome(): RemediesAsked {
  const asked = new Map<Decision, number>()
  return {
    ask(decision) {
      const count = asked.get(decision) ?? 0
      asked.set(decision, count + 1)
      return count < enough
    },
  }
}

/** The first may be a VM that nothing helps. */
const enough = 3

/** What is kept of the rows once they are printed. */
export interface Totals {
  total: number
  /** Those whose fate is not known are in `total` alone. */
  byOutcome: OutcomeCounts
  /** On a launcher that is more than a year old. */
  old: number
}

export const noTotals = (): Totals => ({
  total: 0,
  byOutcome: { migrates: 0, restarts: 0, 'shuts down': 0, 'is lost': 0, stays: 0 },
  old: 0,
})

export function addTo(totals: Totals, { outcome, launcher }: OutdatedItem): void {
  totals.total++
  if (outcome !== undefined) totals.byOutcome[outcome] = (totals.byOutcome[outcome] ?? 0) + 1
  if (launcher.old) totals.old++
}

/**
 * What helps those that stay, folded: the commands of the first, and how many of each cause there are. Of a narrowed list no command that
 * would change other VMs too.
 */
export class NextStep {
  readonly #selection: Selection
  readonly #causes = new Map<string, { count: number; losing: number; remedy: readonly string[] }>()

  constructor(selection: Selection) {
    this.#selection = selection
  }

  add(item: OutdatedItem): void {
    const { outcome, why, remedy, loses } = item
    const [first] = why
    if ((outcome !== 'stays' && outcome !== 'restart') || !first) return
    const id = causeOf(first.id, item)
    const { count, losing, remedy: found } = this.#causes.get(id) ?? { count: 0, losing: 0, remedy: [] }
    this.#causes.set(id, {
      count: count + 1,
      losing: losing + (loses.length > 0 ? 1 : 0),
      remedy: found.length > 0 ? found : remedy,
    })
  }

  /** The command for the cause that keeps most of them; undefined where none stays that could be helped. */
  get command(): string | undefined {
    const [most] = [...this.#causes]
      .filter(([, { remedy }]) => remedy.length > 0)
      .toSorted(([, a], [, b]) => b.count - a.count)
    if (most === undefined) return undefined
    const [id, { count, losing, remedy }] = most
    return count === 1 ? remedy[0] : (forMany[id]?.(this.#selection, losing) ?? remedy[0])
  }
}

/** What cannot migrate is not helped by what moves the others, whatever else keeps it where it is. */
const causeOf = (id: string, { migratable }: OutdatedItem): string =>
  (id === 'no-methods' || id === 'paused') && migratable.status === 'False' ? 'not-migratable' : id

/** Where one command helps all of them. */
const forMany: Readonly<Record<string, (selection: Selection, losing: number) => string | undefined>> = {
  denied: (selection) => (canNarrow(unblock, selection) ? narrowedLine(unblock, selection) : undefined),
  'not-migratable': restarting,
  'newer-launcher': restarting,
  external: restarting,
  'no-methods': (selection) => narrowedLine('kvup workloads update', selection),
}

const unblock = 'kvup workloads unblock --all'

/** `losing`: so many have a disk in their pod, whose content a restart takes away: no one line is offered for them. */
function restarting(selection: Selection, losing: number): string {
  const line = `${narrowedLine('kvup workloads update', selection)} --restart-unmigratable`
  return losing === 0
    ? line
    : `${narrowedLine('kvup workloads outdated', selection)} -o wide     shows what helps each; a restart loses the data in the pods of ${counted(losing, 'VM')}`
}

/** An outdated VMI that can migrate and did not fail to the last time, `namespace/name`: to be moved by hand, before all the others are (contract "Temporary changes"). */
export async function getCanary(reader: Reader): Promise<string | undefined> {
  for await (const { items } of reader.pages(VirtualMachineInstances, outdatedOnes)) {
    const found = items.find(
      (vmi) =>
        condition(vmi, 'LiveMigratable')?.status === 'True' && vmi.status?.migrationState?.failed !== true,
    )
    if (found) return vmName(found)
  }
  return undefined
}

/** `status.outdatedVirtualMachineInstanceWorkloads` beside the labels, and what lies between them (facts 3.2). */
interface CountApart {
  /** Absent: the status does not say. */
  reported?: number
  labelled: number
  /** Counted without the label: they wait for a hotplug or a volume migration, which the same updater carries out. */
  hotplug: number
  volumes: number
  /** On another launcher and not labelled yet. */
  unlabelled: number
  /** Labelled, and not counted: they do not run, or are being deleted. */
  notRunning: number
  /** Why the two need not agree now. */
  stale?: 'updating'
}

interface Counted {
  reported: number | undefined
  labelled: number
  /** Of those that are labelled. */
  notRunning: number
  updating: boolean
  /** Undefined: which launcher is the new one is not known. */
  launcher: string | undefined
}

/** Lists the VMIs without the label only where the two differ and that tells why. Throws ApiError. */
async function countApart(reader: Reader, counts: Counted): Promise<CountApart> {
  const { reported, labelled, notRunning, updating, launcher } = counts
  const plain: CountApart = {
    ...(reported !== undefined && { reported }),
    labelled,
    notRunning,
    hotplug: 0,
    volumes: 0,
    unlabelled: 0,
    ...(updating && { stale: 'updating' }),
  }
  const agree = reported === undefined || reported === labelled - notRunning
  return updating || agree ? plain : { ...plain, ...(await dueWithoutLabel(reader, launcher)) }
}

async function dueWithoutLabel(reader: Reader, launcher: string | undefined) {
  const due = { launcher: 0, hotplug: 0, volumes: 0 }
  const others = reader.pages(VirtualMachineInstances, { labels: `!${outdatedLabel}` })
  for await (const { items } of readAhead(others))
    for (const vmi of items) {
      const why = dueFor(vmi, launcher)
      if (why !== undefined) due[why]++
    }
  const { launcher: unlabelled, hotplug, volumes } = due
  return { unlabelled, hotplug, volumes }
}

/** What the label and these reasons do not account for: the count is rewritten every few seconds (lab, Workloads 3). */
function unexplained({ reported, labelled, ...rest }: CountApart): number {
  if (reported === undefined || rest.stale) return 0
  const { hotplug, volumes, unlabelled, notRunning } = rest
  return reported - (labelled + hotplug + volumes + unlabelled - notRunning)
}

/**
 * Running VMIs whose launcher is not the one of the current virt-controller and that are not labelled outdated yet: while
 * there are any, counts of outdated workloads are too low (facts 3.1; images are compared as strings, as KubeVirt does).
 */
export async function countUnlabelled(reader: Reader, snapshot: Snapshot): Promise<number> {
  const image = launcherImage(snapshot)
  if (image === undefined) return 0
  let count = 0
  for await (const page of orUnserved(reader.pages(VirtualMachineInstances, { labels: `!${outdatedLabel}` })))
    count += page.items.filter(({ status }) => {
      const launcher = status?.launcherContainerImageVersion
      return status?.phase === 'Running' && launcher !== undefined && launcher !== '' && launcher !== image
    }).length
  return count
}

/** `kubevirt_vmi_number_of_outdated != 0` for 24 h (facts 4). */
interface OutdatedAlert {
  name: 'OutdatedVirtualMachineInstanceWorkloads'
  /** RFC 3339: it fires at that time at the earliest. Absent: since when they are outdated is not known. */
  firesFrom?: string
  /** Workload updates are held on purpose: it says nothing new. */
  expected: boolean
}

const after = 24 * hours

/** Nothing where KubeVirt counts none. `launcherSince`: when new pods began to get another launcher. */
function outdatedAlert(
  count: number,
  launcherSince: string | undefined,
  paused: boolean,
): OutdatedAlert | undefined {
  if (count === 0) return undefined
  const since = Date.parse(launcherSince ?? '')
  const firesFrom = Number.isNaN(since) ? undefined : new Date(since + after).toISOString()
  return {
    name: 'OutdatedVirtualMachineInstanceWorkloads',
    ...(firesFrom !== undefined && { firesFrom }),
    expected: paused,
  }
}

/** Besides its `items`, which are OutdatedItem. Times are RFC 3339. */
export interface OutdatedDocument {
  apiVersion: 'kvup.io/v1alpha1'
  kind: 'OutdatedWorkloads'
  asOf: string
  /** What was asked for; empty for the whole cluster. */
  selection: { namespace?: string; labels?: string; node?: string }
  kubevirt?: { name: string; namespace: string; version?: string }
  /** Absent: they may not be read. */
  methods?: readonly string[]
  /** The virt-launcher of new pods. */
  launcher?: string
  /** kvup borrowed the methods. */
  paused?: { by: string; at: string }
  /** Labels and counts are not true before the update is over. */
  updating: boolean
  totals: Totals
  /** Only of the whole cluster: beside the count in the status of the KubeVirt. */
  count?: CountApart & { unexplained: number }
  alert?: OutdatedAlert
  /** What may not be read: nothing is said of it. */
  unread: readonly UnreadPart[]
  remarks: readonly string[]
  /** The command for what comes next. */
  next?: string
}

interface Around {
  context: UpdaterContext
  paused: Override | undefined
  /** When the first of it was read. */
  at: Date
}

export async function readAround(
  { cluster, clock }: ReadCluster,
  namespace: string | undefined,
): Promise<Around> {
  const reader = onceCached(cluster.reader)
  const home = homeOf(await listKubeVirts(reader))
  const at = clock.now()
  const [context, found] = await Promise.all([
    readContext(reader, clock, namespace, home),
    home === undefined ? { overrides: [] } : openOverrides(cluster.reader, home),
  ])
  if ('overrides' in found)
    return { context, paused: found.overrides.find(({ id }) => id === overrideId), at }
  const remarks = [
    ...context.remarks,
    `kvup does not know whether automatic VM updates are paused: ${found.unread}`,
  ]
  return { context: { ...context, remarks }, paused: undefined, at }
}

/** What is left of the rows once they are printed. */
export interface Told {
  selection: SelectedVms
  totals: Totals
  next: NextStep
  notRunning: number
  unread: Unread[]
  remarks: string[]
}

/** Who runs kvup now, and how that is told. */
interface AtWork {
  working: Promise<ShownHolder | undefined>
  /** `asOf` in RFC 3339. */
  says: (holder: ShownHolder, asOf: string) => string
}

/** Everything besides the rows. Lists the other VMIs only where KubeVirt counts another number. Throws ApiError. */
export async function outdatedDocument(
  reader: Reader,
  rows: Told,
  { context, paused, at }: Around,
  { working, says }: AtWork,
): Promise<OutdatedDocument> {
  const { kubevirt, launcher, launcherSince, updating, unread } = context
  const [count, holder] = await Promise.all([
    isWhole(rows) ? countOf(reader, rows, context) : undefined,
    working,
  ])
  const alert = outdatedAlert(
    Math.max(count?.reported ?? 0, rows.totals.total),
    launcherSince,
    paused !== undefined,
  )
  const next = nextOf(rows, { context, paused, holder })
  return {
    apiVersion: 'kvup.io/v1alpha1',
    kind: 'OutdatedWorkloads',
    asOf: at.toISOString(),
    selection: rows.selection,
    ...(kubevirt && kubevirtPart(kubevirt)),
    ...(launcher && { launcher }),
    ...(paused && { paused: { by: paused.by, at: paused.at } }),
    updating,
    totals: rows.totals,
    ...(count && { count: { ...count, unexplained: unexplained(count) } }),
    ...(alert && { alert }),
    unread: [...unread, ...rows.unread],
    remarks: [...context.remarks, ...rows.remarks, ...(holder ? [says(holder, at.toISOString())] : [])],
    ...(next !== undefined && { next }),
  }
}

/** KubeVirt counts the whole cluster: what is only a part of it has nothing to be compared with. */
function isWhole({ selection, unread }: Told): boolean {
  return Object.keys(selection).length === 0 && unread.length === 0
}

function kubevirtPart(
  kubevirt: NonNullable<UpdaterContext['kubevirt']>,
): Pick<OutdatedDocument, 'kubevirt' | 'methods'> {
  const { name, namespace = '' } = kubevirt.metadata
  const version = kubevirt.status?.observedKubeVirtVersion
  return { kubevirt: { name, namespace, ...(version && { version }) }, methods: methodsOf(kubevirt) }
}

async function countOf(
  reader: Reader,
  { totals, notRunning }: Told,
  { kubevirt, updating, launcher }: UpdaterContext,
): Promise<CountApart | undefined> {
  if (kubevirt === undefined) return undefined
  const reported = kubevirt.status?.outdatedVirtualMachineInstanceWorkloads
  try {
    return await countApart(reader, { reported, labelled: totals.total, notRunning, updating, launcher })
  } catch (error) {
    if (!(error instanceof ApiError) || error.status !== 404) throw error
    return undefined
  }
}

interface OutdatedContext extends Pick<Around, 'context' | 'paused'> {
  holder: ShownHolder | undefined
}

function nextOf(
  { selection, totals, next }: Told,
  { context: { updating }, paused, holder }: OutdatedContext,
): string | undefined {
  if (totals.total === 0) return undefined
  if (holder) return narrowedLine('kvup workloads migrations', selection)
  // Resumed, KubeVirt would try to migrate them to what is older.
  const restarts = (totals.byOutcome.restart ?? 0) > 0
  if (updating) return 'kvup status'
  if (paused && !restarts) return moveWhilePaused(paused, selection)
  return (
    next.command ??
    (totals.byOutcome.migrates > 0 ? narrowedLine('kvup workloads migrations', selection) : undefined)
  )
}
