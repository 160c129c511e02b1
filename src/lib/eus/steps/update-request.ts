import type { ClusterVersion, PlatformRelease } from '../../kube/kinds/openshift-kinds.ts'
import {
  PatienceByHealth,
  type ReadContext,
  type Step,
  type StepContext,
  type StepState,
} from '../../engine/step.ts'
import { ApiError } from '../../kube/errors.ts'
import { hours, minutes, seconds, ticks } from '../../kube/clock.ts'
import { desiredUpdate, platformChannel, updateFor } from '../settings/eus-settings.ts'
import { keepAndTake, takeField } from '../settings/setting-steps.ts'
import {
  isAccepted,
  ourRequest,
  platformFollows,
  readPlatform,
  type Request,
  showsPlatform,
  type Stop,
  theClusterVersion,
} from './cluster-version-status.ts'
import { keepMaster } from './platform-rollout.ts'
import { type GateOf, platformShut } from './platform-gate.ts'
import type { PlatformStatus } from '../../openshift/platform-status.ts'
import { fetchesGraph, newestOf } from '../../releases/update-graph.ts'
import type { PlatformStop } from '../plan/eus-plan.ts'

interface Requesting extends Wanting, GateOf {
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
    title: `request platform ${stop.version ?? stop.minor}`,
    patience,
    estimate: 15 * seconds,
    watches: platformFollows,
    risk: {
      undo: 'kvup eus abort, until the platform accepts it',
      safeToLeave: 'not at all: it starts by itself',
    },
    shows: showsPlatform,
    async check(cx) {
      const state = await requestState(cx, requesting)
      patience.saw(state.is === 'stalled' ? 'wrong' : 'well', ticks(cx.clock))
      return state
    },
    apply: (cx) => ask(cx, requesting),
  }
}

type Snapshot = Awaited<ReturnType<typeof readPlatform>>
type Ready = { is: 'ready'; request: Request } | { is: 'not-yet'; state: StepState }

async function requestState(cx: ReadContext, requesting: Requesting): Promise<StepState> {
  const found = await ready(cx, await readPlatform(cx.reader), requesting)
  if (found.is === 'not-yet') return found.state
  return { is: 'todo', change: `set desiredUpdate of the ClusterVersion to ${found.request.version}` }
}

const notYet = (state: StepState): Ready => ({ is: 'not-yet', state })

/** What is to be written, by one look at the ClusterVersion. */
async function ready(
  { reader, journal }: ReadContext,
  observed: Snapshot,
  requesting: Requesting,
): Promise<Ready> {
  const { stop, name } = requesting
  const { cv, platformStatus: now } = observed
  if (isAccepted(now, stop)) return notYet({ is: 'done' })
  if (await ourRequest(journal, name, observed)) return notYet({ is: 'done' })
  if (now.armed !== undefined) return notYet(armedByOthers(now.armed))
  if (now.state !== 'idle')
    return notYet({ is: 'waiting', on: `the platform to reach ${now.target ?? 'its release'}` })
  if (!now.current) return notYet({ is: 'waiting', on: 'the platform to process its current spec' })
  const release = offeredRelease(now, requesting)
  if (release.is === 'not-yet') return release
  // For a release to be offered it may have waited long behind the gate.
  const shut = await platformShut(reader, requesting)
  if (shut) return notYet(shut)
  return { is: 'ready', request: updateFor(cv.spec?.desiredUpdate, release) }
}

/** Judges once more, and writes to the very revision that was judged: who asked for something else since is not overwritten. */
async function ask(cx: StepContext, requesting: Requesting): Promise<void> {
  const observed = await readPlatform(cx.reader)
  const found = await ready(cx, observed, requesting)
  if (found.is === 'not-yet') throw new ApiError(409, 'Conflict', 'the ClusterVersion has changed meanwhile')
  const { request } = found
  const { id, name, who, stop } = requesting
  await keepMaster(cx, name, stop)
  const field = desiredUpdate(refOfVersion(observed.cv), request)
  await keepAndTake(cx, field, { taking: { id, who, procedure: name }, object: observed.cv })
}

const armedByOthers = ({ version, image }: Partial<Request>): StepState => ({
  is: 'blocked',
  reason: 'update-armed',
  by: `someone else requested ${version ?? image}, which is neither running nor done: it starts by itself`,
  remedy: ['oc adm upgrade --clear     withdraws it', 'kvup eus status'],
})

/** As an override names it. */
export const refOfVersion = (cv: ClusterVersion): { name: string; uid: string } => ({
  name: theClusterVersion.name,
  uid: cv.metadata.uid ?? '',
})

/** Sets the channel that leads to the target, where the one that is set does not. Kept first; past an accepted hop it stays. */
export function setPlatformChannel(
  cv: ClusterVersion,
  { id, channel, stop, ...taking }: { id: string; channel: string; stop: Stop; who: string; name: string },
): Step {
  const field = platformChannel(refOfVersion(cv), channel)
  const take = takeField(field, {
    id,
    title: `set channel ${channel}`,
    who: taking.who,
    procedure: taking.name,
  })
  return {
    ...take,
    async check(cx): Promise<StepState> {
      const { platformStatus: now } = await readPlatform(cx.reader)
      return isAccepted(now, stop) ? { is: 'done' } : take.check(cx)
    },
  }
}

interface Wanting {
  stop: Stop
  /** Chosen by the plan; without a version the newest of the minor that is recommended when it is there. */
  wanted: Pick<PlatformStop, 'version' | 'image' | 'unproven'>
  accepted: readonly string[]
  /** The line whose step it is. */
  command: string
}

/** The release to ask for, with the image that the cluster names; or what the step says instead. */
type Choice = { is: 'release'; version: string; image?: string } | { is: 'not-yet'; state: StepState }

/**
 * What the plan names has to be offered still, and to be of the image that it names: exactly this, or nothing. Otherwise the newest of the minor;
 * releases with known risks are not among them. One that may lead nowhere takes a person's word. Pure.
 */
function offeredRelease(platformStatus: PlatformStatus, wanting: Wanting): Choice {
  const { wanted, accepted, command } = wanting
  const { available = [] } = platformStatus
  const found = chosen(available, wanting)
  if (found?.version === undefined) return { is: 'not-yet', state: notOffered(platformStatus, wanting) }
  const { version, image } = found
  if (isOther(wanted.image, image)) return { is: 'not-yet', state: otherImage(version, { wanted, image }) }
  if (wanted.unproven && !accepted.includes('path-unknown'))
    return { is: 'not-yet', state: mayLeadNowhere(version, command) }
  return { is: 'release', version, ...(image !== undefined && { image }) }
}

function chosen(available: readonly PlatformRelease[], { wanted, stop }: Wanting) {
  const texts = available.flatMap(({ version }) => (version === undefined ? [] : [version]))
  const wish = wanted.version ?? newestOf(texts, stop.minor)[0]
  return available.find(({ version }) => version !== undefined && version === wish)
}

const digestOf = (image: string): string => /@(?<digest>\w+:\w+)$/u.exec(image)?.groups?.['digest'] ?? image

/** By the digest: a mirror has the same release under another name. */
function isOther(wanted: string | undefined, offered: string | undefined): boolean {
  if (wanted === undefined || offered === undefined) return false
  return digestOf(wanted) !== digestOf(offered)
}

function otherImage(
  version: string,
  { wanted, image = '' }: { wanted: Wanting['wanted']; image: string | undefined },
): StepState {
  return {
    is: 'blocked',
    reason: 'image-differs',
    by: `${version} is offered as ${image}, but the plan was made for ${wanted.image ?? ''}: that is another release, or one for another architecture`,
    remedy: [
      'oc adm upgrade     shows what is offered',
      'plan again with the graph of the architecture of this cluster, by --graph-file',
    ],
  }
}

/** `4.20` of `4.19.17`. */
function minorAfter(version: string): string {
  const [major = '', minor = ''] = version.split('.')
  return `${major}.${Number(minor) + 1}`
}

function mayLeadNowhere(version: string, command: string): StepState {
  return {
    is: 'blocked',
    reason: 'path-unknown',
    by: `kvup does not know whether ${version} has an update path to the next minor: the cluster knows only its next update`,
    remedy: [
      fetchesGraph(minorAfter(version)),
      `${command} --graph-file graph.json     continues, with the whole upgrade path`,
      `${command} --accept path-unknown     requests it anyway`,
    ],
  }
}

function notOffered(
  { available, channel, notRetrieved }: PlatformStatus,
  { wanted, stop }: Wanting,
): StepState {
  const what = wanted.version ?? `a release of ${stop.minor}`
  const on = `${what} to be offered in channel ${channel ?? 'none'}`
  if (available === undefined && notRetrieved !== undefined)
    return { is: 'stalled', on, why: notRetrieved, remedy: ['oc adm upgrade'] }
  // Right after its channel was changed the cluster knows of no updates (ocp 3.1).
  if (available === undefined)
    return { is: 'waiting', on: `the update service to answer for channel ${channel ?? 'none'}` }
  const offered = available.map(({ version }) => version).join(', ') || 'nothing'
  return {
    is: 'waiting',
    on,
    trouble: `offered are: ${offered}`,
    remedy: ['oc adm upgrade', 'kvup eus plan'],
  }
}
