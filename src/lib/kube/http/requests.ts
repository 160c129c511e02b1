import { type Clock, ownClock, ticks } from '../clock.ts'
import { type HeardDate, saidDate } from './cluster-clock.ts'
import { type Addressee, apiError, isElsewhere, type Subject } from './api-error.ts'
import { Allowance, type Patience, patientReads } from './backoff.ts'
import {
  type Answer,
  bodyInWords,
  type Failure,
  failureOfAnswer,
  failureOfSilence,
  foreignAnswer,
  header,
  ServerBehind,
  versionPath,
} from './failure.ts'
import type { Message } from './connections.ts'
import type { Access, Credentials } from './credentials.ts'
import type { Trace } from './trace.ts'
import { pipeline, type Readable } from 'node:stream'

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

interface RequestTools {
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
  /** Nothing is sent a second time, whatever patience a call has; only a login that has ended is renewed. */
  isOnce?: boolean
  /** As it is asked; `to` is what is told of it. */
  server: string
  to: Addressee
}

/** Bytes of an answer, unzipped: an object has 1.5 MB at most (etcd), a page of a list 500 of them, and hardly ever a tenth of that. */
const mostText = 64 * 1024 * 1024
const mostOfList = 8 * mostText

type Read<T> = (answer: Answer) => Promise<T>
type Outcome<T> = { value: T } | { failure: Failure }

/** The talk with one API server: credentials, time limits, patience and errors are the same for every call. */
export class Requests {
  readonly #tools: RequestTools
  #met = false
  readonly #behind = new ServerBehind(() => {
    const subject = { verb: 'get', resource: versionPath }
    return this.text({ method: 'GET', path: versionPath, subject, patience: patientReads })
  })

  constructor(tools: RequestTools) {
    this.#tools = tools
  }

  /** The same server, asked once, with so many ms for the answer. */
  once(ms: number): Requests {
    const { timeout = Infinity } = this.#tools
    return new Requests({ ...this.#tools, timeout: Math.min(timeout, ms), isOnce: true })
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
    const { random, clock, isOnce = false } = this.#tools
    const call = { ...asked, ...untilBoth(asked.signal, this.#tools.ending) }
    const most = Math.min(this.#tools.timeout ?? Infinity, call.atMost ?? Infinity)
    const allowance = new Allowance(Number.isFinite(most) ? most : undefined)
    const age = ageOn(clock)
    for (let attempt = 0; ; attempt++) {
      const outcome = await this.#attempt(call, read, allowance)
      if ('value' in outcome) return outcome.value
      // Not even to ask who it was that answered.
      if (isOnce) throw this.error(outcome.failure, call.subject)
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
    const clock = ownClock(this.#tools.clock)
    const began = ticks(clock)
    try {
      const answer = await this.#exchange(call, access, limit.signal)
      this.#met = true
      this.#behind.heard(answer)
      if (answer.status < 300) return { value: await read(answer) }
      const text = await this.#textOf(answer, call)
      const circumstances = { now: this.#tools.clock.now(), passedOn: call.passedOn === true }
      const failure = failureOfAnswer(answer, text, circumstances)
      return { failure: this.#behind.hasLost(failure) ? { ...failure, astray: true } : failure }
    } catch (error) {
      call.signal?.throwIfAborted()
      const why: unknown = limit.signal.aborted ? limit.signal.reason : error
      return { failure: failureOfSilence(why, call.tryAtMost ?? allowance.whole) }
    } finally {
      limit.end()
      allowance.spend(ticks(clock) - began)
    }
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

  /** Sends one request once, with our credentials, and shows it to the trace. Rejects with what the socket said. */
  async #exchange(call: Call, { send, headers: login }: Access, signal: AbortSignal): Promise<Answer> {
    const { method, path, subject, accept = 'application/json, */*', contentType = 'application/json' } = call
    const { clock, trace, heard, onWarning, server, userAgent } = this.#tools
    const url = server + path
    const body = call.body === undefined ? undefined : JSON.stringify(call.body)
    const headers = {
      accept,
      // A watch is read as it comes, line by line.
      ...(subject.verb !== 'watch' && { 'accept-encoding': 'gzip' }),
      'user-agent': userAgent,
      ...(body !== undefined && { 'content-type': contentType }),
      ...login,
    }
    const sent = clock.now().getTime()
    const began = ticks(clock)
    trace.asked({ method, url, headers, body })
    const since = () => Math.round(ticks(clock) - began)
    try {
      const answer = await send({ method, url, headers, body, signal })
      const ms = since()
      trace.answered({ method, url, status: answer.status, ms })
      if (call.passedOn) return answer
      const date = saidDate(answer)
      if (date !== undefined) heard?.({ date, sent, received: sent + ms })
      for (const text of warningTexts(header(answer, 'warning'))) onWarning(text)
      return answer
    } catch (error) {
      trace.failed({ method, url, error, ms: since() })
      throw error
    }
  }
}

function untilBoth(one: AbortSignal | undefined, other: AbortSignal | undefined): { signal?: AbortSignal } {
  const signal = one && other ? AbortSignal.any([one, other]) : (one ?? other)
  return signal ? { signal } : {}
}

function ageOn(clock: Clock): () => number {
  const began = clock.now().getTime()
  return () => clock.now().getTime() - began
}

/** A login page, a proxy's excuse: whoever it is, it is no API server. */
const notJson = (text: string): Failure =>
  foreignAnswer(`the answer is no JSON, but ${bodyInWords(text, 80) || 'nothing'}`)

const nothing = Buffer.alloc(0)

/**
 * A list up to its first item and what that begins with, as API servers write it: what else there is of a list is flat, and short. The
 * key behind `apiVersion` belongs to it, for owners and managedFields begin with an apiVersion as well.
 */
const head =
  /^(?<list>\s*\{\s*(?:"(?:apiVersion|kind)"\s*:\s*"[^"\\]*"\s*,\s*|"metadata"\s*:\s*\{[^{}]*\}\s*,\s*)*"items"\s*:\s*\[\s*)(?<start>\{(?:"apiVersion":"[^"\\]*",)?"(?!apiVersion")\w+":)/
const longestHead = 8192

/**
 * A list that is parsed while it arrives: that takes no longer than the server writes, and the text is never there as a whole. An item
 * ends where another one begins, in the same way as the first; where that stands deeper inside, what is before it is no JSON, and
 * everything from there on is parsed at the end, as what is no list is.
 */
export class ArrivingList {
  #state: 'head' | 'items' | 'end' = 'head'
  #head: Buffer = nothing
  /** `},{"apiVersion":"kubevirt.io/v1","kind":` */
  #between = ''
  readonly #items: unknown[] = []
  /** What is not parsed yet. At the end it is joined once: joined with each piece, a long text would be copied hundreds of times. */
  #rest: Buffer[] = []
  /** Bytes of it in which no item ends, and of what came behind them. */
  #searched = 0
  #fresh = 0

  add(piece: Buffer): void {
    this.#rest.push(piece)
    this.#fresh += piece.length
    if (this.#state === 'head') this.#begin(this.#joined())
    // Not with each piece: an item of 40 MB would be copied and looked through for half a minute.
    if (this.#state === 'items' && this.#fresh >= this.#searched) this.#parseItems(this.#joined())
  }

  /** What `JSON.parse` gives for all that came; undefined for nothing. Throws SyntaxError; its cause is the text that was not understood. */
  end(): unknown {
    const text = Buffer.concat([this.#head, ...this.#rest]).toString('utf8')
    if (text === '') return undefined
    const last = parsed(text)
    return this.#items.length === 0 ? last : whole(this.#items, last as { items: readonly unknown[] })
  }

  #joined(): Buffer {
    const [first = nothing, ...more] = this.#rest
    if (more.length === 0) return first
    const joined = Buffer.concat(this.#rest)
    this.#rest = [joined]
    return joined
  }

  #begin(text: Buffer): void {
    const { list, start } = head.exec(text.toString('latin1', 0, longestHead))?.groups ?? {}
    if (list !== undefined) {
      this.#state = 'items'
      this.#head = text.subarray(0, list.length)
      this.#rest = [text.subarray(list.length)]
      this.#between = `},${start}`
    } else if (text.length > longestHead) this.#state = 'end'
  }

  #parseItems(text: Buffer): void {
    const end = text.lastIndexOf(this.#between, undefined, 'latin1') + 1
    this.#searched = end === 0 ? text.length : text.length - end - 1
    this.#fresh = 0
    if (end === 0) return
    try {
      this.#items.push(...(JSON.parse(`[${text.toString('utf8', 0, end)}]`) as unknown[]))
      this.#rest = [text.subarray(end + 1)]
    } catch {
      this.#state = 'end'
    }
  }
}

const whole = (items: readonly unknown[], last: { items: readonly unknown[] }): unknown => ({
  ...last,
  items: [...items, ...last.items],
})

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch (error) {
    throw new SyntaxError(`no JSON: ${(error as Error).message}`, { cause: text })
  }
}

/** The whole body, as `decodedPieces` gives it. */
export async function decoded(answer: Answer, most: number): Promise<string> {
  const pieces: Buffer[] = []
  for await (const piece of decodedPieces(answer, most)) pieces.push(piece)
  return Buffer.concat(pieces).toString('utf8')
}

/**
 * The body while it arrives; an API server sends long lists compressed to who can read them. Throws what cuts or garbles it, and for
 * more than `most` bytes, unzipped: an answer without an end must not fill this machine.
 */
async function* decodedPieces({ headers, body }: Answer, most: number): AsyncGenerator<Buffer> {
  const isZipped = header({ headers }, 'content-encoding') === 'gzip'
  let size = 0
  for await (const piece of isZipped ? unzipped(body) : (body as AsyncIterable<Buffer>)) {
    size += piece.length
    if (size > most) throw new Error(`the answer is longer than ${most / 1024 / 1024} MB`)
    yield piece
  }
}

/** Each piece is a turn of the loop: a page of 2 MB has 130 of the usual size. */
const pieceSize = 128 * 1024

async function* unzipped(body: Readable): AsyncGenerator<Buffer> {
  const { createGunzip } = await import('node:zlib')
  // What goes wrong ends the pieces, with its error.
  yield* pipeline(body, createGunzip({ chunkSize: pieceSize }), () => undefined) as AsyncIterable<Buffer>
}

/** The texts of `Warning: 299 - "…"` headers; several may stand in one line. */
export function warningTexts(value: string | undefined): string[] {
  const quoted = (value ?? '').matchAll(/\b\d{3} \S+ "((?:[^"\\]|\\.)*)"/g)
  return [...quoted].map(([, text = '']) => text.replace(/\\(.)/g, '$1'))
}

/** Tells each text once, however often the server repeats it. */
export function once(tell: (text: string) => void): (text: string) => void {
  const told = new Set<string>()
  return (text) => {
    if (told.has(text)) return
    told.add(text)
    tell(text)
  }
}
