import type { DeepPartial } from '../../lib/kube/cluster.ts'
import type { Kind, KubeObject } from '../../lib/kube/object.ts'
import { type Again, between, type ControllerContext, each, sameStatus } from './controller.ts'

/**
 * The states of a kind and what comes of each, one row for one state; the first whose `when` holds is taken. A phase is added as one row where it belongs in the order:
 * `{ when: 'Verifying', after: { least: 2000, most: 5000 }, write: () => ({ phase: 'Ready' }) }` is Ready some seconds after it was seen to be Verifying.
 * `V` is what the rows judge by beside the object. `runPhases` takes all objects of the kind along; a controller of its own calls `phaseDriver`.
 */
export interface Phases<T extends KubeObject, V = undefined> {
  readonly kind: Kind<T>
  readonly phases: readonly Phase<T, V>[]
}

/** ms, or a range in which they are drawn once for each stay in the state. */
type Delay = number | { least: number; most: number }

export interface Phase<T extends KubeObject, V = undefined> {
  /** `status.phase`, `''` where there is none yet; or what has to hold. */
  readonly when: string | ((object: T, view: V) => boolean)
  /** From `since` to `write`; default nothing. */
  readonly after?: Delay | ((object: T, view: V) => Delay)
  /** When the object came to the state, RFC 3339; default when it was first seen in it. */
  readonly since?: (object: T) => string | undefined
  /** The status to merge, `null` takes a field away, after whatever else has to be done; nothing: the object stays as it is. */
  readonly write: (object: T, view: V) => Change | Promise<Change>
  /** When to look again while it stays in the state though nothing changes, ms. */
  readonly again?: number | ((object: T, view: V) => number)
}

type Change = object | void

/** The stay of an object in a state. */
interface Stay {
  phase: unknown
  since: number
  delay: number
}

/** Takes an object along by one row; the result is after how many ms to look again. Keeps the times of all objects. */
export function phaseDriver<T extends KubeObject & { status?: object }, V>(
  cx: ControllerContext,
  { kind, phases }: Phases<T, V>,
): (object: T, view: V) => Promise<Again> {
  const stays = new Map<string, Stay>()
  /** The row of an object, and in how many ms it is due. */
  const enter = (object: T, view: V): { phase: Phase<T, V>; left: number } | undefined => {
    const { uid = '' } = object.metadata
    const phase = phases.find(({ when }) =>
      typeof when === 'string' ? phaseOf(object) === when : when(object, view),
    )
    const known = stays.get(uid)
    if (phase === undefined) {
      stays.delete(uid)
      return undefined
    }
    const now = cx.clock.now().getTime()
    const stay = known?.phase === phase ? known : { phase, since: now, delay: drawn(cx, phase, object, view) }
    stays.set(uid, stay)
    const noted = phase.since?.(object)
    return { phase, left: (noted === undefined ? stay.since : Date.parse(noted)) + stay.delay - now }
  }
  return async (object, view) => {
    const entered = enter(object, view)
    if (entered === undefined) return undefined
    const { phase, left } = entered
    if (left > 0) return left
    const { again } = phase
    const status = await phase.write(object, view)
    if (status === undefined || sameStatus(object.status, status))
      return typeof again === 'function' ? again(object, view) : again
    const written = await cx.writer.mergePatch(kind, object.metadata, { status } as DeepPartial<T>, 'status')
    stays.delete(object.metadata.uid ?? '')
    return enter(written, view)?.left
  }
}

const phaseOf = ({ status }: { status?: { phase?: string } }): string => status?.phase ?? ''

function drawn<T extends KubeObject, V>(
  { random }: ControllerContext,
  { after = 0 }: Phase<T, V>,
  object: T,
  view: V,
): number {
  const delay = typeof after === 'function' ? after(object, view) : after
  return typeof delay === 'number' ? delay : between(random, delay.least, delay.most)
}

/** Takes every object of the kind along, at each change of one or of what else is watched. `viewOf` is asked for each object, once in a look. */
export function runPhases<T extends KubeObject & { status?: object }, V>(
  cx: ControllerContext,
  rows: Phases<T, V>,
  watched: Parameters<typeof each>[2],
  viewOf: (object: T, all: readonly T[]) => V | Promise<V>,
): Promise<void> {
  const advance = phaseDriver(cx, rows)
  return each(cx, rows.kind, watched, async (object, all) => advance(object, await viewOf(object, all)))
}
