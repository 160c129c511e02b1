import type { RehearsedStep } from '../../procedure/rehearse.ts'
import type { Unread } from '../../workloads/migrations/ledger.ts'
import type { UpdatedVm, UpdateTotals } from '../../workloads/update/report.ts'
import type { ShownWave } from '../../workloads/waves/shown-waves.ts'
import { count } from '../count.ts'
import type { Column, Document, Paint, Size, Tone, View } from '../printer.ts'
import { table } from '../table.ts'
import { wrap } from '../wrap.ts'
import { rehearsedLines } from './rehearsed-steps.ts'
import { stoppedLines, type StoppedBefore, unreadLines, waveLines } from './wave-lines.ts'

/** The end of `kvup workloads update`. */
export interface WorkloadsUpdateDocument extends Document {
  kind: 'WorkloadsUpdate'
  kubevirt: { name: string; namespace: string }
  /** What was asked for; empty: the whole cluster. */
  selection: { namespace?: string; labels?: string; node?: string }
  /** `stopped`: by a rule, a person, or its time; `rehearsed`: a dry run. */
  outcome: 'done' | 'stopped' | 'nothing-to-do' | 'rehearsed'
  dryRun?: 'client' | 'server'
  steps?: readonly RehearsedStep[]
  totals: UpdateTotals
  /** Of a dry run: whose turn comes when. */
  waves?: readonly ShownWave[]
  /** Of a run that was asked to stop there. */
  stoppedBefore?: StoppedBefore
  /** Commands that go on, or give back what is borrowed still. */
  next?: readonly string[]
  /** What may not be read: VMs there are in none of these. */
  unread?: readonly Unread[]
  /** What became of each VM that this run had to do with. */
  items: readonly UpdatedVm[]
}

export const workloadsUpdateView: View<WorkloadsUpdateDocument> = {
  text(document, paint, size) {
    const { outcome, items, steps = [], dryRun = 'client', waves = [], unread = [] } = document
    const inWaves = waves.length > 0
    const shown = items.filter(
      ({ outcome: one }) => size.wide || (one !== 'migrated' && !(inWaves && one === 'waiting')),
    )
    return [
      ...(outcome === 'rehearsed' ? [...rehearsedLines({ steps, mode: dryRun }, paint, size), ''] : []),
      ...waveLines(waves, paint, size),
      ...(shown.length > 0 ? [...table(columns, shown, { ...size, paint }), ''] : []),
      ...wrap(summary(document, paint), size.columns),
      ...unreadLines(unread, paint, size),
      ...stoppedLines(document.stoppedBefore, document.next ?? [], { paint, size }),
      ...next(document, paint, size),
    ]
  },
  names: ({ items }) => items.map(({ name }) => `virtualmachineinstance.kubevirt.io/${name}`),
}

const tones: Partial<Record<UpdatedVm['outcome'], Tone>> = {
  migrated: 'good',
  restarted: 'good',
  failed: 'bad',
  gone: 'bad',
  moving: 'strong',
}

const columns: readonly Column<UpdatedVm>[] = [
  { name: 'NAMESPACE', cell: ({ namespace }) => namespace },
  { name: 'VM', cell: ({ name }) => name },
  { name: 'WAVE', cell: ({ wave }) => wave, wide: true },
  { name: 'OUTCOME', cell: ({ outcome }) => outcome, tone: ({ outcome }) => tones[outcome] },
  { name: 'FAILURES', cell: ({ failures }) => failures, wide: true },
  { name: 'WHY', cell: ({ why }) => why },
]

function summary(
  { outcome, totals, unread, stoppedBefore, selection }: WorkloadsUpdateDocument,
  { mark }: Paint,
): string {
  if (totals.total === 0) {
    if (unread) return 'no VM is outdated of those that may be read'
    const whole = Object.keys(selection).length === 0
    return `${mark.done} no VM is outdated${whole ? '' : ' of those that were asked for'}`
  }
  const { total, ...parts } = totals
  const counted = Object.entries(parts).filter(([, some]) => some > 0)
  const sign =
    outcome === 'stopped' && !stoppedBefore ? mark.failed : totals.failed > 0 ? mark.warning : mark.done
  return `${sign} ${count(total, 'VM')}: ${counted.map(([word, some]) => `${some} ${word}`).join(', ')}`
}

/** The table has the reasons; a command for each kind of reason is enough. */
const remediesAtMost = 5

function next(
  { items, outcome, stoppedBefore }: WorkloadsUpdateDocument,
  { mark }: Paint,
  { columns: width }: Size,
): string[] {
  if (outcome === 'rehearsed' || stoppedBefore) return []
  const remedies = [...new Set(items.flatMap(({ remedy = [] }) => remedy))].slice(0, remediesAtMost)
  return remedies.flatMap((line) => wrap(`  ${mark.next} ${line}`, width))
}
