import { type Answer, header } from './answer.ts'
import { retryDelay } from './retry-after.ts'

/** Why there was no answer. `refused`: nothing was sent. `cut`: it may have arrived. */
export type Silence = 'refused' | 'cut' | 'timeout' | 'unknown-host' | 'certificate' | 'other'

/** A try that failed, before anybody decided whether it is final. */
export interface Failure {
  /** HTTP status; 0 without an answer. */
  status: number
  /** `metav1.Status.reason`. */
  statusReason: string
  message: string
  cause?: Silence
  /** ms */
  retryAfter?: number
  /** The server names the object that is not there, which is another 404 than an unknown kind. */
  namesObject: boolean
  error?: unknown
}

interface StatusBody {
  message?: string
  reason?: string
  details?: { name?: string; retryAfterSeconds?: number; causes?: { reason?: string }[] }
}

const longestMessage = 1000

export function failureOfAnswer(answer: Answer, body: string, now: Date): Failure {
  const { message, reason = '', details = {} } = parsed(body)
  const after = retryDelay(header(answer, 'retry-after'), writtenAt(answer) ?? now) ?? afterIn(details)
  return {
    status: answer.status,
    statusReason: reason,
    message: shortened(message ?? (body.trim() || `HTTP ${answer.status}`)),
    namesObject: Boolean(details.name),
    ...(after > 0 && !isBudget(details) && { retryAfter: after }),
  }
}

/** By the clock of whoever wrote `Retry-After`. */
function writtenAt(answer: Answer): Date | undefined {
  const date = new Date(header(answer, 'date') ?? '')
  return Number.isNaN(date.getTime()) ? undefined : date
}

const afterIn = ({ retryAfterSeconds = 0 }: NonNullable<StatusBody['details']>) => retryAfterSeconds * 1000

/** The failure that a `metav1.Status` inside a watch stands for. */
export function failureOfStatus(object: { code?: number } & StatusBody): Failure {
  return {
    status: object.code ?? 500,
    statusReason: object.reason ?? '',
    message: shortened(object.message ?? 'the watch failed'),
    namesObject: false,
  }
}

/** The no of a PodDisruptionBudget is an answer, and not an overloaded server. */
function isBudget({ causes = [] }: NonNullable<StatusBody['details']>): boolean {
  return causes.some(({ reason }) => reason === 'DisruptionBudget')
}

function parsed(body: string): StatusBody {
  try {
    const value: unknown = JSON.parse(body)
    return typeof value === 'object' && value !== null ? value : {}
  } catch {
    return {}
  }
}

/** Keeps both ends: the beginning says what, the end says why. */
export function shortened(text: string, most = longestMessage): string {
  if (text.length <= most) return text
  const half = Math.floor((most - 5) / 2)
  return `${text.slice(0, half)} […] ${text.slice(-half)}`
}
