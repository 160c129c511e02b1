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
  /** Takes who is to be told of more than changes in what is watched: of a fault that was switched. */
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
  onChange(notify: () => void, signal: AbortSignal): void
}

/** After how many ms to look again without any change; nothing: not before one comes. */
export type Again = number | undefined | void

/** How long a refused or failed call is left alone: longer and longer. */
const backOff = { shortest: 1000, longest: 16_000 }
/** Changes come in swarms: a controller waits this long for the rest of one. */
const gathering = 10

/** Reconciles once, and again `delay` ms after every change in what is watched, until the signal ends it. */
export function control(
  cx: ControllerContext,
  watched: readonly (Watched | Changing)[],
  reconcile: () => Promise<Again>,
  delay: () => number = () => gathering,
): Promise<void> {
  const changed = new ChangeSignal(cx.clock, cx.signal)
  const notify = (): void => changed.notify()
  cx.wakes?.(notify)
  const watches = watched.flatMap((one): Followed[] => {
    if ('onChange' in one) {
      one.onChange(notify, cx.signal)
      return []
    }
    const { kind, where, concerns = () => true, feeds } = one
    const take: Feed = (object, isGone) => {
      feeds?.(object, isGone)
      if (concerns(object)) notify()
    }
    return [{ kind, where, take, synced: notify, isAwaited: feeds !== undefined }]
  })
  let pause = backOff.shortest
  const rest = (outcome: Outcome): Promise<void> => {
    const wait = outcome.ok ? outcome.again : pause
    pause = outcome.ok ? backOff.shortest : Math.min(pause * 2, backOff.longest)
    return changed.wait(wait)
  }
  return runLoop(cx, watches, { changed, pass: () => attempt(cx, reconcile), rest, delay })
}

/** Looks at every object of the kind that nobody has deleted, whenever one or something else that is watched changes. */
export function each<T extends KubeObject>(
  cx: ControllerContext,
  kind: Kind<T>,
  watched: readonly (Watched | Changing)[],
  reconcile: (object: T, all: readonly T[]) => Promise<Again>,
): Promise<void> {
  return control(cx, [{ kind }, ...watched], async () => {
    const all = await cx.reader.list(kind)
    const again: number[] = []
    for (const object of all)
      if (object.metadata.deletionTimestamp === undefined)
        again.push((await reconcile(object, all)) ?? Infinity)
    return soonest(again)
  })
}

/** The least of several times to look again, in ms; nothing where none of them asks for it. */
export function soonest(again: readonly Again[]): number | undefined {
  const least = Math.min(...again.map((one) => one ?? Infinity))
  return least === Infinity ? undefined : least
}

/** A watch that tells which objects a change makes somebody look at; they are named by `keyOf`. */
export interface KeyedWatch {
  readonly kind: Kind
  readonly where?: Where | undefined
  readonly keysOf: (object: KubeObject, isGone: boolean) => Iterable<string>
}

/** The same with the type of its objects. */
export function keyed<T extends KubeObject>(
  kind: Kind<T>,
  keysOf: (object: T, isGone: boolean) => Iterable<string>,
  where: Where = {},
): KeyedWatch {
  return { kind, where, keysOf: (object, isGone) => keysOf(object as T, isGone) }
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
 * Reconciles one object at a time: every one that is there once all watches have told what there is, and from then on those that a change names. Keys that are named together
 * are reconciled in the order of a list; one that fails is tried again by itself.
 */
export function controlEach(
  cx: Omit<ControllerContext, 'wakes'>,
  watches: readonly KeyedWatch[],
  begin: BeginPass,
): Promise<void> {
  const queue = new KeyQueue(cx)
  const followed = watches.map(({ kind, where, keysOf }): Followed => {
    const take: Feed = (object, isGone) => queue.add(keysOf(object, isGone))
    return { kind, where, take, isAwaited: true }
  })
  const { changed } = queue
  const pass = (): Promise<void> => playPass(cx, queue, begin)
  return runLoop(cx, followed, { changed, pass, rest: () => queue.wait(), delay: () => gathering })
}

/** A watch of a loop: who takes its objects, whether the loop waits for it to have told of all that there is, and what follows then. */
interface Followed {
  kind: Kind
  where: Where | undefined
  take: Feed
  isAwaited: boolean
  synced?: () => void
}

/** A loop's pass, its rest until there is something to do again, and for how long the rest of a swarm of changes is waited for. */
interface Turn<O> {
  changed: ChangeSignal
  pass: () => Promise<O>
  rest: (outcome: O) => Promise<void>
  delay: () => number
}

async function runLoop<O>(
  cx: Omit<ControllerContext, 'wakes'>,
  watches: readonly Followed[],
  { changed, pass, rest, delay }: Turn<O>,
): Promise<void> {
  const awaited: Promise<void>[] = []
  const followers = watches.map((watch) => {
    const { promise, resolve } = Promise.withResolvers<void>()
    if (watch.isAwaited) awaited.push(promise)
    return follow(cx, watch, resolve)
  })
  const working = untilAborted(cx.signal, async () => {
    if (awaited.length > 0) await Promise.race([Promise.all(awaited), changed.ended])
    while (!cx.signal.aborted) {
      await rest(await pass())
      await changed.pause(delay())
      changed.clear()
    }
  })
  await Promise.all([...followers, working])
}

async function follow(
  cx: Omit<ControllerContext, 'wakes'>,
  { kind, where = {}, take, synced }: Followed,
  isFed: () => void,
): Promise<void> {
  await untilAborted(cx.signal, async () => {
    for await (const change of cx.reader.watch(kind, where, cx.signal)) {
      if ('object' in change) take(change.object, change.type === 'deleted')
      else {
        isFed()
        synced?.()
      }
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

type Outcome = { ok: true; again: number | undefined } | { ok: false }

/** An answer of the API that says no, or no answer, is tried again later. Anything else is a bug. */
async function attempt(
  cx: Pick<ControllerContext, 'signal'>,
  reconcile: () => Promise<Again>,
): Promise<Outcome> {
  try {
    return { ok: true, again: (await reconcile()) ?? undefined }
  } catch (error) {
    if (cx.signal.aborted) return { ok: true, again: undefined }
    if (error instanceof ApiError) return { ok: false }
    throw error
  }
}

/** Keys that wait to be reconciled: those that a change named, and those whose time comes. */
class KeyQueue {
  readonly changed: ChangeSignal
  readonly #clock: Clock
  readonly #named = new Set<string>()
  /** When to look again without a change, ms since the epoch. */
  readonly #due = new Map<string, number>()
  readonly #pauses = new Map<string, number>()

  constructor({ clock, signal }: Pick<ControllerContext, 'clock' | 'signal'>) {
    this.#clock = clock
    this.changed = new ChangeSignal(clock, signal)
  }

  add(keys: Iterable<string>): void {
    for (const key of keys) {
      this.#named.add(key)
      this.changed.notify()
    }
  }

  async wait(): Promise<void> {
    if (this.#named.size > 0) return
    const next = Math.min(...this.#due.values())
    await this.changed.wait(next === Infinity ? undefined : Math.max(0, next - this.#now()))
  }

  /** Those that were named, and those whose time has come. */
  take(): readonly string[] {
    this.changed.clear()
    const now = this.#now()
    const keys = new Set(this.#named)
    for (const [key, at] of this.#due) if (at <= now) keys.add(key)
    this.#named.clear()
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

/** Wakes one waiting loop, once for however many changes. */
export class ChangeSignal {
  readonly #clock: Clock
  readonly #signal: AbortSignal
  /** Resolves with the end of everything. */
  readonly ended: Promise<void>
  #changed = false
  #wake: () => void = () => undefined
  #goOn: () => void = () => undefined

  constructor(clock: Clock, signal: AbortSignal) {
    this.#clock = clock
    this.#signal = signal
    this.ended = new Promise((resolve) => {
      const end = () => {
        this.notify()
        this.#goOn()
        resolve()
      }
      if (signal.aborted) end()
      else signal.addEventListener('abort', end, { once: true })
    })
  }

  notify(): void {
    this.#changed = true
    this.#wake()
  }

  /** Forgets the changes: they are about to be looked at. */
  clear(): void {
    this.#changed = false
  }

  /** For so many ms, however much changes, or until the signal ends everything. */
  async pause(ms: number): Promise<void> {
    if (this.#signal.aborted) return
    let cancel: (() => void) | undefined
    await new Promise<void>((resolve) => {
      this.#goOn = resolve
      cancel = wakeAfter(this.#clock, ms, resolve)
    })
    cancel?.()
  }

  /** Until something changes, until `atMost` ms have passed, or until the signal ends everything; never rejects. */
  async wait(atMost?: number): Promise<void> {
    if (!this.#changed && !this.#signal.aborted) {
      let cancel: (() => void) | undefined
      await new Promise<void>((resolve) => {
        this.#wake = resolve
        if (atMost !== undefined) cancel = wakeAfter(this.#clock, atMost, resolve)
      })
      cancel?.()
    }
    this.#changed = false
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

/** True when writing `wanted` over what is there would change nothing; null is as good as absent. */
export function sameStatus(there: object | undefined, wanted: object): boolean {
  const now = there ?? {}
  return Object.entries(wanted).every(([key, value]) =>
    isDeepStrictEqual((now as Record<string, unknown>)[key] ?? undefined, value ?? undefined),
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
