import type { OpenPrinter } from './open-printer.ts'
import type { Document, View } from './printer.ts'
import type { CommandSpeech } from './spoken-commands.ts'

/** The printer, with every command that it prints made to mean the cluster that was named on the command line. */
export function speakingPrinter(printer: OpenPrinter, speech: CommandSpeech): OpenPrinter {
  return {
    result(document, view, status) {
      if (isData(document)) printer.result(document, view, status)
      else printer.result(speech.parts(document), speakingView(view, speech), status)
    },
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
