import type { RunEvent } from '../../engine/step.ts'
import { progressAfter, progressFailed, progressOf, type RunProgress } from '../progress/run-progress.ts'
import {
  describeError,
  type Document,
  type ReportFormat,
  type SealedDocument,
  type View,
} from '../printer.ts'
import { sanitiseDeep } from '../terminal.ts'

/** All that a command said, for a report that other programs read. Nothing in it moves a terminal. */
export interface Told {
  /** What it is called: `kvup upgrade`. */
  command: string
  /** Absent where it ended before it had an answer. */
  document?: Document
  view?: View<Document>
  /** Its steps, as far as they were told; none of a command that has none. */
  run: RunProgress
  error?: SealedDocument['error']
  /** RFC 3339. */
  at: string
}

/** A whole report; empty where there is nothing to say. */
export type MakeReport = (told: Told) => string

/** Formats of a document's own; a failure without a document has none of them. */
const byView =
  (format: ReportFormat): MakeReport =>
  ({ document, view }) =>
    document === undefined ? '' : (view?.formats?.[format]?.(document) ?? '')

const makers: Readonly<Record<ReportFormat, () => Promise<MakeReport>>> = {
  markdown: async () => byView('markdown'),
  'argo-workflow': async () => byView('argo-workflow'),
  junit: async () => (await import('./junit.ts')).junitReport,
  github: async () => (await import('./annotations.ts')).annotationReport,
}

interface ReportAnswer {
  give(given: { document: Document; view: View<Document> }): void
  event(event: RunEvent): void
  end(error?: unknown): void
}

/** Told at the end, for a failure is part of it; with `isWatch` at each answer. */
export async function reportAnswer(
  format: ReportFormat,
  {
    command,
    write,
    now,
    isWatch,
  }: { command: string; write: (text: string) => void; now: () => Date; isWatch: boolean },
): Promise<ReportAnswer> {
  const make = await makers[format]()
  let run = progressOf([])
  let kept: Pick<Told, 'document' | 'view'> | undefined
  const tell = (error?: unknown) => {
    const at = now().toISOString()
    const failed = error === undefined ? {} : { error: describeError(error), run: progressFailed(run, at) }
    const told = make({ command, at, run, ...sanitiseDeep({ ...failed }), ...kept })
    kept = undefined
    if (told !== '') write(told)
  }
  return {
    give({ document, view }) {
      kept = { document: sanitiseDeep(document), view }
      if (isWatch) tell()
    },
    event(event) {
      run = progressAfter(run, sanitiseDeep(event))
    },
    end(error) {
      if (kept !== undefined || error !== undefined) tell(error)
    },
  }
}
