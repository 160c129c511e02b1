import { mayBePrinted } from './line-guard.ts'
import { oneLine } from './shell-line.ts'
import { onSingleLine } from './text.ts'

/** Exit codes are part of the interface: scripts branch on them. docs/exit-codes.md is held to this table by a test. */
export const exitCode = {
  done: 0,
  bug: 1,
  usage: 2,
  blocked: 3,
  timedOut: 4,
  drifted: 5,
  locked: 6,
  forbidden: 7,
  unreachable: 8,
  lost: 9,
  asked: 10,
  interrupted: 130,
  terminated: 143,
} as const

export type ExitCode = (typeof exitCode)[keyof typeof exitCode]

/** Ends after which the same line continues: timed out, unreachable, Ctrl-C and SIGTERM. Every other one needs a person. */
export const retriedCodes: readonly number[] = [
  exitCode.timedOut,
  exitCode.unreachable,
  exitCode.interrupted,
  exitCode.terminated,
]

export interface Details {
  /** The object that it failed on, as `kubectl` names it: `kubevirts/kubevirt in namespace kubevirt`. */
  object?: string | undefined
  /** The exact command that helps, or what to do. One line each. */
  remedy?: string | readonly string[] | undefined
  /** What else has to be known, a line each; no commands. */
  notes?: readonly string[] | undefined
  /** What the command works on was not found: the command that looks for it. A run that has seen it looks again before it believes that. */
  sought?: string | undefined
  cause?: unknown
  left?: LeftCluster | undefined
}

/** How a run that ended early left the cluster, with the lines to type: what a person sees in place of notes and remedies. `ClusterState` of the status is one. */
export interface LeftCluster {
  is: string
  headline: string
  why: readonly string[]
  next?: string
  afterwards?: string
  instead?: string
  details?: string
  back?: string
  /** Further ones that help. */
  commands?: readonly string[]
}

const ownLines = new Set<string>()

/** A further line of a message that kvup makes. Every other one is somebody else's, and is shown behind a bar. */
export function ownLine(text: string): string {
  const line = onSingleLine(text).trim()
  ownLines.add(line)
  return line
}

export const isOwnLine = (line: string): boolean => ownLines.has(line.trim())

/** A failure that was foreseen. Anything else that reaches `main` is a bug and is reported as one. */
export class KvupError extends Error {
  override readonly name: string = 'KvupError'
  readonly exitCode: ExitCode
  /** Stable, kebab-case: what a script branches on besides the exit code. */
  readonly reason: string
  readonly object: string | undefined
  readonly remedy: readonly string[]
  readonly notes: readonly string[]
  readonly sought: string | undefined
  readonly left: LeftCluster | undefined

  constructor(
    code: ExitCode,
    reason: string,
    message: string,
    { object, remedy, notes, sought, cause, left }: Details = {},
  ) {
    super(message, cause === undefined ? {} : { cause })
    this.exitCode = code
    this.reason = reason
    this.object = object
    const lines = remedy === undefined ? [] : typeof remedy === 'string' ? [remedy] : remedy
    // In every format, a document's too: a line that is pasted is one that kvup made.
    this.remedy = lines.map(oneLine).filter(mayBePrinted)
    this.notes = notes ?? []
    this.sought = sought
    this.left = left
  }
}

/** A bug, and the file that tells more of it. */
export class Unforeseen extends Error {
  override readonly name = 'Unforeseen'
  readonly log: string

  constructor(error: unknown, log: string) {
    super(messageOf(error), { cause: error })
    this.log = log
  }
}

const failure =
  (code: ExitCode) =>
  (reason: string, message: string, details?: Details): KvupError =>
    new KvupError(code, reason, message, details)

/** What was typed cannot be meant: exit 2. */
export const usageError = failure(exitCode.usage)
/** The cluster, a finding or an answer forbids going on: exit 3. */
export const blocked = failure(exitCode.blocked)
export const timedOut = failure(exitCode.timedOut)
/** The cluster is no longer the one that the plan was made for: exit 5. */
export const drifted = failure(exitCode.drifted)
/** Somebody else is at work: exit 6. */
export const locked = failure(exitCode.locked)
export const forbidden = failure(exitCode.forbidden)
export const unreachable = failure(exitCode.unreachable)
/** It is done, but a running VM or a volume disappeared meanwhile, and no owner deleted it: exit 9. */
export const lost = failure(exitCode.lost)
/** Ctrl-C (130), SIGTERM or SIGHUP (143); also used as the reason of the AbortSignal that ends the waits. */
export const interrupted = (signal: 'SIGINT' | 'SIGTERM' | 'SIGHUP', details?: Details): KvupError =>
  new KvupError(
    signal === 'SIGINT' ? exitCode.interrupted : exitCode.terminated,
    'interrupted',
    `interrupted by ${signal}`,
    details,
  )

/** The API server answered with a failure. Callers branch on `status`; who does not gets the right exit code. */
export class ApiError extends KvupError {
  override readonly name = 'ApiError'
  /** HTTP status; 0 when there was no answer at all. */
  readonly status: number
  /** `metav1.Status.reason`: NotFound, AlreadyExists, Conflict, Expired, Invalid, Forbidden … */
  readonly statusReason: string

  constructor(status: number, statusReason: string, message: string, details?: Details) {
    super(codeOf(status), reasonOf(status), message, details)
    this.status = status
    this.statusReason = statusReason
  }
}

function codeOf(status: number): ExitCode {
  if (status === 401 || status === 403) return exitCode.forbidden
  return status === 0 || status === 429 || status >= 500 ? exitCode.unreachable : exitCode.blocked
}

function reasonOf(status: number): string {
  if (status === 401) return 'unauthorized'
  if (status === 403) return 'forbidden'
  return codeOf(status) === exitCode.unreachable ? 'unreachable' : 'refused'
}

/** True for the answer "there is no such object" (or no such kind). */
export const isNotFound = (error: unknown): error is ApiError =>
  error instanceof ApiError && error.status === 404

/** True when somebody else wrote first: read again, decide again. */
export const isConflict = (error: unknown): error is ApiError =>
  error instanceof ApiError && error.status === 409

/** What the work gives, or `otherwise` where there is no such object or kind. Throws every other failure. */
export const unlessAbsent = <T, E>(work: Promise<T>, otherwise: E): Promise<T | E> =>
  work.catch((error: unknown) => {
    if (isNotFound(error)) return otherwise
    throw error
  })

/** What was read, or `otherwise` (by default undefined) where reading failed as a KvupError: what was done is done, whatever becomes of its report. Throws every other error. */
export const asFarAsRead = <T, E = undefined>(work: Promise<T>, otherwise?: E): Promise<T | E> =>
  orElse(work, () => otherwise as E)

/** The same, where what is told instead names the failure. */
export const orElse = <T, E>(work: Promise<T>, otherwise: (failure: KvupError) => E): Promise<T | E> =>
  work.catch((error: unknown) => {
    if (error instanceof KvupError) return otherwise(error)
    throw error
  })

/** The reason of a run that ends where somebody has to approve something: no failure, and its message is the whole sentence. */
export const approvalNeeded = 'approval-needed'

/** What a failure says; of what is no Error its text. */
export const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error))

/** For `readText(file).catch(…)`: throws `usage`, `cannot read the catalog c.yaml: …`. */
export const cannotRead =
  (reason: string, what: string, remedy: string) =>
  (cause: unknown): never => {
    throw usageError(reason, `cannot read ${what}: ${messageOf(cause)}`, { remedy, cause })
  }
