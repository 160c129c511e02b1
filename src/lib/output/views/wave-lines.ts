import type { ShownWave } from '../../workloads/waves/shown-waves.ts'
import type { Column, Paint, Size } from '../printer.ts'
import { table } from '../table.ts'
import { wrap } from '../wrap.ts'

interface Row {
  wave: string
  namespace: string
  name: string
  by: string
  onlyOnce?: boolean
}

const columns: readonly Column<Row>[] = [
  { name: 'WAVE', cell: ({ wave }) => wave },
  { name: 'NAMESPACE', cell: ({ namespace }) => namespace },
  { name: 'VM', cell: ({ name }) => name },
  { name: 'BY', cell: ({ by }) => by },
]
/** Only where there is something to say. */
const noted: Column<Row> = {
  name: 'NOTE',
  holds: 'text',
  cell: ({ onlyOnce }) =>
    onlyOnce ? 'does not come back by itself: only this restart starts it' : undefined,
}

/** Of a VM that is restarted: what a person has to know before the answer (facts 3.4). */
export const onlyOnceText =
  'its runStrategy does not bring it back by itself; only this restart starts it again'

/** Every VM in its wave, in the order in which their turns come. */
export function waveLines(waves: readonly ShownWave[], paint: Paint, size: Size): string[] {
  const rows = waves.flatMap(({ id, vms }) => vms.map((vm) => ({ wave: id, ...vm })))
  if (rows.length === 0) return []
  const shown = rows.some(({ onlyOnce }) => onlyOnce) ? [...columns, noted] : columns
  return [...table(shown, rows, { ...size, paint }), '']
}

interface Unread {
  namespace: string
  what: string
  why: string
}

const fewNamespaces = 5

/** A sentence for each kind of which not all may be read; the reason is that of the first namespace. */
export function unreadText(unread: readonly Unread[]): readonly string[] {
  return [...Map.groupBy(unread, ({ what }) => what)].map(([what, all]) => {
    const names = all.slice(0, fewNamespaces).map(({ namespace }) => namespace)
    const more = all.length > names.length ? ` and ${all.length - names.length} more` : ''
    return `${what} may not be read in ${names.join(', ')}${more}, and nothing is done there: ${all[0]?.why ?? ''}`
  })
}

/** That a number is not of all VMs has to be seen beside it. */
export function unreadLines(unread: readonly Unread[], { mark }: Paint, { columns: width }: Size): string[] {
  return unreadText(unread).flatMap((line) => wrap(`${mark.warning} ${line}`, width))
}

/** Where a run ended because it was asked to. */
export interface StoppedBefore {
  step: string
  because: string
}

export function stoppedLines(
  stopped: StoppedBefore | undefined,
  next: readonly string[],
  { paint, size }: { paint: Paint; size: Size },
): string[] {
  if (stopped === undefined) return []
  const { mark } = paint
  return [
    ...wrap(`${mark.warning} stopped before ${stopped.step} (${stopped.because})`, size.columns),
    ...next.flatMap((line) => wrap(`  ${mark.next} ${line}`, size.columns)),
  ]
}
