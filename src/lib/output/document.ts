import { exitCode, KvupError, Unforeseen } from '../kube/errors.ts'
import type { Document, DocumentStatus } from './printer.ts'

/** The `error` of a document. `code` is the exit code; the rest is there where it is known. */
interface DocumentError {
  code: number
  reason: string
  message: string
  object?: string
  notes?: readonly string[]
  remedy?: readonly string[]
}

export type SealedDocument = Document & { status: DocumentStatus; error?: DocumentError }

/** The document with `status` and `error` as its last two fields. An error makes a complete one `failed`. */
export function seal(document: Document, status: DocumentStatus, error?: unknown): SealedDocument {
  const { status: _, error: __, ...rest } = document as Document & { status?: unknown; error?: unknown }
  if (error === undefined) return { ...rest, status }
  return { ...rest, status: status === 'partial' ? 'partial' : 'failed', error: describeError(error) }
}

/** Foreseen failures as they are; anything else is a bug: code 1, reason `bug`. */
export function describeError(error: unknown): DocumentError {
  if (!(error instanceof KvupError)) {
    return {
      code: exitCode.bug,
      reason: 'bug',
      message: error instanceof Error ? error.message : String(error),
      remedy: [
        error instanceof Unforeseen
          ? `report it with ${error.log}, which says where it happened`
          : 'run it again with -v 6 and report what it prints',
      ],
    }
  }
  return {
    code: error.exitCode,
    reason: error.reason,
    message: error.message,
    ...(error.object !== undefined && { object: error.object }),
    ...(error.notes.length > 0 && { notes: error.notes }),
    ...(error.remedy.length > 0 && { remedy: error.remedy }),
  }
}
