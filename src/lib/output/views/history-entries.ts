import type { Entry } from '../../procedure/journal.ts'
import { displayWidth } from '../display-width.ts'
import type { Column, Paint, Size } from '../printer.ts'
import { table } from '../table.ts'
import { wrap } from '../wrap.ts'

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
