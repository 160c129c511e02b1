import type { Context } from '../../context.ts'
import { onceCached } from '../../lib/kube/read-cache.ts'
import { groupOf } from '../../lib/kube/object.ts'
import { VirtualMachines } from '../../lib/kube/kinds/kubevirt-kinds.ts'
import { listKubeVirts, homeOf } from '../../lib/kubevirt/snapshot.ts'
import { type OutdatedDocument, outdatedView } from '../../lib/output/views/vms/outdated-workloads.ts'
import type { Rows } from '../../lib/output/printer.ts'
import { openOverrides } from '../../lib/engine/journal-config-map.ts'
import type { Override } from '../../lib/engine/journal.ts'
import { knownReleases } from '../../lib/releases/releases.ts'
import { ApiError, type ExitCode, exitCode } from '../../lib/kube/errors.ts'
import {
  addTo,
  countApart,
  type CountApart,
  listOutdated,
  NextStep,
  noTotals,
  ofEach,
  ofSome,
  outdatedAlert,
  type OutdatedItem,
  type OutdatedPage,
  type RemediesAsked,
  type Totals,
  unexplained,
} from '../../lib/vms/outdated-vms.ts'
import { readContext, rulesFrom, type UpdaterContext } from '../../lib/vms/workload-updater.ts'
import { restoreUpdatesLine, overrideId, methodsOf } from '../../lib/vms/update-methods.ts'
import {
  type ReadCluster,
  oneNamespaceHelps,
  partlyUnread,
  readerFor,
} from '../../lib/kube/saved/read-cluster.ts'
import { whoIsAtWork } from '../../lib/vms/lock-holder.ts'
import { noSuchPlace, type SelectedVms, selectionOf } from '../../lib/vms/vm-selection.ts'
import type { Reader } from '../../lib/kube/cluster.ts'
import { holderText } from '../../lib/output/views/report-lines.ts'
import type { ShownHolder } from '../../lib/kubevirt/lease-holders.ts'
import { narrowedLine } from '../../lib/kube/shell-line.ts'

export interface OutdatedOptions {
  allNamespaces?: boolean
  selector?: string
  node?: string
  exitCode?: boolean
  from?: string
}

/** Lists the outdated VMIs as their pages arrive. Exit 7 where a part of them may not be read, after what may; reads only. */
export async function outdated(cx: Context, options: OutdatedOptions): Promise<ExitCode> {
  const selection = selectionOf(options, cx.flags?.namespace)
  const snapshot = await readerFor(cx, options.from)
  const { reader } = snapshot.cluster
  // A turn later than the VMIs are asked for: theirs is the longest answer.
  const later = Promise.resolve()
  const around = later.then(() => readAround(snapshot, selection.namespace))
  const remedies = later.then(() => remediesFor(snapshot, cx))
  const rules = around.then(({ context, held, at }) =>
    rulesFrom(context, { held, asked: selection, releases: knownReleases, at }),
  )
  // Awaited with the first page.
  rules.catch(() => undefined)
  const rows = cx.printer.rows(
    'OutdatedWorkloads',
    outdatedView(() => snapshot.clock.now()),
  )
  const told: Told = {
    selection,
    totals: noTotals(),
    next: new NextStep(selection),
    notRunning: 0,
    unread: [],
    remarks: [],
  }
  await tellPages(listOutdated(reader, selection, { rules, remedies }), told, rows).catch(
    (error: unknown) => {
      throw selection.namespace === undefined
        ? oneNamespaceHelps(error, 'kvup workloads outdated', selection)
        : error
    },
  )
  if (told.totals.total === 0) told.remarks.push(...(await noSuchPlace(snapshot, selection)))
  const found = await around
  const working = whoIsAtWork(cx, snapshot, { totals: told.totals, context: found.context })
  const document = await outdatedDocument(reader, told, found, working)
  const refusal = partlyUnread(document.unread)
  rows.end(document, refusal ? 'partial' : 'complete')
  if (refusal) throw refusal
  return options.exitCode && told.totals.total > 0 ? exitCode.asked : exitCode.done
}

/** Where all VMs may be read: what may not be read has to be told in every format. */
async function remediesFor({ cluster, saved }: ReadCluster, { flags }: Context): Promise<RemediesAsked> {
  if (saved || !['table', 'name'].includes(flags.output)) return ofEach
  const machines = { group: groupOf(VirtualMachines), resource: VirtualMachines.plural }
  const asked = ['get', 'list'].map((verb) => cluster.reviewer.can({ verb, ...machines }))
  const answers = await Promise.all(asked).catch(() => [{ allowed: false }])
  return answers.every(({ allowed }) => allowed) ? ofSome() : ofEach
}

async function tellPages(
  pages: AsyncIterable<OutdatedPage>,
  told: Told,
  rows: Rows<OutdatedItem, OutdatedDocument>,
): Promise<void> {
  for await (const page of pages) {
    for (const item of page.items) {
      addTo(told.totals, item)
      told.next.add(item)
    }
    told.notRunning += page.notRunning
    told.unread.push(...page.unread)
    rows.add(page.items)
  }
}

export interface Around {
  context: UpdaterContext
  held: Override | undefined
  /** When the first of it was read. */
  at: Date
}

async function readAround({ cluster, clock }: ReadCluster, namespace: string | undefined): Promise<Around> {
  const reader = onceCached(cluster.reader)
  const home = homeOf(await listKubeVirts(reader))
  const at = clock.now()
  const [context, found] = await Promise.all([
    readContext(reader, clock, namespace, home),
    home === undefined ? { loans: [] } : openOverrides(cluster, { namespace: home, clock }),
  ])
  if ('loans' in found) return { context, held: found.loans.find(({ id }) => id === overrideId), at }
  const remarks = [...context.remarks, `whether workload updates are held is not known: ${found.unread}`]
  return { context: { ...context, remarks }, held: undefined, at }
}

/** What is left of the rows once they are printed. */
export interface Told {
  selection: SelectedVms
  totals: Totals
  next: NextStep
  notRunning: number
  unread: { namespace: string; what: string; why: string }[]
  remarks: string[]
}

/** Everything besides the rows. Lists the other VMIs only where KubeVirt counts another number. Throws ApiError. */
export async function outdatedDocument(
  reader: Reader,
  told: Told,
  { context, held, at }: Around,
  working: Promise<ShownHolder | undefined>,
): Promise<OutdatedDocument> {
  const { kubevirt, launcher, launcherSince, updating, unread } = context
  const [count, holder] = await Promise.all([
    isWhole(told) ? countOf(reader, told, context) : undefined,
    working,
  ])
  const alert = outdatedAlert(
    Math.max(count?.reported ?? 0, told.totals.total),
    launcherSince,
    held !== undefined,
  )
  const next = nextOf(told, { context, held, holder })
  return {
    apiVersion: 'kvup.io/v1alpha1',
    kind: 'OutdatedWorkloads',
    asOf: at.toISOString(),
    selection: told.selection,
    ...(kubevirt && kubevirtPart(kubevirt)),
    ...(launcher && { launcher }),
    ...(held && { held: { by: held.by, at: held.at } }),
    updating,
    totals: told.totals,
    ...(count && { count: { ...count, unexplained: unexplained(count) } }),
    ...(alert && { alert }),
    unread: [...unread, ...told.unread],
    remarks: [...context.remarks, ...told.remarks, ...workingText(holder, at)],
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

const workingText = (holder: ShownHolder | undefined, at: Date) =>
  holder === undefined ? [] : [atWorkText(holder, at.toISOString())]

interface OutdatedContext extends Pick<Around, 'context' | 'held'> {
  holder: ShownHolder | undefined
}

function nextOf(
  { selection, totals, next }: Told,
  { context: { updating }, held, holder }: OutdatedContext,
): string | undefined {
  if (totals.total === 0) return undefined
  if (holder) return narrowedLine('kvup workloads migrations', selection)
  if (held) return restoreUpdatesLine(held)
  if (updating) return 'kvup status'
  return (
    next.command ??
    (totals.byFate.migrates > 0 ? narrowedLine('kvup workloads migrations', selection) : undefined)
  )
}

/** For the remarks: a command that changes anything would be refused meanwhile. `asOf` in RFC 3339. */
export function atWorkText(holder: ShownHolder, asOf: string): string {
  return `kvup is at work, and VMs that stay may be waiting for their turn: ${holderText(holder, asOf)}`
}
