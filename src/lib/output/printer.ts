import type { ReportedCheck } from '../checks/check-run.ts'
import type { RunEvent } from '../engine/step.ts'
import type { Clock } from '../kube/clock.ts'
import type { StatusReport } from '../status/status-report.ts'
import { exitCode, KvupError, Unforeseen } from '../kube/errors.ts'

/** Every JSON or YAML document that kvup prints. `status` and `error` are added by the printer, last. */
export interface Document {
  apiVersion: 'kvup.io/v1alpha1'
  kind: string
}

export type DocumentStatus = 'complete' | 'partial' | 'failed'

/** A cell is shown as it is; undefined shows as `<none>`. */
type Cell = string | number | undefined

export interface Column<Row> {
  /** Capitals, no blanks: `NAMESPACE`. */
  name: string
  cell: (row: Row) => Cell
  /** Absent: a name or another short thing. Free text gives way first on a narrow terminal; a command can always be pasted. */
  holds?: 'text' | 'command'
  /** Only with `-o wide`. */
  wide?: boolean
  /** Colour of the cell; its word must say the same. */
  tone?: (row: Row) => Tone | undefined
}

export type Tone = 'good' | 'bad' | 'warn' | 'dim' | 'strong'

/** The room a view has. `columns` is Infinity where nothing may be cut (a pipe, a file). */
export interface Size {
  columns: number
  /** Of a terminal on which what is written once stays: what has no room scrolls away. Absent elsewhere. */
  rows?: number
  wide: boolean
  /** False with `--no-headers`. Absent: true. */
  headers?: boolean
}

/** How one kind of document is shown to a person. JSON, YAML, jsonpath and custom-columns need no view. */
export interface View<T extends Document> {
  /** What `-o table` prints; lines without a newline at the end. `paint` colours where colour is on. */
  text(document: T, paint: Paint, size: Size): readonly string[]
  /** `kind/name` per line for `-o name`. */
  names(document: T): readonly string[]
  /** What it can be for other programs: a whole file each. */
  formats?: { [F in ReportFormat]?: Report<T>['whole'] }
}

/** How rows that come page by page are shown to a person. */
export interface RowsView<Row, T extends Document> {
  columns: readonly Column<Row>[]
  /** `kind/name`, for `-o name`. */
  name(row: Row): string
  /** The lines below the rows, and all there is where there are none. Not told with `--no-headers`, which asks for rows alone. */
  below(document: T, paint: Paint, size: Size): readonly string[]
  /** All of `-o table`, where the verdict stands above the rows: these are kept until the end. With `-o wide` they are told as they come. */
  whole?(document: T & { items: readonly Row[] }, paint: Paint, size: Size): readonly string[]
}

/** An answer of many rows that is told while they are read; nothing of them is kept where the format allows it. */
export interface Rows<Row, T extends Document> {
  add(rows: readonly Row[]): void
  /** Once, last: what the document says besides its `items`. */
  end(document: T, status?: DocumentStatus): void
}

/** A method, so that a view of some document is one of documents. */
interface Report<T extends Document> {
  whole(document: T): string
}

/** Formats that only some documents have. */
export type ReportFormat = 'junit' | 'markdown' | 'html' | 'github' | 'argo-workflow'

/** Every state has a word and a shape: colour is never alone. Each returns the text, coloured or not. */
export interface Paint {
  good(text: string): string
  bad(text: string): string
  warn(text: string): string
  dim(text: string): string
  strong(text: string): string
  /** ✔ ✖ ▸ ! → · or their ASCII stand-ins. `next` leads to a line to type, and only that; `to` from one version to another. */
  readonly mark: Readonly<Record<'done' | 'failed' | 'running' | 'warning' | 'next' | 'to' | 'dot', string>>
  /** `███░░` of that many cells. */
  bar(done: number, total: number, cells: number): string
}

/** What a command that is no run tells while it is at work: for `-o ndjson` alone, for a person reads the same in its lines. */
export type Observation =
  /** Of `kvup check`: what became of one check. */
  | { kind: 'check-made'; at: string; check: ReportedCheck }
  /** Of `kvup wait`: each look that differs. Without `waitingFor` the condition holds. */
  | {
      kind: 'wait-observed'
      at: string
      for: string
      verdict?: NonNullable<StatusReport['verdict']>
      version?: string
      waitingFor?: string
      why?: NonNullable<StatusReport['why']>
    }

/** Every way a command can speak. The answer goes to stdout, the story to stderr (with `-o ndjson` events are stdout). */
export interface Printer {
  /** The answer. May be called again with `-w`: a document per change. */
  result<T extends Document>(document: T, view: View<T>, status?: DocumentStatus): void
  /** With `-w`: the cluster was read again and reads as before. A page on a terminal says when; nothing is printed anywhere else. */
  unchanged<T extends Document>(document: T, view: View<T>): void
  /** The answer as rows that come by and by: the `items` of a document of this kind, which `end` completes. Not with `-w`. */
  rows<Row, T extends Document>(kind: T['kind'], view: RowsView<Row, T>): Rows<Row, T>
  event(event: RunEvent): void
  /** What is told with `-o ndjson` alone; absent where nobody hears it. */
  observe?(observation: Observation): void
  /** From now on that is waited for (`reading the manifest`), until the next word: shown on a terminal alone. */
  awaiting(what: string): void
  /** From now on every figure of time is of this clock: that of a simulated cluster. */
  timeBy?(clock: Clock): void
  /** A line of the story. */
  note(line: string): void
  /** Lines of the story that are laid out for where it is told: painted there, and broken between words. Absent: each is a note. */
  screen?(lines: (paint: Paint) => readonly string[]): void
  warn(line: string): void
}

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

/** The document with `status` and `error` as its last two fields. An error makes a complete one `failed`, and one that has no `outcome` gets that of the error. */
export function seal(document: Document, status: DocumentStatus, error?: unknown): SealedDocument {
  const { status: _, error: __, ...rest } = document as Document & { status?: unknown; error?: unknown }
  if (error === undefined) return { ...rest, status }
  const described = describeError(error)
  if (status === 'partial') return { ...rest, status, error: described }
  const outcome = 'outcome' in rest ? {} : { outcome: outcomeOf(described) }
  return { ...rest, ...outcome, status: 'failed', error: described }
}

/** How a command ended that failed, in a word. */
type FailureOutcome = 'stalled' | 'timed-out' | 'interrupted' | 'blocked' | 'failed'

function outcomeOf({ code, reason }: DocumentError): FailureOutcome {
  if (code === exitCode.timedOut) return reason === 'stalled' ? 'stalled' : 'timed-out'
  if (code === exitCode.interrupted || code === exitCode.terminated) return 'interrupted'
  return code === exitCode.blocked ? 'blocked' : 'failed'
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

/** An event as a document of its own: its kind becomes `event`. */
export function eventDocument({ kind, ...rest }: RunEvent | Observation): object {
  return { apiVersion: 'kvup.io/v1alpha1', kind: 'Event', event: kind, ...rest }
}
