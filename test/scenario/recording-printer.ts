import type { Context } from '../../src/context.ts'
import type { Document, Paint, Rows, RowsView } from '../../src/lib/output/printer.ts'
import { ownMark, printedLine } from '../../src/lib/output/terminal.ts'
import { table } from '../../src/lib/output/table.ts'
import type { RunEvent } from '../../src/lib/engine/step.ts'
import type { Clock } from '../../src/lib/kube/clock.ts'

/** All that a command said, in the order in which it said it. */
export interface Recorded {
  /** The answer, the notes, the warnings and the remarks, as lines. */
  lines: string[]
  documents: (Document & Record<string, unknown>)[]
  events: (RunEvent & { after: number })[]
}

const plain = (text: string) => text
const paint: Paint = {
  good: plain,
  bad: plain,
  warn: plain,
  dim: plain,
  strong: plain,
  mark: { done: '+', failed: 'x', running: '>', warning: '!', next: `${ownMark}->`, to: '->', dot: '.' },
  bar: () => '',
}

export function recordingPrinter(
  clock: Clock,
  onEvent: (event: RunEvent) => void = () => undefined,
  wide = false,
): { printer: Context['printer']; recorded: Recorded } {
  const began = clock.now().getTime()
  const recorded: Recorded = { lines: [], documents: [], events: [] }
  return {
    recorded,
    printer: {
      result(document, view) {
        recorded.documents.push(document as Document & Record<string, unknown>)
        recorded.lines.push(...view.text(document, paint, { columns: Infinity, wide }).map(printedLine))
      },
      unchanged: () => undefined,
      rows<Row, T extends Document>(kind: string, view: RowsView<Row, T>): Rows<Row, T> {
        const items: Row[] = []
        return {
          add: (rows) => void items.push(...rows),
          end(document) {
            recorded.documents.push({ ...(document as object), apiVersion: document.apiVersion, kind, items })
            const size = { columns: Infinity, wide }
            const lines = [...table(view.columns, items, size), ...view.below(document, paint, size)]
            recorded.lines.push(...lines.map(printedLine))
          },
        }
      },
      event(event) {
        recorded.events.push({ ...event, after: clock.now().getTime() - began })
        onEvent(event)
        if (event.kind === 'remark') recorded.lines.push(event.text)
      },
      awaiting: () => undefined,
      note: (line) => void recorded.lines.push(line),
      warn: (line) => void recorded.lines.push(line),
    },
  }
}
