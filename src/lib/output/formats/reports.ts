import type { RunEvent } from '../../engine/step.ts'
import { progressAfter, progressFailed, progressOf, type RunProgress } from '../progress/run-progress.ts'
import {
  describeError,
  type Document,
  type DocumentStatus,
  eventDocument,
  type ReportFormat,
  seal,
  type SealedDocument,
  type View,
} from '../printer.ts'
import type { Fields, ReportSource } from '../report/fields.ts'
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
  /** For a page or a ticket: its document and events, without what must not be forwarded. */
  source?: ReportSource
}

/** What a page or a ticket is made with. */
export interface Making {
  /** Of kvup itself. */
  version: string
  /** Leaves out what must not be forwarded. Absent: nothing is left out. */
  redact?: () => Promise<(source: ReportSource, names: 'hidden' | 'kept') => ReportSource>
}

/** A whole report; empty where there is nothing to say. */
export type MakeReport = (told: Told) => string

const makers: Readonly<Record<ReportFormat, (making: Making) => Promise<MakeReport>>> = {
  async markdown({ redact }) {
    const { reportMarkdown } = await import('../report/report-markdown.ts')
    return ({ source, view }) =>
      source === undefined
        ? ''
        : (view?.formats?.markdown?.(source.document as unknown as Document) ??
          reportMarkdown(source, { redacted: redact !== undefined }))
  },
  async html({ version, redact }) {
    const { reportPage } = await import('../report/report-page.ts')
    return ({ source, at }) =>
      source === undefined ? '' : reportPage(source, { version, at, redacted: redact !== undefined })
  },
  // A failure without a document has none.
  'argo-workflow': async () => (told) =>
    (told.document && told.view?.formats?.['argo-workflow']?.(told.document)) ?? '',
  junit: async () => (await import('./junit.ts')).junitReport,
  github: async () => (await import('./annotations.ts')).annotationReport,
}

interface Reporting {
  command: string
  write: (text: string) => void
  now: () => Date
  isWatch: boolean
  making: Making
}

interface ReportAnswer {
  give(given: { document: Document; view: View<Document>; status: DocumentStatus }): void
  event(event: RunEvent): void
  end(error?: unknown): void
}

/** Told at the end, for a failure is part of it; with `isWatch` at each answer. */
export async function reportAnswer(
  format: ReportFormat,
  { command, write, now, isWatch, making }: Reporting,
): Promise<ReportAnswer> {
  const make = await makers[format](making)
  const isForwarded = format === 'html' || format === 'markdown'
  const redact = isForwarded ? await making.redact?.() : undefined
  let run = progressOf([])
  const events: object[] = []
  let kept: { document: Document; view: View<Document>; status: DocumentStatus } | undefined
  const sourceOf = (error: unknown): ReportSource => {
    const { document, status } = kept ?? {
      document: { apiVersion: 'kvup.io/v1alpha1', kind: 'Error' },
      status: 'failed',
    }
    const source = {
      document: { ...sanitiseDeep(seal(document, status, error)) },
      events: events as Fields[],
    }
    // What is read for a review has its names: a stand-in of a registry tells nobody whose it is.
    const isReviewed = format === 'markdown' && kept?.view.formats?.markdown !== undefined
    return redact?.(source, isReviewed ? 'kept' : 'hidden') ?? source
  }
  const tell = (error?: unknown) => {
    const at = now().toISOString()
    const failed = error === undefined ? {} : { error: describeError(error), run: progressFailed(run, at) }
    const told = make({
      command,
      at,
      run,
      ...sanitiseDeep({ ...failed }),
      ...(kept && { document: kept.document, view: kept.view }),
      ...(isForwarded && { source: sourceOf(error) }),
    })
    kept = undefined
    if (told !== '') write(told)
  }
  return {
    give({ document, view, status }) {
      kept = { document: sanitiseDeep(document), view, status }
      if (isWatch) tell()
    },
    event(event) {
      const told = sanitiseDeep(event)
      run = progressAfter(run, told)
      if (isForwarded) events.push(eventDocument(told))
    },
    end(error) {
      if (kept !== undefined || error !== undefined) tell(error)
    },
  }
}
