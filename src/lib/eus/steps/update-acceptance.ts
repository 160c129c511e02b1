import { isRecord } from '../../kube/object.ts'
import { type ClusterVersion, ClusterVersions } from '../../kube/kinds/openshift-kinds.ts'
import type { PlatformStatus } from '../../openshift/platform-status.ts'
import type { Override } from '../../engine/journal.ts'
import { closeNoted, removingNotes } from '../../engine/overrides.ts'
import type { ReadContext, Step, StepContext, StepState } from '../../engine/step.ts'
import { blocked } from '../../kube/errors.ts'
import { minutes, seconds } from '../../kube/clock.ts'
import { desiredUpdate, isAskedFor, overrideNamed, platformChannel } from '../settings/eus-settings.ts'
import {
  isAccepted,
  ourRequest,
  platformFollows,
  readPlatform,
  showsPlatform,
  type Stop,
  theClusterVersion,
} from './cluster-version-status.ts'
import { refOfVersion } from './update-request.ts'
import type { Meanwhile } from '../../vms/pause-updates.ts'
import { restoreField } from '../settings/setting-steps.ts'

interface Accepting {
  id: string
  stop: Stop
  /** Of the procedure. */
  name: string
  /** Leave a request that was refused where it is: it starts by itself. */
  leaveRequested: boolean
}

/**
 * A patch of the ClusterVersion always succeeds; that it was refused shows in ReleaseAccepted=False alone (ocp 3.2). What was refused is taken back at
 * once, and the run ends with the reason (night E6); once accepted, desiredUpdate and channel are nobody's override any more (night E2).
 */
export function updateAccepted(accepting: Accepting): Step {
  let refused: string | undefined
  const { id, stop } = accepting
  return {
    id,
    title: `platform ${stop.version ?? stop.minor} is accepted`,
    patience: { every: 5 * seconds, atMost: 30 * minutes },
    estimate: minutes,
    closes: true,
    watches: platformFollows,
    risk: { undo: 'none', safeToLeave: 'always: the platform goes on by itself' },
    shows: showsPlatform,
    async check(cx): Promise<StepState> {
      const observed = await readPlatform(cx.reader)
      const { platformStatus } = observed
      if (isAccepted(platformStatus, stop)) return closing(await cx.journal.overrides())
      const { accepted, armed, current } = platformStatus
      if (armed === undefined)
        return refused === undefined ? withdrawn(stop) : turnedDown(refused, 'the request was taken back')
      if (accepted.is !== 'no' || !current) return { is: 'waiting', on: 'the platform to accept it' }
      const ours = await ourRequest(cx.journal, accepting.name, observed)
      const why = `${armed.version ?? armed.image} was refused (${accepted.reason}): ${accepted.message}`
      if (ours === undefined || accepting.leaveRequested)
        return turnedDown(why, 'it stays requested, and starts by itself once nothing is in the way any more')
      refused = why
      return { is: 'todo', change: `take the request for ${ours.version} back, which was refused` }
    },
    async apply(cx) {
      const { platformStatus } = await readPlatform(cx.reader)
      if (isAccepted(platformStatus, stop)) await closeOverrides(cx)
      else await withdraw(cx, accepting.name)
    },
  }
}

/** Until a hop is accepted these are borrowed; from then on they say where the platform is going. */
const untilAccepted = ['desired-update', 'platform-channel'] as const

const fieldNames = { 'desired-update': 'desiredUpdate', 'platform-channel': 'channel' } as const

function closing(overrides: readonly Override[]): StepState {
  const open = untilAccepted.filter((id) => overrideNamed(overrides, id))
  return open.length === 0
    ? { is: 'done' }
    : {
        is: 'todo',
        change: `leave ${open.map((id) => fieldNames[id]).join(' and ')} of the ClusterVersion as they are: the hop was accepted, and what they were goes back no more`,
      }
}

const theOne = { kind: ClusterVersions, ref: theClusterVersion }

const closeOverrides = (cx: StepContext): Promise<void> =>
  closeNoted(cx, theOne, untilAccepted, 'a hop was accepted')

/**
 * Takes back exactly what the procedure of this name wrote, and nothing else, reads it back, and only then closes the override; an older release is never asked
 * for. Throws `blocked` where it is asked for still.
 */
async function withdraw(cx: StepContext, name: string): Promise<void> {
  const observed = await readPlatform(cx.reader)
  const { cv, platformStatus } = observed
  const ours = await ourRequest(cx.journal, name, observed)
  if (ours === undefined) return closeNoted(cx, theOne, ['desired-update'], whyNotOurs(cv, platformStatus))
  const override = overrideNamed(await cx.journal.overrides(), 'desired-update')
  const back = desiredUpdate(refOfVersion(cv), ours).give(cv, before(override, platformStatus))
  const operations = [...back, ...removingNotes(cv, ['desired-update'])]
  await cx.writer.jsonPatch(ClusterVersions, theClusterVersion, operations)
  const after = await readPlatform(cx.reader)
  if (isAskedFor(after.cv.spec?.desiredUpdate, ours)) throw notTakenBack(ours.version)
  await cx.journal.release('desired-update')
}

function whyNotOurs({ spec }: ClusterVersion, { target }: PlatformStatus): string {
  const asked = spec?.desiredUpdate?.version
  return asked !== undefined && asked === target ? 'a hop was accepted' : 'it was taken back already'
}

function notTakenBack(version: string): Error {
  return blocked(
    'restore-undone',
    `the request for ${version} was taken back, but the ClusterVersion asks for it still: it starts by itself once nothing is in the way`,
    {
      object: 'clusterversions/version',
      remedy: ['oc adm upgrade --clear     takes it back', `${showsPlatform}     shows who writes it`],
    },
  )
}

/** What was there before is put back only where it is what runs now. */
function before(override: Override | undefined, { version }: PlatformStatus): Override['was'] {
  if (override?.was.present !== true) return { present: false }
  const { value } = override.was
  return isRecord(value) && value['version'] === version ? override.was : { present: false }
}

function turnedDown(why: string, what: string): StepState {
  return {
    is: 'blocked',
    reason: 'update-refused',
    by: `${why}; ${what}`,
    remedy: ['oc adm upgrade     shows what is in the way', 'kvup eus run     asks again, once it is gone'],
  }
}

function withdrawn({ minor, version }: Stop): StepState {
  return {
    is: 'blocked',
    reason: 'update-withdrawn',
    by: `somebody took the request for ${version ?? minor} back before it was accepted`,
    remedy: ['kvup eus run     asks again'],
  }
}

interface Leaving {
  /** Of the procedure. */
  name: string
  /** Leave it: it starts by itself. */
  leaveRequested: boolean
}

/**
 * On the way out of a run, whatever ends it: a request of ours that is refused would start by itself once nobody looks any more (night E6). One that the platform has
 * not judged yet stays. What was done, in a sentence; undefined where nothing was. Throws ApiError.
 */
export async function withdrawRefused(
  cx: StepContext,
  { name, leaveRequested }: Leaving,
): Promise<string | undefined> {
  if (leaveRequested) return undefined
  const observed = await readPlatform(cx.reader)
  const { accepted, current } = observed.platformStatus
  if (accepted.is !== 'no' || !current) return undefined
  const ours = await ourRequest(cx.journal, name, observed)
  if (ours === undefined) return undefined
  await withdraw(cx, name)
  return `the request for ${ours.version} was refused (${accepted.reason}) and is taken back: it would start by itself later`
}

/**
 * Takes back what was asked for and never accepted, and nothing that somebody else asked for (night E2, E6). Who keeps what is there keeps the request too: it is
 * theirs from then on.
 */
export function withdrawRequest(name: string, meanwhile: Meanwhile = 'ask'): Step {
  return {
    id: 'withdraw-request',
    title: 'take the request for an update back',
    patience: { every: 5 * seconds, atMost: 5 * minutes },
    estimate: 2 * seconds,
    watches: platformFollows,
    risk: { undo: 'kvup eus run     asks again', safeToLeave: 'always' },
    shows: showsPlatform,
    async check({ reader, journal }): Promise<StepState> {
      if (meanwhile === 'keep-current') return keeping(await journal.overrides())
      const ours = await ourRequest(journal, name, await readPlatform(reader))
      if (ours) return { is: 'todo', change: `take the request for ${ours.version} back` }
      return overrideNamed(await journal.overrides(), 'desired-update')
        ? {
            is: 'todo',
            change: 'note desiredUpdate of the ClusterVersion as given back: nothing of ours is requested',
          }
        : { is: 'done' }
    },
    apply: (cx) =>
      meanwhile === 'keep-current'
        ? closeNoted(
            cx,
            { kind: ClusterVersions, ref: theClusterVersion },
            ['desired-update'],
            'left as it is',
          )
        : withdraw(cx, name),
  }
}

function keeping(overrides: readonly Override[]): StepState {
  return overrideNamed(overrides, 'desired-update')
    ? {
        is: 'todo',
        change: 'leave desiredUpdate of the ClusterVersion as it is, and note it as borrowed no more',
      }
    : { is: 'done' }
}

/**
 * The channel as it was, where no hop was accepted and it is still the one that kvup has set; past a hop it stays, and the override is closed with that
 * reason.
 */
export async function channelBack(
  { reader, journal }: ReadContext,
  { isAccepted: acceptedBefore, meanwhile = 'ask' }: { isAccepted: boolean; meanwhile?: Meanwhile },
): Promise<Step> {
  const { cv } = await readPlatform(reader)
  const taken = overrideNamed(await journal.overrides(), 'platform-channel')?.taken?.value
  return restoreField(platformChannel(refOfVersion(cv), typeof taken === 'string' ? taken : ''), {
    id: 'restore-platform-channel',
    title: 'give the channel back',
    meanwhile,
    ...(acceptedBefore && { closeBecause: 'a hop was accepted: a channel does not go back past it' }),
  })
}
