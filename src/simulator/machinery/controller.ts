import type { Reader, Where, Writer } from '../../lib/kube/cluster.ts'
import type { Kind, KubeObject } from '../../lib/kube/object.ts'
import type { Clock } from '../../lib/kube/clock.ts'
import { ApiError } from '../../lib/kube/errors.ts'
import { type Event, Events } from '../../lib/kube/kinds/core-kinds.ts'
import { isDeepStrictEqual } from 'node:util'
import { createHash } from 'node:crypto'

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
}

/** What changes outside the API, such as faults. */
interface Changing {
  onChange(tell: () => void, signal: AbortSignal): void
}

/** What to do about the state of things; the result is after how many ms to look again without any change. */
type Reconcile = () => Promise<number | undefined>

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
  const followers = Promise.all(watched.map((w) => notifyOnChange(cx, w, changed)))
  let pause = backOff.shortest
  const working = untilAborted(cx.signal, async () => {
    while (!cx.signal.aborted) {
      const outcome = await attempt(cx, reconcile)
      await changed.wait(outcome.ok ? outcome.again : pause)
      pause = outcome.ok ? backOff.shortest : Math.min(pause * 2, backOff.longest)
      await cx.clock.sleep(delay(), cx.signal)
      changed.hush()
    }
  })
  await Promise.all([followers, working])
}

type Outcome = { ok: true; again: number | undefined } | { ok: false }

/** Reconciles; an answer of the API that says no, or no answer, is tried again later. Anything else is a bug. */
async function attempt(cx: ControllerContext, reconcile: Reconcile): Promise<Outcome> {
  try {
    return { ok: true, again: await reconcile() }
  } catch (error) {
    if (cx.signal.aborted) return { ok: true, again: undefined }
    if (error instanceof ApiError) return { ok: false }
    throw error
  }
}

async function notifyOnChange(
  cx: ControllerContext,
  watched: Watched | Changing,
  changed: ChangeSignal,
): Promise<void> {
  if ('onChange' in watched) return watched.onChange(() => changed.ring(), cx.signal)
  const { kind, where = {}, concerns = () => true } = watched
  await untilAborted(cx.signal, async () => {
    for await (const change of cx.reader.watch(kind, where, cx.signal)) {
      if (!('object' in change) || concerns(change.object)) changed.ring()
    }
  })
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

/** Why a sleep was given up; a DOMException for each, with its stack, was 4 % of a simulation. */
const enoughSlept = new Error('rung')

/** Wakes one waiting loop. Rung twice before it is heard, it wakes once. */
export class ChangeSignal {
  readonly #clock: Clock
  readonly #signal: AbortSignal
  #rung = false
  #wake: () => void = () => undefined

  constructor(clock: Clock, signal: AbortSignal) {
    this.#clock = clock
    this.#signal = signal
    signal.addEventListener('abort', () => this.ring(), { once: true })
  }

  ring(): void {
    this.#rung = true
    this.#wake()
  }

  /** Forgets that it rang: what it rang for is about to be looked at. */
  hush(): void {
    this.#rung = false
  }

  /** Until it rings, until `atMost` ms have passed, or until the signal ends everything; never rejects. */
  async wait(atMost?: number): Promise<void> {
    if (!this.#rung && !this.#signal.aborted) {
      const enough = new AbortController()
      const rung = new Promise<void>((resolve) => {
        this.#wake = resolve
      })
      const late =
        atMost === undefined ? rung : this.#clock.sleep(atMost, enough.signal).catch(() => undefined)
      await Promise.race([rung, late])
      enough.abort(enoughSlept)
    }
    this.#rung = false
  }
}

interface Occurrence {
  type: 'Normal' | 'Warning'
  reason: string
  message: string
  /** The component that tells: `kubelet`, `replicaset-controller`. */
  by: string
}

/** Writes an Event about an object. */
export async function recordEvent(
  cx: ControllerContext,
  about: KubeObject,
  occurrence: Occurrence,
): Promise<void> {
  const { type, reason, message, by } = occurrence
  const { name, namespace = 'default', uid } = about.metadata
  const at = cx.clock
    .now()
    .toISOString()
    .replace(/\.\d+Z$/, 'Z')
  const event: Event = {
    apiVersion: 'v1',
    kind: 'Event',
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
  }
  await cx.writer.create(Events, event)
}

/** True when writing `wanted` over what is there would change nothing. */
export function sameStatus(there: object | undefined, wanted: object): boolean {
  const now = there ?? {}
  return Object.entries(wanted).every(([key, value]) =>
    isDeepStrictEqual((now as Record<string, unknown>)[key], value),
  )
}

const letters = 'bcdfghjklmnpqrstvwxz2456789'

/** Five letters, as the API server appends them to `generateName`. */
export function nameSuffix(random: () => number): string {
  return Array.from({ length: 5 }, () => letters[Math.floor(random() * letters.length)]).join('')
}

/** Between `least` and `most`. */
export function between(random: () => number, least: number, most: number): number {
  return least + random() * (most - least)
}

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

/** The same numbers between 0 and 1 for the same seed (mulberry32). */
export function seeded(seed: number): () => number {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296
  }
}
