import type { OpenPrinter } from './open-printer.ts'
import type { Document, Rows, RowsView, View } from './printer.ts'
import type { CommandSpeech } from './spoken-commands.ts'

/** The printer, with every command that it prints made to mean the cluster that was named on the command line. */
export function speakingPrinter(printer: OpenPrinter, speech: CommandSpeech): OpenPrinter {
  return {
    result(document, view, status) {
      if (isData(document)) printer.result(document, view, status)
      else printer.result(speech.parts(document), speakingView(view, speech), status)
    },
    rows: (kind, view) => speakingRows(printer.rows(kind, speakingRowsView(view, speech)), speech),
    event: (event) => printer.event(speech.parts(event)),
    note: (line) => printer.note(speech.line(line)),
    warn: (line) => printer.warn(speech.line(line)),
    finish: (error) => printer.finish(speech.error(error)),
    live: printer.live,
  }
}

/** Objects of the cluster, to be read again by kvup: nothing in them is a word of ours. */
function isData({ kind }: Document): boolean {
  return kind === 'Snapshot'
}

function speakingView<T extends Document>(view: View<T>, speech: CommandSpeech): View<T> {
  return { ...view, text: (...shown) => view.text(...shown).map((line) => speech.line(line)) }
}

function speakingRowsView<Row, T extends Document>(
  view: RowsView<Row, T>,
  speech: CommandSpeech,
): RowsView<Row, T> {
  return { ...view, below: (...shown) => view.below(...shown).map((line) => speech.line(line)) }
}

function speakingRows<Row, T extends Document>(rows: Rows<Row, T>, speech: CommandSpeech): Rows<Row, T> {
  return {
    add: (more) => rows.add(speech.parts(more)),
    end: (document, status) => rows.end(speech.parts(document), status),
  }
}
