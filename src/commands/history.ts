import { Command } from 'commander'
import type { Context, Wire } from '../context.ts'
import type { Reader } from '../lib/kube/cluster.ts'
import { itemsOf, known } from '../lib/kube/known.ts'
import { listKubeVirts } from '../lib/kubevirt/snapshot.ts'
import { notOne } from '../lib/kubevirt/installation.ts'
import { ageAt } from '../lib/output/age.ts'
import type { Column, Document, Paint, Size, View } from '../lib/output/printer.ts'
import { displayWidth, wrap } from '../lib/output/text.ts'
import { harmlessText } from '../lib/kube/text.ts'
import { holderText, overrideRemedy } from '../lib/output/views/report-lines.ts'
import type { ShownHolder } from '../lib/kubevirt/lease-holders.ts'
import type { Entry, Override } from '../lib/engine/journal.ts'
import { configMapJournal } from '../lib/engine/journal-config-map.ts'
import { missingText } from '../lib/engine/missing-values.ts'
import { restoreUpdatesLine, overrideId } from '../lib/vms/update-methods.ts'
import { type OverriddenVm, overriddenVms } from '../lib/vms/unblock/vm-overrides.ts'
import { asksCluster, manual, fromOption } from './command-options.ts'
import { getLockHolder } from '../lib/vms/lock-holder.ts'
import { readerFor } from '../lib/kube/saved/read-cluster.ts'
import { table } from '../lib/output/table.ts'

export interface HistoryDocument extends Document {
  kind: 'History'
  /** KubeVirt's own, where the journal is. */
  namespace: string
  /** When it was read: ages count to here. */
  asOf: string
  /** Open ones only. */
  loans: readonly Override[]
  /** The line that gives them back, where there are any. */
  giveBack?: string
  /** VMs that `kvup workloads unblock` changed and that have what they were lent, where there are any. */
  machines?: readonly OverriddenVm[]
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
  const snapshot = await readerFor(cx, from)
  const { clock, cluster } = snapshot
  const { reader, writer } = cluster
  const namespace = await kubevirtNamespace(reader)
  const warn = (line: string) => cx.printer.warn(line)
  const journal = configMapJournal({ reader, writer }, { namespace, who: cx.world.who, clock, warn })
  const loans = await journal.loans()
  for (const missing of await journal.missing()) cx.printer.warn(missingText(missing))
  const running = await getLockHolder(cx, snapshot, namespace)
  const lent = await known(overriddenVms(reader).then((machines) => [machines]))
  if (!lent.known && !snapshot.saved) cx.printer.warn(`what VMs were lent is not known: ${lent.why}`)
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
      ? { giveBack: overrideRemedy(loans[0]) }
      : machines.length > 0 && { giveBack: restoresVms(loans) }),
    ...(machines.length > 0 && { machines }),
    ...(running && { running }),
    items: await journal.entries(),
  }
  cx.printer.result(document, view)
}

async function kubevirtNamespace(reader: Reader): Promise<string> {
  const found = await listKubeVirts(reader)
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
      ...overrideLines(loan, asOf, paint).flatMap((line) => wrap(line, size.columns)),
    ]),
    ...vmLines({ machines, loans, asOf }, paint).flatMap((line) => wrap(line, size.columns)),
  ],
  names: ({ items, loans }) => [
    ...items.map(({ at, what }) => `entry/${at}-${what}`),
    ...loans.map(({ id }) => `loan/${id}`),
  ],
}

function overrideLines(loan: Override, asOf: string, paint: Paint): string[] {
  const { object, path, was, by, at, procedure, harmless } = loan
  const value = was.present ? JSON.stringify(was.value) : 'absent'
  return [
    `${paint.warn(paint.mark.warning)} borrowed ${ageAt(at, asOf)} ago by ${by} for ${procedure}: ${path} of ${object.kind} ${object.name}, which was ${value}`,
    ...(harmless === undefined ? [] : [`  ${harmlessText(harmless)}`]),
    `  ${paint.mark.next} ${overrideRemedy(loan)}     # gives it back`,
  ]
}

const restoresVms = (loans: readonly Override[]): string =>
  restoreUpdatesLine(loans.find(({ id }) => id === overrideId))

/** So many VMs are told; the document has all. */
const toldAtMost = 10

function vmLines(
  { machines, loans, asOf }: { machines: readonly OverriddenVm[]; loans: readonly Override[]; asOf: string },
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
    `  ${mark.next} ${restoresVms(loans)}     # gives it back`,
  ]
}

/** What tells one entry from another. */
const identifying: readonly Column<Entry>[] = [
  { name: 'AT', cell: timeOf },
  { name: 'BY', cell: ({ by }) => by },
  { name: 'PROCEDURE', cell: ({ procedure }) => procedure },
  { name: 'WHAT', cell: ({ what }) => what },
  { name: 'STEP', cell: ({ step }) => (step === '' ? '-' : step) },
]
const columns: readonly Column<Entry>[] = [
  ...identifying,
  { name: 'TEXT', holds: 'text', cell: ({ text }) => text },
]
const gap = 3

/**
 * A table where what identifies an entry stands in it uncut; else the entries below the run that they belong to, with their texts broken between words. `-o wide`
 * is always the table.
 */
export function historyEntries(items: readonly Entry[], paint: Paint, size: Size): string[] {
  return size.wide || hasRoom(items, size.columns)
    ? table(columns, items, { ...size, paint })
    : byRun(items, paint, size.columns)
}

/** The text is broken between words, but in no narrower column than the widest of the others. */
function hasRoom(items: readonly Entry[], room: number): boolean {
  const widths = identifying.map(({ name, cell }) =>
    Math.max(...[name, ...items.map((item) => String(cell(item)))].map(displayWidth)),
  )
  const taken = widths.reduce((sum, width) => sum + width + gap, 0)
  return taken + Math.max(...widths) <= room
}

function byRun(items: readonly Entry[], paint: Paint, room: number): string[] {
  return items.flatMap((item, index) => {
    const before = items[index - 1]
    const goesOn = before?.procedure === item.procedure && before.by === item.by
    const heading = [...(index === 0 ? [] : ['']), ...wrap(runOf(item, paint), room)]
    return [...(goesOn ? [] : heading), ...wrap(entryOf(item), room)]
  })
}

const runOf = ({ procedure, by }: Entry, paint: Paint): string => `${paint.strong(procedure)}, by ${by}`

const entryOf = (entry: Entry): string =>
  `${timeOf(entry)}  ${entry.what.padEnd('gave-back'.length)}  ${entry.step === '' ? '' : `${entry.step}: `}${entry.text}`

function timeOf({ at }: Entry): string {
  return at.replace(/\.\d+Z$/, 'Z')
}
