import type { RehearsedStep } from '../../procedure/rehearse.ts'
import type { Unread } from '../../workloads/migrations/ledger.ts'
import type { RestartedVm, RestartTotals } from '../../workloads/rollout/restart/outcome.ts'
import type { ShownWave } from '../../workloads/waves/shown-waves.ts'
import { count } from '../count.ts'
import type { Column, Document, Paint, Tone, View } from '../printer.ts'
import { table } from '../table.ts'
import { wrap } from '../wrap.ts'
import { rehearsedLines } from './rehearsed-steps.ts'
import { stoppedLines, type StoppedBefore, unreadLines, waveLines } from './wave-lines.ts'

/** The end of `kvup rollout restart`. */
export interface VmRestartsDocument extends Document {
  kind: 'VmRestarts'
  kubevirt: { name: string; namespace: string }
  /** `stopped`: by a rule, a person, or its time; `rehearsed`: a dry run. */
  outcome: 'done' | 'stopped' | 'nothing-to-do' | 'rehearsed'
  dryRun?: 'client' | 'server'
  steps?: readonly RehearsedStep[]
  totals: RestartTotals
  /** Of a dry run: whose turn comes when. */
  waves?: readonly ShownWave[]
  /** Of a run that was asked to stop there. */
  stoppedBefore?: StoppedBefore
  /** Commands that go on. */
  next?: readonly string[]
  /** What may not be read: VMs there are in none of these. */
  unread?: readonly Unread[]
  /** What became of each VM that waits for a restart. */
  items: readonly RestartedVm[]
}

export const vmRestartsView: View<VmRestartsDocument> = {
  text(document, paint, size) {
    const { outcome, items, steps = [], dryRun = 'client', waves = [], unread = [] } = document
    const shown = items.filter((item) => waves.length === 0 || item.outcome !== 'waiting')
    return [
      ...(outcome === 'rehearsed' ? [...rehearsedLines({ steps, mode: dryRun }, paint, size), ''] : []),
      ...waveLines(waves, paint, size),
      ...(shown.length > 0 ? [...table(columns, shown, { ...size, paint }), ''] : []),
      ...wrap(summary(document, paint), size.columns),
      ...unreadLines(unread, paint, size),
      ...stoppedLines(document.stoppedBefore, document.next ?? [], { paint, size }),
    ]
  },
  names: ({ items }) => items.map(({ name }) => `virtualmachine.kubevirt.io/${name}`),
}

function summary({ outcome, totals, unread, stoppedBefore }: VmRestartsDocument, { mark }: Paint): string {
  const { total, ...parts } = totals
  if (total === 0)
    return unread
      ? 'no VM waits for a restart of those that may be read'
      : `${mark.done} no VM waits for a restart`
  const counted = Object.entries(parts).filter(([, some]) => some > 0)
  const bad = (outcome === 'stopped' && !stoppedBefore) || totals.failed > 0
  return `${bad ? mark.failed : mark.done} ${count(total, 'VM')}: ${counted.map(([word, some]) => `${some} ${word}`).join(', ')}`
}

const tones: Partial<Record<RestartedVm['outcome'], Tone>> = {
  failed: 'bad',
  restarting: 'strong',
  restarted: 'good',
}

const columns: readonly Column<RestartedVm>[] = [
  { name: 'NAMESPACE', cell: ({ namespace }) => namespace },
  { name: 'VM', cell: ({ name }) => name },
  { name: 'WAVE', cell: ({ wave }) => wave, wide: true },
  { name: 'OUTCOME', cell: ({ outcome }) => outcome, tone: ({ outcome }) => tones[outcome] },
  { name: 'WHY', cell: ({ why }) => why },
]
