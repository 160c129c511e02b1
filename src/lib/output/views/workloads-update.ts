import type { UpdatedVm, UpdateTotals } from '../../workloads/update/report.ts'
import { narrowedLine } from '../../system/narrowed-line.ts'
import { count } from '../count.ts'
import type { Column, Paint, Size, Tone, View } from '../printer.ts'
import { wrap } from '../wrap.ts'
import { outcomesText, type WaveRunDocument, waveRunLines } from './wave-run.ts'

/** The end of `kvup workloads update`. */
export interface WorkloadsUpdateDocument extends WaveRunDocument {
  kind: 'WorkloadsUpdate'
  /** What was asked for; empty: the whole cluster. */
  selection: { namespace?: string; labels?: string; node?: string }
  totals: UpdateTotals
  /** What became of each VM that this run had to do with. */
  items: readonly UpdatedVm[]
}

export const workloadsUpdateView: View<WorkloadsUpdateDocument> = {
  text(document, paint, size) {
    const { items, waves = [] } = document
    const inWaves = waves.length > 0
    const rows = items.filter(
      ({ outcome }) => size.wide || (outcome !== 'migrated' && !(inWaves && outcome === 'waiting')),
    )
    const lines = waveRunLines(document, { columns, rows, summary: summary(document, paint) }, paint, size)
    return [...lines, ...next(document, paint, size)]
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
  { name: 'WHY', holds: 'text', cell: ({ why }) => why },
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
  const sign =
    outcome === 'stopped' && !stoppedBefore ? mark.failed : totals.failed > 0 ? mark.warning : mark.done
  return `${sign} ${count(total, 'VM')}: ${outcomesText(parts)}`
}

/** The table has the reasons; a command for each kind of reason is enough. */
const remediesAtMost = 5

function next(
  { items, outcome, stoppedBefore, selection }: WorkloadsUpdateDocument,
  { mark }: Paint,
  { columns: width }: Size,
): string[] {
  if (outcome === 'rehearsed' || stoppedBefore) return []
  const remedies = [...new Set(remediesOf(items, selection))].slice(0, remediesAtMost)
  return remedies.flatMap((line) => wrap(`  ${mark.next} ${line}`, width))
}

const isRestart = (line: string) => line.startsWith('virtctl restart ')

/** Several that only a restart helps are restarted one after the other, each one well again before the next. */
function remediesOf(
  items: readonly UpdatedVm[],
  selection: WorkloadsUpdateDocument['selection'],
): readonly string[] {
  const all = items.flatMap(({ remedy = [] }) => remedy)
  const began = items.some(({ by }) => by === 'restart')
  if (began || all.filter(isRestart).length < 2) return all
  const update = narrowedLine('kvup workloads update', selection)
  const paced = `${update} --restart-unmigratable     restarts the VMs that are left, one by one`
  return [...all.filter((line) => !isRestart(line)), paced]
}
