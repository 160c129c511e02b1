import type { RehearsedStep } from '../../procedure/rehearse.ts'
import type { Unread } from '../../workloads/migrations/ledger.ts'
import type { ShownWave } from '../../workloads/waves/shown-waves.ts'
import type { Column, Document, Paint, Size } from '../printer.ts'
import { table } from '../table.ts'
import { wrap } from '../wrap.ts'
import { rehearsedLines } from './rehearsed-steps.ts'
import { stoppedLines, type StoppedBefore, unreadLines, waveLines } from './wave-lines.ts'

/** The end of a run that took one VM after the other, whatever it did to them. */
export interface WaveRunDocument extends Document {
  kubevirt: { name: string; namespace: string }
  /** `stopped`: by a rule, a person, or its time; `rehearsed`: a dry run. */
  outcome: 'done' | 'stopped' | 'nothing-to-do' | 'rehearsed'
  dryRun?: 'client' | 'server'
  steps?: readonly RehearsedStep[]
  /** Of a dry run: whose turn comes when. */
  waves?: readonly ShownWave[]
  /** Of a run that was asked to stop there. */
  stoppedBefore?: StoppedBefore
  /** Commands that go on, or give back what is borrowed still. */
  next?: readonly string[]
  /** What may not be read: VMs there are in none of these. */
  unread?: readonly Unread[]
}

/** What it says of its VMs. */
interface Told<Row> {
  columns: readonly Column<Row>[]
  rows: readonly Row[]
  /** The last line, with its mark. */
  summary: string
}

/** The steps of a dry run, the waves, a row for each VM, the sum, and where it stopped. */
export function waveRunLines<Row>(
  document: WaveRunDocument,
  { columns, rows, summary }: Told<Row>,
  paint: Paint,
  size: Size,
): string[] {
  const { outcome, steps = [], dryRun = 'client', waves = [], unread = [], next = [] } = document
  return [
    ...(outcome === 'rehearsed' ? [...rehearsedLines({ steps, mode: dryRun }, paint, size), ''] : []),
    ...waveLines(waves, paint, size),
    ...(rows.length > 0 ? [...table(columns, rows, { ...size, paint }), ''] : []),
    ...wrap(summary, size.columns),
    ...unreadLines(unread, paint, size),
    ...stoppedLines(document.stoppedBefore, next, { paint, size }),
  ]
}

/** `2 failed, 3 left`; what nothing became is left out. */
export function outcomesText(counts: Readonly<Record<string, number>>): string {
  return Object.entries(counts)
    .flatMap(([outcome, some]) => (some > 0 ? [`${some} ${outcome}`] : []))
    .join(', ')
}
