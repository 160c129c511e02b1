import type { Context } from '../../../context.ts'
import { oneLook } from '../../../lib/cluster/one-look.ts'
import { groupOf } from '../../../lib/cluster/kind.ts'
import { VirtualMachines } from '../../../lib/cluster/kinds/virtual-machines.ts'
import { findKubeVirts } from '../../../lib/facts/find-kubevirts.ts'
import { homeOf } from '../../../lib/facts/snapshot.ts'
import { type OutdatedDocument, outdatedView } from '../../../lib/output/views/outdated-workloads.ts'
import type { Rows } from '../../../lib/output/printer.ts'
import { openLoans } from '../../../lib/procedure/open-loans.ts'
import type { Loan } from '../../../lib/procedure/journal.ts'
import { knownReleases } from '../../../lib/releases/releases.ts'
import { type ExitCode, exitCode } from '../../../lib/system/exit-codes.ts'
import { listOutdated, type OutdatedPage } from '../../../lib/workloads/outdated/list-outdated.ts'
import type { OutdatedItem } from '../../../lib/workloads/outdated/outdated-item.ts'
import { ofEach, ofSome, type RemediesAsked } from '../../../lib/workloads/outdated/remedies-asked.ts'
import { rulesFrom } from '../../../lib/workloads/outdated/rules-from.ts'
import { readSurroundings, type Surroundings } from '../../../lib/workloads/outdated/surroundings.ts'
import { addTo, NextStep, noTotals } from '../../../lib/workloads/outdated/totals.ts'
import { loanId } from '../../../lib/workloads/update-methods.ts'
import { oneNamespaceHelps, partlyUnread } from '../../partly-unread.ts'
import { type LookedAt, readerFor } from '../../reader-for.ts'
import { noSuchPlace } from '../no-such-place.ts'
import { whoIsAtWork } from './at-work.ts'
import { outdatedDocument, type Told } from './outdated-document.ts'
import { selectionOf } from './selection.ts'

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
