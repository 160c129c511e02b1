import type { ClusterVersion } from '../../cluster/kinds/openshift.ts'
import type { ReadContext, Step, StepContext, StepState } from '../../procedure/step.ts'
import { ApiError } from '../../system/errors.ts'
import { ticks } from '../../system/clock.ts'
import { hours, minutes, seconds } from '../../system/units.ts'
import { desiredUpdate, updateFor } from '../loans/desired-update.ts'
import { platformChannel } from '../loans/fields.ts'
import { keepAndTake, takeField } from '../loans/take.ts'
import { ourRequest, type Request } from './kept-request.ts'
import { keepMaster } from './master-rolled.ts'
import { offeredRelease, type Wanting } from './offered-release.ts'
import { PatienceByHealth } from './patience-by-health.ts'
import { platformFollows, readPlatform, showsPlatform, theClusterVersion } from './read-platform.ts'
import { isAccepted, type Stop } from './at-stop.ts'
import { type GateOf, platformShut } from './platform-shut.ts'

export interface Requesting extends Wanting, GateOf {
  id: string
  who: string
  /** Of the procedure. */
  name: string
}

/**
 * Asks the ClusterVersion for the release of a hop, version and image as availableUpdates gives them. Kept before it is written. That it was
 * written says nothing: see `updateAccepted`.
 */
export function requestUpdate(requesting: Requesting): Step {
  const { id, stop } = requesting
  // A release is offered weeks after another one; an update service that does not answer is told of sooner.
  const patience = new PatienceByHealth({ every: 15 * seconds, well: 14 * 24 * hours, wrong: 30 * minutes })
  return {
    id,
    title: `ask for platform ${stop.version ?? stop.minor}`,
    patience,
    estimate: 15 * seconds,
    follows: platformFollows,
    risk: {
      undo: 'kvup eus abort, as long as it is not accepted',
      safeToLeave: 'not at all: it starts by itself',
    },
    shows: showsPlatform,
    async check(cx) {
      const state = await standing(cx, requesting)
      patience.saw(state.is === 'stalled' ? 'wrong' : 'well', ticks(cx.clock))
      return state
    },
    apply: (cx) => ask(cx, requesting),
  }
}

type Seen = Awaited<ReturnType<typeof readPlatform>>
type Ready = { is: 'ready'; request: Request } | { is: 'not-yet'; state: StepState }

async function standing(cx: ReadContext, requesting: Requesting): Promise<StepState> {
  const found = await ready(cx, await readPlatform(cx.reader), requesting)
  if (found.is === 'not-yet') return found.state
  return { is: 'todo', change: `set desiredUpdate of the ClusterVersion to ${found.request.version}` }
}

const notYet = (state: StepState): Ready => ({ is: 'not-yet', state })

/** What is to be written, by one look at the ClusterVersion. */
async function ready({ reader, journal }: ReadContext, seen: Seen, requesting: Requesting): Promise<Ready> {
  const { stop, name } = requesting
  const { cv, standing: now } = seen
  if (isAccepted(now, stop)) return notYet({ is: 'done' })
  if (await ourRequest(journal, name, seen)) return notYet({ is: 'done' })
  if (now.armed !== undefined) return notYet(armedByOthers(now.armed))
  if (now.state !== 'idle')
    return notYet({ is: 'waiting', on: `the platform to reach ${now.target ?? 'its release'}` })
  if (!now.current) return notYet({ is: 'waiting', on: 'the platform to see its present spec' })
  const release = offeredRelease(now, requesting)
  if (release.is === 'not-yet') return release
  // For a release to be offered it may have waited long behind the gate.
  const shut = await platformShut(reader, requesting)
  if (shut) return notYet(shut)
  return { is: 'ready', request: updateFor(cv.spec?.desiredUpdate, release) }
}

/** Judges once more, and writes to the very revision that was judged: who asked for something else since is not overwritten. */
async function ask(cx: StepContext, requesting: Requesting): Promise<void> {
  const seen = await readPlatform(cx.reader)
  const found = await ready(cx, seen, requesting)
  if (found.is === 'not-yet')
    throw new ApiError(409, 'Conflict', 'the ClusterVersion is not as it was looked at')
  const { request } = found
  const { id, name, who, stop } = requesting
  await keepMaster(cx, name, stop)
  const field = desiredUpdate(lookedAt(seen.cv), request)
  await keepAndTake(cx, field, { taking: { id, who, procedure: name }, object: seen.cv })
}

function armedByOthers({ version, image }: Partial<Request>): StepState {
  return {
    is: 'blocked',
    reason: 'update-armed',
    by: `somebody else asked the ClusterVersion for ${version ?? image}, which is neither running nor done: it starts by itself`,
    remedy: ['oc adm upgrade --clear     takes it back', 'kvup eus status'],
  }
}

/** As a loan names it. */
export const lookedAt = (cv: ClusterVersion): { name: string; uid: string } => ({
  name: theClusterVersion.name,
  uid: cv.metadata.uid ?? '',
})

/** Sets the channel that leads to the target, where the one that is set does not. Kept first; past an accepted hop it stays. */
export function setPlatformChannel(
  cv: ClusterVersion,
  { id, channel, stop, ...taking }: { id: string; channel: string; stop: Stop; who: string; name: string },
): Step {
  const field = platformChannel(lookedAt(cv), channel)
  const take = takeField(field, {
    id,
    title: `channel ${channel}`,
    who: taking.who,
    procedure: taking.name,
  })
  return {
    ...take,
    async check(cx): Promise<StepState> {
      const { standing: now } = await readPlatform(cx.reader)
      return isAccepted(now, stop) ? { is: 'done' } : take.check(cx)
    },
  }
}
