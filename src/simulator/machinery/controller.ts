import * as kube from '../kinds.ts'
import type { DeepPartial, Found, Reader, Ref, Where, Writer } from '../../lib/kube/cluster.ts'
import type { Condition, Kind, KubeObject, Metadata } from '../../lib/kube/object.ts'
import type { Clock } from '../../lib/kube/clock.ts'
import { ApiError } from '../../lib/kube/errors.ts'
import { wakeAfter } from '../simulated-clock.ts'
import { isDeepStrictEqual } from 'node:util'
import { createHash } from 'node:crypto'
import { letters, nameSuffix, timestamp } from '../api/object-lifecycle.ts'

/** What a controller may touch: the API like any other client, time and luck. All of it ends with `signal`. */
export interface ControllerContext {
  readonly reader: Reader
  readonly writer: Writer
  readonly clock: Clock
  /** 0 ≤ x < 1; seeded where every run has to be the same. */
  readonly random: () => number
  readonly signal: AbortSignal
  /** Takes a bell that is to be rung for more than changes in what is watched: a fault that was switched. */
  readonly wakes?: (notify: () => void) => void
}

/** A change here wakes the controller; `concerns` leaves out objects that it has no part in. */
export interface Watched {
  readonly kind: Kind
  readonly where?: Where
  readonly concerns?: (object: KubeObject) => boolean
  /** Told of every object first: nothing is reconciled before it has been told of all that there are. */
  readonly feeds?: Feed
}

/** Takes an object as it is now, or as it was when it went. */
type Feed = (object: KubeObject, isGone: boolean) => void

/** What changes outside the API, such as faults. */
interface Changing {
  onChange(tell: () => void, signal: AbortSignal): void
}

/** After how many ms to look again without any change; nothing: not before one comes. */
type Again = number | undefined | void

/** What to do about the state of things. */
type Reconcile = () => Promise<Again>

/** How long a refused or failed call is left alone: longer and longer. */
const backOff = { shortest: 1000, longest: 16_000 }
/** Changes come in swarms: a controller waits this long for the rest of one. */
const gathering = 10

/** Reconciles once, and again after every change in what is watched, until the signal ends it. */
export function control(
  cx: ControllerContext,
  watched: readonly (Watched | Changing)[],
  reconcile: Reconcile,
): Promise<void> {
  return whenRung(cx, watched, reconcile, () => gathering)
}

/** Like `control`, but waits `delay` ms after a change, for the changes that come with it. */
export async function whenRung(
  cx: ControllerContext,
  watched: readonly (Watched | Changing)[],
  reconcile: Reconcile,
  delay: () => number,
): Promise<void> {
  const changed = new ChangeSignal(cx.clock, cx.signal)
  cx.wakes?.(() => changed.ring())
  const followers: Promise<void>[] = []
  const fed: Promise<void>[] = []
  for (const one of watched) {
    const { promise, resolve } = Promise.withResolvers<void>()
    if ('feeds' in one) fed.push(promise)
    followers.push(notifyOnChange(cx, one, { changed, isFed: resolve }))
  }
  let pause = backOff.shortest
  const working = untilAborted(cx.signal, async () => {
    if (fed.length > 0) await Promise.race([Promise.all(fed), changed.ended])
    while (!cx.signal.aborted) {
      const outcome = await attempt(cx, reconcile)
      await changed.wait(outcome.ok ? outcome.again : pause)
      pause = outcome.ok ? backOff.shortest : Math.min(pause * 2, backOff.longest)
      await changed.pause(delay())
      changed.hush()
    }
  })
  await Promise.all([...followers, working])
}

type Outcome = { ok: true; again: number | undefined } | { ok: false }

/** Reconciles; an answer of the API that says no, or no answer, is tried again later. Anything else is a bug. */
async function attempt(cx: Pick<ControllerContext, 'signal'>, reconcile: Reconcile): Promise<Outcome> {
  try {
    return { ok: true, again: (await reconcile()) ?? undefined }
  } catch (error) {
    if (cx.signal.aborted) return { ok: true, again: undefined }
    if (error instanceof ApiError) return { ok: false }
    throw error
  }
}

async function notifyOnChange(
  cx: ControllerContext,
  watched: Watched | Changing,
  { changed, isFed }: { changed: ChangeSignal; isFed: () => void },
): Promise<void> {
  if ('onChange' in watched) return watched.onChange(() => changed.ring(), cx.signal)
  const { kind, where = {}, concerns = () => true, feeds } = watched
  await untilAborted(cx.signal, async () => {
    for await (const change of cx.reader.watch(kind, where, cx.signal)) {
      if ('object' in change) feeds?.(change.object, change.type === 'deleted')
      else isFed()
      if (!('object' in change) || concerns(change.object)) changed.ring()
    }
  })
}

/** A watch that tells which objects a change makes somebody look at; they are named by `keyOf`. */
export interface KeyedWatch {
  readonly kind: Kind
  readonly where?: Where
  readonly rings: (object: KubeObject, isGone: boolean) => Iterable<string>
}

/** The same with the type of its objects. */
export function keyed<T extends KubeObject>(
  kind: Kind<T>,
  rings: (object: T, isGone: boolean) => Iterable<string>,
  where: Where = {},
): KeyedWatch {
  return { kind, where, rings: (object, isGone) => rings(object as T, isGone) }
}

/** Namespace and name of an object: in the order of keys lists have them. */
export const keyOf = ({ namespace = '', name }: Ref): string => `${namespace}/${name}`

function refOf(key: string): Ref {
  const cut = key.indexOf('/')
  const [namespace, name] = [key.slice(0, cut), key.slice(cut + 1)]
  return namespace === '' ? { name } : { namespace, name }
}

/** Begins a pass over these keys; the result is what to do about each of them. */
type BeginPass = (keys: readonly string[]) => Promise<(ref: Ref) => Promise<Again>>

/**
 * Reconciles one object at a time: every one that is there once all watches have told what there is, and from then on those that a change rings. Keys that are rung together
 * are reconciled in the order of a list; one that fails is tried again by itself.
 */
export async function controlEach(
  cx: Omit<ControllerContext, 'wakes'>,
  watches: readonly KeyedWatch[],
  begin: BeginPass,
): Promise<void> {
  const queue = new KeyQueue(cx)
  const fed: Promise<void>[] = []
  const followers = watches.map((watch) => {
    const { promise, resolve } = Promise.withResolvers<void>()
    fed.push(promise)
    return ringKeys(cx, watch, { queue, isFed: resolve })
  })
  const working = untilAborted(cx.signal, async () => {
    await Promise.race([Promise.all(fed), queue.ended])
    while (!cx.signal.aborted) {
      await playPass(cx, queue, begin)
      await queue.wait()
      await queue.gather()
    }
  })
  await Promise.all([...followers, working])
}

async function ringKeys(
  cx: Omit<ControllerContext, 'wakes'>,
  { kind, where = {}, rings }: KeyedWatch,
  { queue, isFed }: { queue: KeyQueue; isFed: () => void },
): Promise<void> {
  await untilAborted(cx.signal, async () => {
    for await (const change of cx.reader.watch(kind, where, cx.signal)) {
      if ('object' in change) queue.ring(rings(change.object, change.type === 'deleted'))
      else isFed()
    }
  })
}

async function playPass(cx: Omit<ControllerContext, 'wakes'>, queue: KeyQueue, begin: BeginPass) {
  const keys = queue.take()
  if (keys.length === 0) return
  let reconcile: Awaited<ReturnType<BeginPass>> | undefined
  const began = await attempt(cx, async () => {
    reconcile = await begin(keys)
  })
  for (const key of keys) {
    if (cx.signal.aborted) return
    const outcome = began.ok ? await attempt(cx, async () => reconcile?.(refOf(key))) : began
    if (!outcome.ok) queue.failed(key)
    else queue.done(key, outcome.again)
  }
}

/** Keys that wait to be reconciled: those that were rung, and those whose time comes. */
class KeyQueue {
  readonly #clock: Clock
  readonly #changed: ChangeSignal
  readonly #rung = new Set<string>()
  /** When to look again without being rung, ms since the epoch. */
  readonly #due = new Map<string, number>()
  readonly #pauses = new Map<string, number>()

  constructor({ clock, signal }: Pick<ControllerContext, 'clock' | 'signal'>) {
    this.#clock = clock
    this.#changed = new ChangeSignal(clock, signal)
  }

  get ended(): Promise<void> {
    return this.#changed.ended
  }

  ring(keys: Iterable<string>): void {
    for (const key of keys) {
      this.#rung.add(key)
      this.#changed.ring()
    }
  }

  async wait(): Promise<void> {
    if (this.#rung.size > 0) return
    const next = Math.min(...this.#due.values())
    await this.#changed.wait(next === Infinity ? undefined : Math.max(0, next - this.#now()))
  }

  gather(): Promise<void> {
    return this.#changed.pause(gathering)
  }

  /** Those that were rung, and those whose time has come. */
  take(): readonly string[] {
    this.#changed.hush()
    const now = this.#now()
    const keys = new Set(this.#rung)
    for (const [key, at] of this.#due) if (at <= now) keys.add(key)
    this.#rung.clear()
    for (const key of keys) this.#due.delete(key)
    return [...keys].sort()
  }

  done(key: string, again: number | undefined): void {
    this.#pauses.delete(key)
    if (again !== undefined) this.#due.set(key, this.#now() + again)
  }

  failed(key: string): void {
    const pause = this.#pauses.get(key) ?? backOff.shortest
    this.#pauses.set(key, Math.min(pause * 2, backOff.longest))
    this.#due.set(key, this.#now() + pause)
  }

  #now(): number {
    return this.#clock.now().getTime()
  }
}

/** Runs until the end of the signal, which is no failure. */
export async function untilAborted(signal: AbortSignal, work: () => Promise<unknown>): Promise<void> {
  try {
    await work()
  } catch (error) {
    if (!signal.aborted) throw error
  }
}

/** True for objects that a controller of that kind owns. */
export const ownedBy =
  (kind: string) =>
  (object: KubeObject): boolean =>
    object.metadata.ownerReferences?.some((o) => o.controller === true && o.kind === kind) ?? false

/** Wakes one waiting loop. Rung twice before it is heard, it wakes once. */
export class ChangeSignal {
  readonly #clock: Clock
  readonly #signal: AbortSignal
  /** Resolves with the end of everything. */
  readonly ended: Promise<void>
  #rung = false
  #wake: () => void = () => undefined
  #goOn: () => void = () => undefined

  constructor(clock: Clock, signal: AbortSignal) {
    this.#clock = clock
    this.#signal = signal
    this.ended = new Promise((resolve) => {
      const end = () => {
        this.ring()
        this.#goOn()
        resolve()
      }
      if (signal.aborted) end()
      else signal.addEventListener('abort', end, { once: true })
    })
  }

  ring(): void {
    this.#rung = true
    this.#wake()
  }

  /** Forgets that it rang: what it rang for is about to be looked at. */
  hush(): void {
    this.#rung = false
  }

  /** For so many ms, however often it rings, or until the signal ends everything. */
  async pause(ms: number): Promise<void> {
    if (this.#signal.aborted) return
    let cancel: (() => void) | undefined
    await new Promise<void>((resolve) => {
      this.#goOn = resolve
      cancel = wakeAfter(this.#clock, ms, resolve)
    })
    cancel?.()
  }

  /** Until it rings, until `atMost` ms have passed, or until the signal ends everything; never rejects. */
  async wait(atMost?: number): Promise<void> {
    if (!this.#rung && !this.#signal.aborted) {
      let cancel: (() => void) | undefined
      await new Promise<void>((resolve) => {
        this.#wake = resolve
        if (atMost !== undefined) cancel = wakeAfter(this.#clock, atMost, resolve)
      })
      cancel?.()
    }
    this.#rung = false
  }
}

/** What an Event tells: its type, a reason in one word, and a sentence. */
type Occurrence = readonly [type: 'Normal' | 'Warning', reason: string, message: string]

/** Writes an Event about an object; `by` is the component that tells: `kubelet`, `replicaset-controller`. */
export async function recordEvent(
  cx: ControllerContext,
  about: KubeObject,
  by: string,
  [type, reason, message]: Occurrence,
): Promise<void> {
  const { name, namespace = 'default', uid } = about.metadata
  const at = seconds(cx)
  const event: kube.Event = made(kube.Events, {
    metadata: { name: `${name}.${nameSuffix(cx.random)}${nameSuffix(cx.random)}`, namespace },
    involvedObject: {
      apiVersion: about.apiVersion,
      kind: about.kind,
      namespace,
      name,
      ...(uid === undefined ? {} : { uid }),
    },
    type,
    reason,
    message,
    count: 1,
    firstTimestamp: at,
    lastTimestamp: at,
    source: { component: by },
  })
  await cx.writer.create(kube.Events, event)
}

/** Merges a status into an object that was read, where it says something new. True when it wrote. */
export async function mergeStatus<T extends KubeObject & { status?: object }>(
  cx: Pick<ControllerContext, 'writer'>,
  kind: Kind<T>,
  { metadata, status: before }: T,
  status: T['status'] = {},
): Promise<boolean> {
  if (sameStatus(before, status)) return false
  await cx.writer.mergePatch(kind, metadata, { status } as DeepPartial<T>, 'status')
  return true
}

/** The object that was asked for, where it is there. */
export const foundIn = <T extends KubeObject>(found: Found<T>): T | undefined =>
  found.is === 'object' ? found.object : undefined

/** An object of that kind; what is undefined in its metadata is as good as absent. */
export const made = <T extends KubeObject>({ apiVersion, kind }: Kind<T>, parts: Parts<T>): T =>
  ({ apiVersion, kind, ...parts }) as unknown as T

type Parts<T> = Omit<T, keyof KubeObject> & { metadata: { [K in keyof Metadata]?: Metadata[K] | undefined } }

/** A condition that is to be true from now on; when it changed last is for who writes it to say. */
export const claim = (
  type: string,
  status: Condition['status'],
  reason?: string,
  message?: string,
): Condition => ({
  type,
  status,
  ...(reason !== undefined && { reason }),
  ...(message !== undefined && { message }),
})

/** True when writing `wanted` over what is there would change nothing. */
export function sameStatus(there: object | undefined, wanted: object): boolean {
  const now = there ?? {}
  return Object.entries(wanted).every(([key, value]) =>
    isDeepStrictEqual((now as Record<string, unknown>)[key], value),
  )
}

/** Now, RFC 3339 in whole seconds, as status fields have it. */
export const seconds = ({ clock }: Pick<ControllerContext, 'clock'>): string => timestamp(clock.now())

export { nameSuffix, seeded } from '../api/object-lifecycle.ts'

/** Between `least` and `most`. */
export const between = (random: () => number, least: number, most: number): number =>
  least + random() * (most - least)

const hashes = new WeakMap<object, string>()

/** Ten letters that stand for a pod template: part of the names of its ReplicaSet and pods. Templates come frozen from the store. */
export function templateHash(template: object = {}): string {
  const known = hashes.get(template)
  if (known !== undefined) return known
  const digest = createHash('sha1').update(JSON.stringify(template)).digest()
  const hash = Array.from(digest.subarray(0, 10), (byte) => letters[byte % letters.length]).join('')
  if (Object.isFrozen(template)) hashes.set(template, hash)
  return hash
}
