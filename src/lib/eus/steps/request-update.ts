import type { ClusterVersion, PlatformRelease } from '../../cluster/kinds/openshift.ts'
import type { PlatformStanding } from '../../facts/openshift/platform-standing.ts'
import type { ReadContext, Step, StepContext, StepState } from '../../procedure/step.ts'
import { comparePlatforms, platformVersionOf } from '../../releases/platform-version.ts'
import { minutes, seconds } from '../../system/units.ts'
import { desiredUpdate, platformChannel } from '../loans/fields.ts'
import { takeField } from '../loans/take.ts'
import { keepRequest, ourRequest, type Request } from './kept-request.ts'
import { keepMaster } from './master-rolled.ts'
import {
  isAccepted,
  minorOf,
  platformFollows,
  readPlatform,
  showsPlatform,
  type Stop,
  theClusterVersion,
} from './platform-now.ts'

export interface Requesting {
  id: string
  stop: Stop
  /** Chosen by the plan; without a version the newest of the minor that is recommended when it is there. */
  wanted: { version?: string; image?: string }
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
  return {
    id,
    title: `ask for platform ${stop.version ?? stop.minor}`,
    patience: { every: 15 * seconds, atMost: 30 * minutes },
    estimate: 15 * seconds,
    follows: platformFollows,
    risk: {
      undo: 'kvup eus abort, as long as it is not accepted',
      safeToLeave: 'not at all: it starts by itself',
    },
    shows: showsPlatform,
    check: (cx) => standing(cx, requesting),
    apply: (cx) => ask(cx, requesting),
  }
}

async function standing(cx: ReadContext, requesting: Requesting): Promise<StepState> {
  const { stop, name } = requesting
  const { standing: now } = await readPlatform(cx.reader)
  if (isAccepted(now, stop)) return { is: 'done' }
  if (await ourRequest(cx.journal, name, now.armed)) return { is: 'done' }
  if (now.armed !== undefined) return armedByOthers(now.armed)
  if (now.state !== 'idle')
    return { is: 'waiting', on: `the platform to reach ${now.target ?? 'its release'}` }
  if (!now.current) return { is: 'waiting', on: 'the platform to see its present spec' }
  const release = chosen(now, requesting)
  if (release?.version === undefined) return notOffered(now, requesting)
  return { is: 'todo', change: `set desiredUpdate of the ClusterVersion to ${release.version}` }
}

async function ask(cx: StepContext, requesting: Requesting): Promise<void> {
  const { cv, standing: now } = await readPlatform(cx.reader)
  const release = chosen(now, requesting)
  if (release?.version === undefined) return
  const { version, image } = release
  const request: Request = { version, ...(image !== undefined && { image }) }
  const { name, who, id, stop } = requesting
  await keepRequest(cx.journal, name, request)
  await keepMaster(cx, name, stop)
  const field = desiredUpdate(lookedAt(cv), request)
  await takeField(field, { id, title: '', who, procedure: name, again: true }).apply?.(cx)
}

/** What the plan names has to be offered still; otherwise the newest of the minor. Releases with known risks are not chosen. */
function chosen(
  { available = [] }: PlatformStanding,
  { wanted, stop }: Requesting,
): PlatformRelease | undefined {
  if (wanted.version !== undefined) return available.find(({ version }) => version === wanted.version)
  return available
    .filter(({ version }) => minorOf(version) === stop.minor)
    .toSorted((a, b) => newest(a, b))[0]
}

function newest(a: PlatformRelease, b: PlatformRelease): number {
  const [one, other] = [platformVersionOf(a.version), platformVersionOf(b.version)]
  return one && other ? comparePlatforms(other, one) : 0
}

function notOffered({ available, channel }: PlatformStanding, { wanted, stop }: Requesting): StepState {
  const what = wanted.version ?? `a release of ${stop.minor}`
  const on = `${what} to be offered in channel ${channel ?? 'none'}`
  if (available === undefined)
    return {
      is: 'stalled',
      on,
      why: 'the update service was not asked, or did not answer',
      remedy: ['oc adm upgrade'],
    }
  const offered = available.map(({ version }) => version).join(', ') || 'nothing'
  return {
    is: 'waiting',
    on,
    trouble: `offered are: ${offered}`,
    remedy: ['oc adm upgrade', 'kvup eus plan'],
  }
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
