import type { Context } from '../../context.ts'
import { oneLook } from '../../lib/kube/read-cache.ts'
import { groupOf } from '../../lib/kube/object.ts'
import { VirtualMachines } from '../../lib/kube/kinds/kubevirt-kinds.ts'
import { findKubeVirts, homeOf } from '../../lib/kubevirt/snapshot.ts'
import { type OutdatedDocument, outdatedView } from '../../lib/output/views/vms/outdated-workloads.ts'
import type { Rows } from '../../lib/output/printer.ts'
import { openLoans } from '../../lib/engine/journal-config-map.ts'
import type { Loan } from '../../lib/engine/journal.ts'
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
import { readSurroundings, rulesFrom, type Surroundings } from '../../lib/vms/workload-updater.ts'
import { giveBackLine, loanId, methodsOf } from '../../lib/vms/update-methods.ts'
import { type LookedAt, oneNamespaceHelps, partlyUnread, readerFor, whoHoldsLock } from '../read-cluster.ts'
import { noSuchPlace, type SelectedVms, selectionOf } from './vm-selection.ts'
import type { Reader } from '../../lib/kube/cluster.ts'
import { holderText, type ShownHolder } from '../../lib/output/views/report-lines.ts'
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
  const looked = await readerFor(cx, options.from)
  const { reader } = looked.cluster
  // A turn later than the VMIs are asked for: theirs is the longest answer.
  const later = Promise.resolve()
  const around = later.then(() => lookAround(looked, selection.namespace))
  const remedies = later.then(() => remediesFor(looked, cx))
  const rules = around.then(({ surroundings, held, at }) =>
    rulesFrom(surroundings, { held, asked: selection, releases: knownReleases, at }),
  )
  // Awaited with the first page.
  rules.catch(() => undefined)
  const rows = cx.printer.rows(
    'OutdatedWorkloads',
    outdatedView(() => looked.clock.now()),
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
  if (told.totals.total === 0) told.remarks.push(...(await noSuchPlace(looked, selection)))
  const found = await around
  const working = whoIsAtWork(cx, looked, { totals: told.totals, surroundings: found.surroundings })
  const document = await outdatedDocument(reader, told, found, working)
  const refusal = partlyUnread(document.unread)
  rows.end(document, refusal ? 'partial' : 'complete')
  if (refusal) throw refusal
  return options.exitCode && told.totals.total > 0 ? exitCode.asked : exitCode.done
}

/** Where all VMs may be read: what may not be read has to be told in every format. */
async function remediesFor({ cluster, saved }: LookedAt, { flags }: Context): Promise<RemediesAsked> {
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
  surroundings: Surroundings
  held: Loan | undefined
  /** When the first of it was read. */
  at: Date
}

async function lookAround({ cluster, clock }: LookedAt, namespace: string | undefined): Promise<Around> {
  const reader = oneLook(cluster.reader)
  const home = homeOf(await findKubeVirts(reader))
  const at = clock.now()
  const [surroundings, found] = await Promise.all([
    readSurroundings(reader, clock, namespace, home),
    home === undefined ? { loans: [] } : openLoans(cluster, { namespace: home, clock }),
  ])
  if ('loans' in found) return { surroundings, held: found.loans.find(({ id }) => id === loanId), at }
  const remarks = [...surroundings.remarks, `whether workload updates are held is not known: ${found.unread}`]
  return { surroundings: { ...surroundings, remarks }, held: undefined, at }
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
  { surroundings, held, at }: Around,
  working: Promise<ShownHolder | undefined>,
): Promise<OutdatedDocument> {
  const { kubevirt, launcher, launcherSince, updating, unread } = surroundings
  const [count, holder] = await Promise.all([
    isWhole(told) ? countOf(reader, told, surroundings) : undefined,
    working,
  ])
  const alert = outdatedAlert(
    Math.max(count?.reported ?? 0, told.totals.total),
    launcherSince,
    held !== undefined,
  )
  const next = nextOf(told, { surroundings, held, holder })
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
    remarks: [...surroundings.remarks, ...told.remarks, ...workingText(holder, at)],
    ...(next !== undefined && { next }),
  }
}

/** KubeVirt counts the whole cluster: what is only a part of it has nothing to be compared with. */
function isWhole({ selection, unread }: Told): boolean {
  return Object.keys(selection).length === 0 && unread.length === 0
}

function kubevirtPart(
  kubevirt: NonNullable<Surroundings['kubevirt']>,
): Pick<OutdatedDocument, 'kubevirt' | 'methods'> {
  const { name, namespace = '' } = kubevirt.metadata
  const version = kubevirt.status?.observedKubeVirtVersion
  return { kubevirt: { name, namespace, ...(version && { version }) }, methods: methodsOf(kubevirt) }
}

async function countOf(
  reader: Reader,
  { totals, notRunning }: Told,
  { kubevirt, updating, launcher }: Surroundings,
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

interface Standing extends Pick<Around, 'surroundings' | 'held'> {
  holder: ShownHolder | undefined
}

function nextOf(
  { selection, totals, next }: Told,
  { surroundings: { updating }, held, holder }: Standing,
): string | undefined {
  if (totals.total === 0) return undefined
  if (holder) return narrowedLine('kvup workloads migrations', selection)
  if (held) return giveBackLine(held)
  if (updating) return 'kvup status'
  return (
    next.command ??
    (totals.byFate.migrates > 0 ? narrowedLine('kvup workloads migrations', selection) : undefined)
  )
}

/** Who runs kvup now, where VMs stay that it may be about to move: read behind the rows, and only then. */
export async function whoIsAtWork(
  cx: Pick<Context, 'world'>,
  looked: LookedAt,
  { totals, surroundings }: { totals: Totals; surroundings: Surroundings },
): Promise<ShownHolder | undefined> {
  const { kubevirt, updating } = surroundings
  if (totals.byFate.stays === 0 || kubevirt === undefined || updating) return undefined
  const holder = await whoHoldsLock(cx, looked, kubevirt.metadata.namespace ?? '')
  return holder?.gone ? undefined : holder
}

/** For the remarks: a command that changes anything would be refused meanwhile. `asOf` in RFC 3339. */
export function atWorkText(holder: ShownHolder, asOf: string): string {
  return `kvup is at work, and VMs that stay may be waiting for their turn: ${holderText(holder, asOf)}`
}
