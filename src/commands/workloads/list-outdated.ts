import { holderText } from '../../lib/output/views/report-lines.ts'
import type { ShownHolder } from '../../lib/kubevirt/lease-holders.ts'
import type { Context } from '../../context.ts'
import type { Reader } from '../../lib/kube/cluster.ts'
import { groupOf } from '../../lib/kube/object.ts'
import { VirtualMachines } from '../../lib/kube/kinds/kubevirt-kinds.ts'
import {
  addTo,
  listOutdated,
  NextStep,
  noTotals,
  ofEach,
  ofSome,
  type OutdatedDocument,
  outdatedDocument,
  type OutdatedItem,
  type OutdatedPage,
  readAround,
  type RemediesAsked,
  type Told,
} from '../../lib/vms/outdated-vms.ts'
import { outdatedView } from '../../lib/output/views/vms/outdated-workloads.ts'
import type { Rows } from '../../lib/output/printer.ts'
import { knownReleases } from '../../lib/releases/releases.ts'
import { asFarAsRead, type ExitCode, exitCode } from '../../lib/kube/errors.ts'
import { rulesFrom } from '../../lib/vms/workload-updater.ts'
import {
  countVmis,
  oneNamespaceHelps,
  partlyUnread,
  type ReadCluster,
  readerFor,
} from '../../lib/kubevirt/snapshot.ts'
import { whoIsAtWork } from '../../lib/vms/lock-holder.ts'
import { notThere, selectionOf, type Selection } from '../../lib/vms/vm.ts'

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
  const rules = around.then(({ context, paused, at }) =>
    rulesFrom(context, { paused, asked: selection, releases: knownReleases, at }),
  )
  // Awaited with the first page.
  rules.catch(() => undefined)
  let vms: number | undefined
  const counted = later.then(() => allVms(cx, reader, selection))
  const rows = cx.printer.rows(
    'OutdatedWorkloads',
    outdatedView(
      () => snapshot.clock.now(),
      () => vms,
    ),
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
  const isScript = options.exitCode === true
  const { output } = cx.flags
  const absent =
    told.totals.total === 0
      ? await notThere(snapshot, selection, { isScript, running: true, output })
      : undefined
  told.remarks.push(...(absent?.remarks ?? []))
  const found = await around
  const working = whoIsAtWork(cx, snapshot, { totals: told.totals, context: found.context })
  const document = await outdatedDocument(reader, told, found, { working, says: atWorkText })
  vms = await counted
  const refusal = partlyUnread(document.unread)
  rows.end(document, refusal ? 'partial' : 'complete')
  if (refusal) throw refusal
  if (absent?.failure) throw absent.failure
  return isScript && told.totals.total > 0 ? exitCode.asked : exitCode.done
}

/** Of how many VMs they are a part: what a table begins with. Undefined where the server does not say without listing them. */
async function allVms({ flags }: Context, reader: Reader, selection: Selection): Promise<number | undefined> {
  const { namespace, labels, node } = selection
  if (flags.output !== 'table' || labels !== undefined || node !== undefined) return undefined
  return asFarAsRead(countVmis(reader, namespace))
}

/** Where all VMs may be read: what may not be read has to be told in every format. */
async function remediesFor({ cluster, saved }: ReadCluster, { flags }: Context): Promise<RemediesAsked> {
  if (saved || !['table', 'name'].includes(flags.output)) return ofEach
  const vms = { group: groupOf(VirtualMachines), resource: VirtualMachines.plural }
  const asked = ['get', 'list'].map((verb) => cluster.reviewer.can({ verb, ...vms }))
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

/** For the remarks: a command that changes anything would be refused meanwhile. `asOf` in RFC 3339. */
export function atWorkText(holder: ShownHolder, asOf: string): string {
  return `VMs that are not moved may be waiting for their turn: ${holderText(holder, asOf)}`
}
