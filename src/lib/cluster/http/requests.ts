import { type Clock, ownClock, ticks } from '../../system/clock.ts'
import type { HeardDate } from '../cluster-clock.ts'
import type { Addressee } from './addressee.ts'
import { Allowance } from './allowance.ts'
import type { Answer } from './answer.ts'
import { apiError, isElsewhere } from './api-error.ts'
import { ArrivingList } from './arriving-list.ts'
import { type Patience, patientReads } from './backoff.ts'
import { bodyInWords } from './body-in-words.ts'
import type { Message } from './connections.ts'
import type { Access, Credentials } from './credentials.ts'
import { decoded, decodedPieces } from './decoded.ts'
import { type Failure, failureOfAnswer } from './failure.ts'
import { ServerBehind, versionPath } from './is-kubernetes.ts'
import { failureOfSilence } from './silence.ts'
import type { Subject } from './subject.ts'
import { exchange } from './transport.ts'
import type { Trace } from './trace.ts'

export interface Call {
  method: Message['method']
  /** Path and query. */
  path: string
  subject: Subject
  patience: Patience
  /** ms after which it is not sent again: what a write was decided on may have changed. */
  freshFor?: number
  /** ms for all tries, where that is less than what all calls have. */
  atMost?: number
  /** ms for one try: that it was lost is found before all the time is over. */
  tryAtMost?: number
  /** Somebody behind the API server answers: neither its 401, its Date nor its Warning is the server's. */
  passedOn?: true
  /** JSON, unless something else is asked for. */
  accept?: string
  body?: unknown
  contentType?: string
  signal?: AbortSignal
}

export interface RequestTools {
  clock: Clock
  heard?: ((date: HeardDate) => void) | undefined
  random: () => number
  trace: Trace
  onWarning: (text: string) => void
  credentials: Credentials
  /** ms for all tries of a call; undefined is no limit. */
  timeout: number | undefined
  userAgent: string
  /** Ends what is under way, its pauses too. */
  ending?: AbortSignal | undefined
  /** As it is asked; `to` is what is told of it. */
  server: string
  to: Addressee
}

/** Bytes of an answer, unzipped: an object has 1.5 MB at most (etcd), a page of a list 500 of them, and hardly ever a tenth of that. */
const mostText = 64 * 1024 * 1024
const mostOfList = 8 * mostText

const anyJson = 'application/json, */*'
const unheard = { heard: undefined, onWarning: () => undefined }

type Read<T> = (answer: Answer) => Promise<T>
type Outcome<T> = { value: T } | { failure: Failure }

/** The talk with one API server: credentials, time limits, patience and errors are the same for every call. */
export class Requests {
  readonly #tools: RequestTools
  #met = false
  readonly #behind = new ServerBehind(() => this.#versionText())

  constructor(tools: RequestTools) {
    this.#tools = tools
  }

  /** The parsed answer; undefined for an empty one. For what is short: one object, what a write gives back. */
  async json<T>(call: Call): Promise<T> {
    const text = await this.text(call)
    if (text === '') return undefined as T
    try {
      return JSON.parse(text) as T
    } catch {
      throw this.error(notJson(text), call.subject)
    }
  }

  /** The same for lists: a page may be megabytes, and is parsed while it arrives. */
  async list(call: Call): Promise<unknown> {
    const read = await this.#patiently(call, (answer) => this.#listOf(answer, call))
    if ('list' in read) return read.list
    throw this.error(notJson(read.text), call.subject)
  }

  text(call: Call): Promise<string> {
    return this.#patiently(call, (answer) => this.#textOf(answer, call))
  }

  /** The answer with its body still coming; only the wait for its beginning is limited. */
  stream(call: Call): Promise<Answer> {
    return this.#patiently(call, async (answer) => answer)
  }

  /** For a failure that came later, in the stream. */
  error(failure: Failure, subject: Subject): Error {
    return apiError(failure, subject, this.#tools.to)
  }

  traceLine(path: string, line: string): void {
    this.#tools.trace.body(path, line)
  }

  async #patiently<T>(asked: Call, read: Read<T>): Promise<T> {
    const { random, clock } = this.#tools
    const call = this.#untilTheEnd(asked)
    const allowance = this.#allowanceOf(call)
    const age = ageOn(clock)
    for (let attempt = 0; ; attempt++) {
      const outcome = await this.#attempt(call, read, allowance)
      if ('value' in outcome) return outcome.value
      const wanted = call.patience(outcome.failure, { attempt, random, met: this.#met })
      const isTheirs = outcome.failure.retryAfter !== undefined
      const pause = wanted !== undefined && isTheirs ? allowance.fitted(wanted) : wanted
      const { freshFor = Infinity } = call
      if (pause === undefined || !allowance.outlasts(pause) || age() + pause > freshFor)
        throw await this.#final(outcome.failure, call)
      await clock.sleep(pause, call.signal)
      allowance.spend(pause)
      // Longer than it was meant to be where the machine was suspended meanwhile.
      if (age() > freshFor + pause) throw this.error(outcome.failure, call.subject)
    }
  }

  #untilTheEnd(call: Call): Call {
    const { ending } = this.#tools
    if (ending === undefined) return call
    return { ...call, signal: call.signal === undefined ? ending : AbortSignal.any([call.signal, ending]) }
  }

  #allowanceOf({ atMost }: Call): Allowance {
    const most = Math.min(this.#tools.timeout ?? Infinity, atMost ?? Infinity)
    return new Allowance(Number.isFinite(most) ? most : undefined)
  }

  /** "Not found" and the like say something of the cluster only where there is one. */
  async #final(failure: Failure, { path, subject, method }: Call): Promise<Error> {
    const isOver = method !== 'GET' && failure.astray
    if (!isElsewhere(failure) || failure.status < 400 || path === versionPath || isOver)
      return this.error(failure, subject)
    const { foreign: _, ...theirs } = failure
    if (await this.#behind.isKubernetes()) return this.error(theirs, subject)
    const { status, message } = failure
    const also = status === 404 ? `; nor does anything at ${versionPath}` : ''
    return this.error({ ...failure, message: message + also }, subject)
  }

  #versionText(): Promise<string> {
    const subject = { verb: 'get', resource: versionPath }
    return this.text({ method: 'GET', path: versionPath, subject, patience: patientReads })
  }

  /** One try, and a second one with fresh credentials after a 401: the server has not acted on that. */
  async #attempt<T>(call: Call, read: Read<T>, allowance: Allowance): Promise<Outcome<T>> {
    const { credentials } = this.#tools
    const access = await credentials.current()
    const outcome = await this.#once(call, { access, allowance }, read)
    if ('value' in outcome || outcome.failure.status !== 401 || call.passedOn) return outcome
    return this.#once(call, { access: await credentials.renew(access), allowance }, read)
  }

  async #once<T>(
    call: Call,
    { access, allowance }: { access: Access; allowance: Allowance },
    read: Read<T>,
  ): Promise<Outcome<T>> {
    const limit = allowance.limit(call.signal, call.tryAtMost)
    const tools = call.passedOn ? { ...this.#tools, ...unheard } : this.#tools
    const clock = ownClock(this.#tools.clock)
    const began = ticks(clock)
    try {
      const answer = await exchange(this.#message(call, limit.signal), access, tools)
      this.#met = true
      this.#behind.heard(answer)
      if (answer.status < 300) return { value: await read(answer) }
      return { failure: await this.#failureOf(answer, call) }
    } catch (error) {
      call.signal?.throwIfAborted()
      const why: unknown = limit.signal.aborted ? limit.signal.reason : error
      return { failure: failureOfSilence(why, call.tryAtMost ?? allowance.whole) }
    } finally {
      limit.end()
      allowance.spend(ticks(clock) - began)
    }
  }

  async #failureOf(answer: Answer, call: Call): Promise<Failure> {
    const text = await this.#textOf(answer, call)
    const tools = { now: this.#tools.clock.now(), passedOn: call.passedOn === true }
    const failure = failureOfAnswer(answer, text, tools)
    return this.#behind.hasLost(failure) ? { ...failure, astray: true } : failure
  }

  async #textOf(answer: Answer, call: Call): Promise<string> {
    const text = await decoded(answer, mostText)
    this.#tools.trace.body(call.path, text)
    return text
  }

  async #listOf(answer: Answer, call: Call): Promise<{ list: unknown } | { text: string }> {
    const { trace } = this.#tools
    const arriving = new ArrivingList()
    const shown: Buffer[] = []
    try {
      for await (const piece of decodedPieces(answer, mostOfList)) {
        arriving.add(piece)
        if (trace.bodies) shown.push(piece)
      }
      // Only whole: in half a list the secrets cannot be told by their keys.
      if (trace.bodies) trace.body(call.path, Buffer.concat(shown).toString('utf8'))
      return { list: arriving.end() }
    } catch (error) {
      if (!(error instanceof SyntaxError)) throw error
      return { text: String(error.cause) }
    }
  }

  #message(
    { method, path, body, subject, accept = anyJson, contentType = 'application/json' }: Call,
    signal: AbortSignal,
  ): Message {
    return {
      method,
      url: this.#tools.server + path,
      headers: {
        accept,
        // A watch is read as it comes, line by line.
        ...(subject.verb !== 'watch' && { 'accept-encoding': 'gzip' }),
        'user-agent': this.#tools.userAgent,
        ...(body !== undefined && { 'content-type': contentType }),
      },
      body: body === undefined ? undefined : JSON.stringify(body),
      signal,
    }
  }
}

function ageOn(clock: Clock): () => number {
  const began = clock.now().getTime()
  return () => clock.now().getTime() - began
}

/** A login page, a proxy's excuse: whoever it is, it is no API server. */
function notJson(text: string): Failure {
  const message = `the answer is no JSON, but ${bodyInWords(text, 80) || 'nothing'}`
  return { status: 0, statusReason: '', message, cause: 'other', namesObject: false, foreign: true }
}
