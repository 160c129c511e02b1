import { isRecord } from '../../kube/object.ts'
import { type ClusterVersion, ClusterVersions } from '../../kube/kinds/openshift-kinds.ts'
import type { PlatformStatus } from '../../openshift/platform-status.ts'
import type { Override } from '../../engine/journal.ts'
import { acceptedStep, closeNoted, removingNotes } from '../../engine/overrides.ts'
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
    title: `wait until platform ${stop.version ?? stop.minor} is accepted`,
    patience: { every: 5 * seconds, atMost: 30 * minutes },
    estimate: minutes,
    closes: true,
    watches: platformFollows,
    goesOn: true,
    risk: { undo: 'none', safeToLeave: 'always: the platform continues by itself' },
    shows: showsPlatform,
    async check(cx): Promise<StepState> {
      const observed = await readPlatform(cx.reader)
      const { platformStatus } = observed
      if (isAccepted(platformStatus, stop)) return closing(await cx.journal.overrides())
      const { accepted, armed, current } = platformStatus
      if (armed === undefined)
        return refused === undefined ? withdrawn(stop) : turnedDown(refused, 'the request was withdrawn')
      if (accepted.is !== 'no' || !current) return { is: 'waiting', on: 'the platform to accept it' }
      const ours = await ourRequest(cx.journal, accepting.name, observed)
      const why = `${armed.version ?? armed.image} was refused (${accepted.reason}): ${accepted.message}`
      if (ours === undefined || accepting.leaveRequested)
        return turnedDown(why, 'it is still requested, and starts by itself once its cause is gone')
      refused = why
      return { is: 'todo', change: `withdraw the request for ${ours.version}, which was refused` }
    },
    async apply(cx) {
      const { platformStatus } = await readPlatform(cx.reader)
      if (isAccepted(platformStatus, stop)) await closeNoted(cx, theOne, untilAccepted, acceptedStep)
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
        change: `leave ${open.map((id) => fieldNames[id]).join(' and ')} of the ClusterVersion unchanged: the platform has accepted the step`,
      }
}

const theOne = { kind: ClusterVersions, ref: theClusterVersion }

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
  return asked !== undefined && asked === target ? acceptedStep : 'it was withdrawn already'
}

function notTakenBack(version: string): Error {
  return blocked(
    'restore-undone',
    `the request for ${version} was withdrawn, but the ClusterVersion still requests it: it starts by itself once its cause is gone`,
    {
      object: 'clusterversions/version',
      remedy: ['oc adm upgrade --clear     withdraws it', `${showsPlatform}     shows who writes it`],
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
    remedy: [
      'oc adm upgrade     shows what blocks it',
      'kvup eus run     requests it again, once that is gone',
    ],
  }
}

const withdrawn = ({ minor, version }: Stop): StepState => ({
  is: 'blocked',
  reason: 'update-withdrawn',
  by: `someone withdrew the request for ${version ?? minor} before the platform accepted it`,
  remedy: ['kvup eus run     requests it again'],
})

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
  return `the request for ${ours.version} was refused (${accepted.reason}) and is withdrawn: otherwise it would start by itself later`
}

/**
 * Takes back what was asked for and never accepted, and nothing that somebody else asked for (night E2, E6). Who keeps what is there keeps the request too: it is
 * theirs from then on.
 */
export function withdrawRequest(name: string, meanwhile: Meanwhile = 'ask'): Step {
  return {
    id: 'withdraw-request',
    title: 'withdraw the update request',
    patience: { every: 5 * seconds, atMost: 5 * minutes },
    estimate: 2 * seconds,
    watches: platformFollows,
    risk: { undo: 'kvup eus run     requests it again', safeToLeave: 'always' },
    shows: showsPlatform,
    async check({ reader, journal }): Promise<StepState> {
      if (meanwhile === 'keep-current') return keeping(await journal.overrides())
      const ours = await ourRequest(journal, name, await readPlatform(reader))
      if (ours) return { is: 'todo', change: `withdraw the request for ${ours.version}` }
      return overrideNamed(await journal.overrides(), 'desired-update')
        ? {
            is: 'todo',
            change: 'note desiredUpdate of the ClusterVersion as restored: kvup requests nothing',
          }
        : { is: 'done' }
    },
    apply: (cx) =>
      meanwhile === 'keep-current'
        ? closeNoted(cx, { kind: ClusterVersions, ref: theClusterVersion }, ['desired-update'], 'not changed')
        : withdraw(cx, name),
  }
}

function keeping(overrides: readonly Override[]): StepState {
  return overrideNamed(overrides, 'desired-update')
    ? {
        is: 'todo',
        change: 'leave desiredUpdate of the ClusterVersion unchanged, and note that kvup did not set it',
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
    title: 'restore the channel',
    meanwhile,
    ...(acceptedBefore && { closeBecause: 'the platform has accepted a step: the channel remains' }),
  })
}
