import { isRecord, type KubeObject, parseJson } from '../object.ts'
import type { ServerVersion } from '../cluster.ts'
import { ApiError } from '../errors.ts'
import type { Readable } from 'node:stream'

/** Why there was no answer. `refused`: nothing was sent. `cut`: it may have arrived. */
type Silence = 'refused' | 'cut' | 'timeout' | 'unknown-host' | 'certificate' | 'other'

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

/** What a `metav1.Status` says. */
interface StatusBody {
  message?: string
  reason?: string
}

/** `passedOn`: somebody behind the API server answers, who need not be one. */
export function failureOfAnswer(
  answer: Answer,
  body: string,
  { now, passedOn }: { now: Date; passedOn: boolean },
): Failure {
  const parsed = parseJson(body)
  // Gateways have fields of these names as well, and other things in them.
  const said = isRecord(parsed) ? parsed : {}
  const details = isRecord(said['details']) ? said['details'] : {}
  const { retryAfterSeconds: seconds, name, causes } = details
  const { message, reason, kind } = said
  const later = typeof seconds === 'number' ? seconds * 1000 : 0
  const after = retryDelay(header(answer, 'retry-after'), writtenAt(answer) ?? now) ?? later
  return {
    status: answer.status,
    statusReason: typeof reason === 'string' ? reason : '',
    message: typeof message === 'string' ? shortened(message) : unsaid(answer, body),
    namesObject: typeof name === 'string' && name !== '',
    ...(!passedOn && kind !== 'Status' && !isMarked(answer) && { foreign: true }),
    ...(after > 0 && !isBudget(causes) && { retryAfter: after }),
  }
}

/** The no of a PodDisruptionBudget is an answer, and not an overloaded server. */
const isBudget = (causes: unknown): boolean =>
  Array.isArray(causes) && causes.some((one) => isRecord(one) && one['reason'] === 'DisruptionBudget')

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

/** The failure that a `metav1.Status` inside a watch stands for. */
export const failureOfStatus = (object: { code?: number } & StatusBody): Failure => ({
  status: object.code ?? 500,
  statusReason: object.reason ?? '',
  message: shortened(object.message ?? 'the watch failed'),
  namesObject: false,
})

/** Codes of errors by what they say. */
const codes: Readonly<Partial<Record<Silence, string>>> = {
  refused: 'ECONNREFUSED EHOSTUNREACH ENETUNREACH EHOSTDOWN UND_ERR_CONNECT_TIMEOUT',
  'unknown-host': 'ENOTFOUND EAI_AGAIN',
  cut: 'ECONNRESET ETIMEDOUT EPIPE UND_ERR_SOCKET UND_ERR_CLOSED UND_ERR_DESTROYED',
  timeout: 'UND_ERR_BODY_TIMEOUT UND_ERR_HEADERS_TIMEOUT',
  certificate:
    'CERT_HAS_EXPIRED CERT_NOT_YET_VALID DEPTH_ZERO_SELF_SIGNED_CERT SELF_SIGNED_CERT_IN_CHAIN UNABLE_TO_VERIFY_LEAF_SIGNATURE UNABLE_TO_GET_ISSUER_CERT UNABLE_TO_GET_ISSUER_CERT_LOCALLY ERR_TLS_CERT_ALTNAME_INVALID',
}

const causes = new Map(
  Object.entries(codes).flatMap(([cause, all]) => all.split(' ').map((code) => [code, cause as Silence])),
)

/** A request that got no answer, and whether the server can have seen it. */
export function failureOfSilence(error: unknown, timeoutMs: number | undefined): Failure {
  const cause = causeOf(error)
  const message =
    cause === 'timeout' && timeoutMs !== undefined
      ? `no answer within ${timeoutMs / 1000} s`
      : shortened(messageOf(error))
  return { status: 0, statusReason: '', message, cause, namesObject: false, error }
}

function causeOf(error: unknown): Silence {
  for (const each of chain(error)) {
    const { code, name, syscall } = each as { code?: unknown; name?: unknown; syscall?: unknown }
    if (name === 'TimeoutError') return 'timeout'
    if (typeof code !== 'string') continue
    if (syscall === 'connect') return 'refused'
    const cause = causes.get(code) ?? (code.startsWith('ERR_SSL') ? 'certificate' : undefined)
    if (cause !== undefined) return cause
  }
  return 'other'
}

/** Advice to who starts Node himself. */
const nodeHint = /; if the root CA is installed locally.*$/s

function messageOf(error: unknown): string {
  const said = chain(error)
    .map((e) => (e instanceof Error ? e.message : ''))
    .filter((text) => text !== '' && text !== 'fetch failed')
  return said.at(-1)?.replace(nodeHint, '') ?? String(error)
}

/** The error, what caused it, and the several addresses of a name that were tried. */
function chain(error: unknown): unknown[] {
  if (!(error instanceof Error)) return error === undefined ? [] : [error]
  const tried = error instanceof AggregateError ? error.errors.slice(0, 1) : []
  return [error, ...tried.flatMap(chain), ...chain(error.cause)]
}

/** `Retry-After` in ms: seconds, or an HTTP date measured from `now`. */
export function retryDelay(value: string | undefined, now: Date): number | undefined {
  if (value === undefined || value.trim() === '') return undefined
  const seconds = Number(value)
  const ms = Number.isFinite(seconds) ? seconds * 1000 : Date.parse(value) - now.getTime()
  return Number.isNaN(ms) ? undefined : Math.max(0, ms)
}

const longest = 1000

/** Keeps both ends: the beginning says what, the end says why. */
export function shortened(text: string, most = longest): string {
  if (text.length <= most) return text
  const half = Math.floor((most - 5) / 2)
  return `${text.slice(0, half)} […] ${text.slice(-half)}`
}

/** What somebody said who is no API server, in one line: of a page its title. */
export function bodyInWords(body: string, most?: number): string {
  const text = oneLine(body)
  if (!/^<(?:!doctype html|html|head|body|\?xml)\b/iu.test(text)) return shortened(text, most)
  const title = /<title[^>]*>([^<]*)<\/title>/iu.exec(text)?.[1]?.trim()
  const said = title || oneLine(text.replaceAll(/<(script|style)\b.*?<\/\1>|<[^>]*>/giu, ' '))
  return said === '' ? 'an HTML page' : `an HTML page, "${shortened(said, 80)}"`
}

const oneLine = (text: string): string => text.replaceAll(/\s+/gu, ' ').trim()

/** An object as an API server sends it. 200 alone proves nothing: a gateway says so of a Status, a login page or `{}` too. */
export const isObject = <T extends KubeObject>(answer: unknown): answer is T =>
  isRecord(answer) && isRecord(answer['metadata']) && typeof answer['metadata']['name'] === 'string'

/** What a delete is answered with where nothing of the object is left. */
export const isSuccess = (answer: unknown): boolean =>
  isRecord(answer) && answer['kind'] === 'Status' && answer['status'] !== 'Failure'

export interface ListBody {
  items: KubeObject[] | null
  metadata?: { continue?: string; remainingItemCount?: number; resourceVersion?: string }
}

/** A list; one without items says `null` or `[]`, and never leaves them out. */
export function isList(answer: unknown): answer is ListBody {
  if (!isRecord(answer) || !isRecord(answer['metadata'] ?? {})) return false
  const { items } = answer
  return items === null || (Array.isArray(items) && items.every(isObject))
}

/** An API group with the versions that are served of it. */
interface ApiGroup {
  versions: { version: string }[]
  preferredVersion?: { version: string }
}

export const isApiGroup = (answer: unknown): answer is ApiGroup =>
  isRecord(answer) &&
  Array.isArray(answer['versions']) &&
  answer['versions'].every((one) => isRecord(one) && typeof one['version'] === 'string')

export const isServerVersion = (answer: unknown): answer is ServerVersion =>
  isRecord(answer) && typeof answer['gitVersion'] === 'string'

/** Of who is no API server, or not in its right mind: what it means for the cluster is unknown. */
export const foreignAnswer = (message: string): Failure => ({
  status: 0,
  statusReason: '',
  message,
  cause: 'other',
  namesObject: false,
  foreign: true,
})

/** An answer that is not what was asked for. */
export const unlike = (what: string, answer: unknown): Failure =>
  foreignAnswer(
    `the answer is not ${what}, but ${answer === undefined ? 'nothing' : shortened(JSON.stringify(answer), 120)}`,
  )

/** What an API server puts on all that it answers, whatever that is (apiserver, `WithAuditInit` and `WithPriorityAndFairness`). */
const marks = ['audit-id', 'x-kubernetes-pf-flowschema-uid']

const isMarked = (answer: Pick<Answer, 'headers'>): boolean =>
  marks.some((name) => header(answer, name) !== undefined)

/** What every Kubernetes API says of itself to everybody. */
export const versionPath = '/version'

/** The `statusReason` that an ApiError carries when whoever answered is no API server. */
export const notKubernetes = 'NotKubernetes'

/** Whether an API server is behind an address at all. Asked of it only where a 404 or the like without its marks leaves that open. */
export class ServerBehind {
  readonly #askVersion: () => Promise<string>
  #marked = false
  #is: Promise<boolean> | undefined

  constructor(askVersion: () => Promise<string>) {
    this.#askVersion = askVersion
  }

  /** What comes without the marks of a server that has them may be somebody else's. */
  heard(answer: Answer): void {
    this.#marked ||= isMarked(answer)
  }

  /** A 404 that a server would have marked: it may be there again at the next try. */
  hasLost({ status, foreign }: Pick<Failure, 'status' | 'foreign'>): boolean {
    return this.#marked && foreign === true && status === 404
  }

  /** Rejects where that cannot be told now. */
  async isKubernetes(): Promise<boolean> {
    if (this.#marked) return this.#ask()
    this.#is ??= this.#ask()
    const is = await this.#is.catch((error: unknown) => {
      this.#is = undefined
      throw error
    })
    if (!is) this.#is = undefined
    return is
  }

  async #ask(): Promise<boolean> {
    try {
      return isServerVersion(parseJson(await this.#askVersion()))
    } catch (error) {
      if (!(error instanceof ApiError)) throw error
      if (error.status === 401 || error.status === 403) return true
      if (error.statusReason === notKubernetes) return false
      throw error
    }
  }
}

/** What came back, with the body still on the wire. */
export interface Answer {
  readonly status: number
  readonly headers: Readonly<Record<string, string | string[] | undefined>>
  readonly body: Readable
}

export function header(answer: Pick<Answer, 'headers'>, name: string): string | undefined {
  const value = answer.headers[name]
  return Array.isArray(value) ? value.join(', ') : value
}
