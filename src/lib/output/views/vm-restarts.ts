import type { RestartedVm, RestartTotals } from '../../workloads/rollout/restart/outcome.ts'
import { count } from '../count.ts'
import type { Column, Paint, Tone, View } from '../printer.ts'
import { outcomesText, type WaveRunDocument, waveRunLines } from './wave-run.ts'

/** The end of `kvup rollout restart`. */
export interface VmRestartsDocument extends WaveRunDocument {
  kind: 'VmRestarts'
  totals: RestartTotals
  /** What became of each VM that waits for a restart. */
  items: readonly RestartedVm[]
}

export const vmRestartsView: View<VmRestartsDocument> = {
  text(document, paint, size) {
    const { items, waves = [] } = document
    const rows = items.filter((item) => waves.length === 0 || item.outcome !== 'waiting')
    return waveRunLines(document, { columns, rows, summary: summary(document, paint) }, paint, size)
  },
  names: ({ items }) => items.map(({ name }) => `virtualmachine.kubevirt.io/${name}`),
}

function summary({ outcome, totals, unread, stoppedBefore }: VmRestartsDocument, { mark }: Paint): string {
  const { total, ...parts } = totals
  if (total === 0)
    return unread
      ? 'no VM waits for a restart of those that may be read'
      : `${mark.done} no VM waits for a restart`
  const bad = (outcome === 'stopped' && !stoppedBefore) || totals.failed > 0
  return `${bad ? mark.failed : mark.done} ${count(total, 'VM')}: ${outcomesText(parts)}`
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
  { name: 'WHY', holds: 'text', cell: ({ why }) => why },
]
