import type { Document, DocumentStatus, View } from './printer.ts'
import type { SealedDocument } from './document.ts'
import { seal } from './document.ts'

/** A document and what a person would be shown of it. */
export interface Given {
  document: Document
  view: View<Document>
  status: DocumentStatus
}

/** How the answers of a command reach stdout in one format. */
export interface Answer {
  give(given: Given): void
  /** Nothing more comes; `error` is why, when the command failed. */
  end(error?: unknown): void
}

/** Text: each answer as it comes; an error belongs on the other stream. */
export function textAnswer(write: (text: string) => void, text: (given: Given) => string): Answer {
  return { give: (given) => write(text(given)), end: () => undefined }
}

/**
 * Documents: the last answer is kept until the end, so that an error that follows is in it and stdout holds one document.
 * With `isWatch` each is written at once. A failure without any answer is a document of `failureKind`.
 */
export function documentAnswer(
  write: (document: SealedDocument) => void,
  { isWatch, failureKind }: { isWatch: boolean; failureKind: string },
): Answer {
  let kept: Given | undefined
  const flush = (error?: unknown) => {
    if (kept !== undefined) write(seal(kept.document, kept.status, error))
    kept = undefined
  }
  return {
    give(given) {
      flush()
      kept = given
      if (isWatch) flush()
    },
    end(error) {
      if (kept === undefined && error !== undefined) {
        write(seal({ apiVersion: 'kvup.io/v1alpha1', kind: failureKind }, 'failed', error))
      } else flush(error)
    },
  }
}
