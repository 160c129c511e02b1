import { Command } from 'commander'
import type { Context } from '../context.ts'
import type { Reader } from '../lib/cluster/cluster.ts'
import { known, itemsOf } from '../lib/facts/known.ts'
import { findKubeVirts } from '../lib/facts/find-kubevirts.ts'
import { notOne } from '../lib/facts/installation.ts'
import { ageAt } from '../lib/output/age.ts'
import type { Document, Paint, View } from '../lib/output/printer.ts'
import { wrap } from '../lib/output/wrap.ts'
import { harmlessText } from '../lib/output/views/harmless-text.ts'
import { historyEntries } from '../lib/output/views/history-entries.ts'
import { loanRemedy } from '../lib/output/views/loan-remedy.ts'
import { holderText, type ShownHolder } from '../lib/output/views/lock-holder.ts'
import type { Entry, Loan } from '../lib/procedure/journal.ts'
import { configMapJournal } from '../lib/procedure/journal-config-map.ts'
import { missingText } from '../lib/run/missing-values.ts'
import { giveBackLine } from '../lib/workloads/held-lines.ts'
import { type LentMachine, lentMachines } from '../lib/workloads/unblock/lent-machines.ts'
import { loanId } from '../lib/workloads/update-methods.ts'
import type { Wire } from '../wire.ts'
import { asksCluster, manual } from './manual.ts'
import { fromOption, readerFor } from './reader-for.ts'
import { whoHoldsLock } from './who-holds-lock.ts'

export interface HistoryDocument extends Document {
  kind: 'History'
  /** KubeVirt's own, where the journal is. */
  namespace: string
  /** When it was read: ages count to here. */
  asOf: string
  /** Open ones only. */
  loans: readonly Loan[]
  /** The line that gives them back, where there are any. */
  giveBack?: string
  /** VMs that `kvup workloads unblock` changed and that have what they were lent, where there are any. */
  machines?: readonly LentMachine[]
  /** Who has the lock now, where somebody has. */
  running?: ShownHolder
  /** The oldest first. */
  items: readonly Entry[]
}

export interface HistoryOptions {
  from?: string
}

export function historyCommand(wire: Wire): Command {
  return new Command('history')
    .description('Show what kvup changed on this cluster, and what is still borrowed')
    .addOption(fromOption())
    .addHelpText(
      'after',
      manual({
        examples: [
          ['kvup history', 'who changed what, and what is still borrowed'],
          ["kvup history -o jsonpath='{.loans[*].id}'", 'only the names of what is borrowed'],
        ],
        codes: asksCluster,
      }),
    )
    .action(wire<HistoryOptions, []>(history))
}

/** Prints the journal; reads only. */
export async function history(cx: Context, { from }: HistoryOptions = {}): Promise<void> {
  const looked = await readerFor(cx, from)
  const { clock, cluster } = looked
  const { reader, writer } = cluster
  const namespace = await kubevirtNamespace(reader)
  const warn = (line: string) => cx.printer.warn(line)
  const journal = configMapJournal({ reader, writer }, { namespace, who: cx.world.who, clock, warn })
  const loans = await journal.loans()
  for (const missing of await journal.missing()) cx.printer.warn(missingText(missing))
  const running = await whoHoldsLock(cx, looked, namespace)
  const lent = await known(lentMachines(reader).then((machines) => [machines]))
  if (!lent.known && !looked.saved) cx.printer.warn(`what VMs were lent is not known: ${lent.why}`)
  const [{ lent: machines, unreadable } = { lent: [], unreadable: [] }] = itemsOf(lent)
  for (const { namespace: of, name } of unreadable.slice(0, toldAtMost))
    cx.printer.warn(`VM ${of}/${name} was lent something, and its note was changed: what it had is not known`)
  const document: HistoryDocument = {
    apiVersion: 'kvup.io/v1alpha1',
    kind: 'History',
    namespace,
    asOf: clock.now().toISOString(),
    loans,
    ...(loans[0]
      ? { giveBack: loanRemedy(loans[0]) }
      : machines.length > 0 && { giveBack: givesMachinesBack(loans) }),
    ...(machines.length > 0 && { machines }),
    ...(running && { running }),
    items: await journal.entries(),
  }
  cx.printer.result(document, view)
}

async function kubevirtNamespace(reader: Reader): Promise<string> {
  const found = await findKubeVirts(reader)
  if (!found.known) throw notOne({ is: 'unknown', why: found.why })
  const [first, second] = found.items.map(({ metadata: { namespace = '', name } }) => ({ namespace, name }))
  if (first === undefined) throw notOne({ is: 'none' })
  if (second !== undefined) throw notOne({ is: 'several', found: [first, second] })
  return first.namespace
}

const view: View<HistoryDocument> = {
  text: ({ items, loans, asOf, namespace, running, machines = [] }, paint, size) => [
    ...(items.length > 0
      ? historyEntries(items, paint, size)
      : wrap(`kvup has changed nothing here (no journal in namespace ${namespace}).`, size.columns)),
    ...(running ? ['', ...wrap(holderText(running, asOf), size.columns)] : []),
    ...loans.flatMap((loan) => [
      '',
      ...loanLines(loan, asOf, paint).flatMap((line) => wrap(line, size.columns)),
    ]),
    ...machineLines({ machines, loans, asOf }, paint).flatMap((line) => wrap(line, size.columns)),
  ],
  names: ({ items, loans }) => [
    ...items.map(({ at, what }) => `entry/${at}-${what}`),
    ...loans.map(({ id }) => `loan/${id}`),
  ],
}

function loanLines(loan: Loan, asOf: string, paint: Paint): string[] {
  const { object, path, was, by, at, procedure, harmless } = loan
  const value = was.present ? JSON.stringify(was.value) : 'absent'
  return [
    `${paint.warn(paint.mark.warning)} borrowed ${ageAt(at, asOf)} ago by ${by} for ${procedure}: ${path} of ${object.kind} ${object.name}, which was ${value}`,
    ...(harmless === undefined ? [] : [`  ${harmlessText(harmless)}`]),
    `  ${paint.mark.next} ${loanRemedy(loan)}     # gives it back`,
  ]
}

const givesMachinesBack = (loans: readonly Loan[]): string =>
  giveBackLine(loans.find(({ id }) => id === loanId))

/** So many VMs are told; the document has all. */
const toldAtMost = 10

function machineLines(
  { machines, loans, asOf }: { machines: readonly LentMachine[]; loans: readonly Loan[]; asOf: string },
  paint: Paint,
): string[] {
  if (machines.length === 0) return []
  const { mark } = paint
  return [
    '',
    ...machines
      .slice(0, toldAtMost)
      .map(
        ({ namespace, name, by, at, kept, copied }) =>
          `${paint.warn(mark.warning)} borrowed ${ageAt(at, asOf)} ago by ${by} of ${copied ? 'the VM that was copied to' : 'VM'} ${namespace}/${name}: ${kept.join(', ')}`,
      ),
    ...(machines.length > toldAtMost ? [`  and of ${machines.length - toldAtMost} more (-o json)`] : []),
    `  ${mark.next} ${givesMachinesBack(loans)}     # gives it back`,
  ]
}
