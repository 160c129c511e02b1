import type { Reader, Where, Writer } from '../../cluster/cluster.ts'
import type { Kind } from '../../cluster/kind.ts'
import type { KubeObject } from '../../cluster/object.ts'
import type { Clock } from '../../system/clock.ts'
import { ApiError } from '../../system/errors.ts'
import { Doorbell } from './doorbell.ts'

/** What a controller may touch: the API like any other client, time and luck. All of it ends with `signal`. */
export interface ControllerContext {
  readonly reader: Reader
  readonly writer: Writer
  readonly clock: Clock
  /** 0 ≤ x < 1; seeded where every run has to be the same. */
  readonly random: () => number
  readonly signal: AbortSignal
  /** Takes a bell that is to be rung for more than changes in what is watched: a fault that was switched. */
  readonly wakes?: (ring: () => void) => void
}

/** A change here wakes the controller; `concerns` leaves out objects that it has no part in. */
export interface Watched {
  readonly kind: Kind
  readonly where?: Where
  readonly concerns?: (object: KubeObject) => boolean
}

/** What changes outside the API, such as faults. */
export interface Changing {
  onChange(tell: () => void, signal: AbortSignal): void
}

/** What to do about the state of things; the result is after how many ms to look again without any change. */
export type Reconcile = () => Promise<number | undefined>

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
  const bell = new Doorbell(cx.clock, cx.signal)
  cx.wakes?.(() => bell.ring())
  const followers = Promise.all(watched.map((w) => ringOnChange(cx, w, bell)))
  let pause = backOff.shortest
  const working = untilAborted(cx.signal, async () => {
    while (!cx.signal.aborted) {
      const outcome = await attempt(cx, reconcile)
      await bell.wait(outcome.ok ? outcome.again : pause)
      pause = outcome.ok ? backOff.shortest : Math.min(pause * 2, backOff.longest)
      await cx.clock.sleep(delay(), cx.signal)
      bell.hush()
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

async function ringOnChange(
  cx: ControllerContext,
  watched: Watched | Changing,
  bell: Doorbell,
): Promise<void> {
  if ('onChange' in watched) return watched.onChange(() => bell.ring(), cx.signal)
  const { kind, where = {}, concerns = () => true } = watched
  await untilAborted(cx.signal, async () => {
    for await (const change of cx.reader.follow(kind, where, cx.signal)) {
      if (!('object' in change) || concerns(change.object)) bell.ring()
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
