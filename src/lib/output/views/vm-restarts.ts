import type { RehearsedStep } from '../../procedure/rehearse.ts'
import type { RestartedVm, RestartTotals } from '../../workloads/rollout/restart/outcome.ts'
import { count } from '../count.ts'
import type { Column, Document, Tone, View } from '../printer.ts'
import { table } from '../table.ts'
import { wrap } from '../wrap.ts'
import { rehearsedLines } from './rehearsed-steps.ts'

/** The end of `kvup rollout restart`. */
export interface VmRestartsDocument extends Document {
  kind: 'VmRestarts'
  kubevirt: { name: string; namespace: string }
  /** `stopped`: by a rule, a person, or its time; `rehearsed`: a dry run. */
  outcome: 'done' | 'stopped' | 'nothing-to-do' | 'rehearsed'
  dryRun?: 'client' | 'server'
  steps?: readonly RehearsedStep[]
  totals: RestartTotals
  /** What became of each VM that waits for a restart. */
  items: readonly RestartedVm[]
}

export const vmRestartsView: View<VmRestartsDocument> = {
  text({ outcome, items, steps = [], dryRun = 'client', totals }, paint, size) {
    const { total, ...parts } = totals
    const counted = Object.entries(parts).filter(([, some]) => some > 0)
    const bad = outcome === 'stopped' || totals.failed > 0
    const summary =
      total === 0
        ? 'no VM waits for a restart'
        : `${count(total, 'VM')}: ${counted.map(([word, some]) => `${some} ${word}`).join(', ')}`
    return [
      ...(outcome === 'rehearsed' ? [...rehearsedLines({ steps, mode: dryRun }, paint, size), ''] : []),
      ...(items.length > 0 ? [...table(columns, items, { ...size, paint }), ''] : []),
      ...wrap(`${bad ? paint.mark.failed : paint.mark.done} ${summary}`, size.columns),
    ]
  },
  names: ({ items }) => items.map(({ name }) => `virtualmachine.kubevirt.io/${name}`),
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
