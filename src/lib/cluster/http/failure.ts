import { isFields } from '../apply/field-path.ts'
import { type Answer, header } from './answer.ts'
import { bodyInWords, shortened } from './body-in-words.ts'
import { isMarked } from './is-kubernetes.ts'
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
  /** Who answered is no API server: a gateway before one, or something else at a wrong address. */
  foreign?: true
  /** So is the 404 of a gateway that has lost for a moment the API server that was heard through it. */
  astray?: true
  error?: unknown
}

interface StatusBody {
  kind?: string
  message?: string
  reason?: string
  details?: { name?: string; retryAfterSeconds?: number; causes?: { reason?: string }[] }
}

/** `passedOn`: somebody behind the API server answers, who need not be one. */
export function failureOfAnswer(
  answer: Answer,
  body: string,
  { now, passedOn }: { now: Date; passedOn: boolean },
): Failure {
  const said = parsed(body)
  const { message, reason = '', details = {} } = said
  const after = retryDelay(header(answer, 'retry-after'), writtenAt(answer) ?? now) ?? afterIn(details)
  return {
    status: answer.status,
    statusReason: reason,
    message: message === undefined ? unsaid(answer, body) : shortened(message),
    namesObject: Boolean(details.name),
    ...(!passedOn && isForeign(answer, said) && { foreign: true }),
    ...(after > 0 && !isBudget(details) && { retryAfter: after }),
  }
}

const isForeign = (answer: Answer, { kind }: StatusBody): boolean => kind !== 'Status' && !isMarked(answer)

function unsaid(answer: Answer, body: string): string {
  const status = `HTTP ${answer.status}`
  const to = header(answer, 'location')
  if (answer.status < 400 && to !== undefined) return `${status}, which leads to ${withoutQuery(to)}`
  const words = bodyInWords(body)
  return words === '' ? status : `${status}: ${words}`
}

/** What stands behind `?` may be a secret. */
const withoutQuery = (address: string): string => shortened(address.replace(/[?#].*$/su, ''), 120)

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
    return isFields(value) ? statusIn(value) : {}
  } catch {
    return {}
  }
}

/** Gateways have fields of these names as well, and other things in them. */
function statusIn({ kind, message, reason, details }: Record<string, unknown>): StatusBody {
  return {
    ...(typeof kind === 'string' && { kind }),
    ...(typeof message === 'string' && { message }),
    ...(typeof reason === 'string' && { reason }),
    ...(isFields(details) && { details: detailsIn(details) }),
  }
}

function detailsIn({
  name,
  retryAfterSeconds,
  causes,
}: Record<string, unknown>): NonNullable<StatusBody['details']> {
  return {
    ...(typeof name === 'string' && { name }),
    ...(typeof retryAfterSeconds === 'number' && { retryAfterSeconds }),
    ...(Array.isArray(causes) && { causes: causes.filter(isFields) }),
  }
}
