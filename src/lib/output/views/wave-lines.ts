import type { ShownWave } from '../../workloads/waves/shown-waves.ts'
import type { Column, Paint, Size } from '../printer.ts'
import { table } from '../table.ts'
import { wrap } from '../wrap.ts'

interface Row {
  wave: string
  namespace: string
  name: string
  by: string
}

const columns: readonly Column<Row>[] = [
  { name: 'WAVE', cell: ({ wave }) => wave },
  { name: 'NAMESPACE', cell: ({ namespace }) => namespace },
  { name: 'VM', cell: ({ name }) => name },
  { name: 'BY', cell: ({ by }) => by },
]

/** Every VM in its wave, in the order in which their turns come. */
export function waveLines(waves: readonly ShownWave[], paint: Paint, size: Size): string[] {
  const rows = waves.flatMap(({ id, vms }) => vms.map((vm) => ({ wave: id, ...vm })))
  return rows.length === 0 ? [] : [...table(columns, rows, { ...size, paint }), '']
}

interface Unread {
  namespace: string
  what: string
  why: string
}

/** That a number is not of all VMs has to be seen beside it. */
export function unreadLines(unread: readonly Unread[], { mark }: Paint, { columns: width }: Size): string[] {
  return unread.flatMap(({ namespace, what, why }) =>
    wrap(
      `${mark.warning} ${what} of namespace ${namespace} may not be read, and are not told of: ${why}`,
      width,
    ),
  )
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
