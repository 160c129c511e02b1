import { type ClusterVersion, ClusterVersions } from '../../cluster/kinds/openshift.ts'
import { isFields } from '../../cluster/apply/field-path.ts'
import type { PlatformStanding } from '../../facts/openshift/platform-standing.ts'
import type { Loan } from '../../procedure/journal.ts'
import { closeNoted, removingNotes } from '../../procedure/saved-value.ts'
import type { Step, StepContext, StepState } from '../../procedure/step.ts'
import { blocked } from '../../system/errors.ts'
import { minutes, seconds } from '../../system/units.ts'
import { desiredUpdate, isAskedFor } from '../loans/desired-update.ts'
import { loanNamed } from '../loans/find-borrowed.ts'
import { ourRequest } from './kept-request.ts'
import { platformFollows, readPlatform, showsPlatform, theClusterVersion } from './read-platform.ts'
import { isAccepted, type Stop } from './at-stop.ts'
import { lookedAt } from './request-update.ts'

export interface Accepting {
  id: string
  stop: Stop
  /** Of the procedure. */
  name: string
  /** Leave a request that was refused where it is: it starts by itself. */
  leaveRequested: boolean
}

/**
 * A patch of the ClusterVersion always succeeds; that it was refused shows in ReleaseAccepted=False alone (ocp 3.2). What was refused is taken back at
 * once, and the run ends with the reason (night E6); once accepted, desiredUpdate and channel are nobody's loan any more (night E2).
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
    follows: platformFollows,
    risk: { undo: 'none', safeToLeave: 'always: the platform goes on by itself' },
    shows: showsPlatform,
    async check(cx): Promise<StepState> {
      const seen = await readPlatform(cx.reader)
      const { standing } = seen
      if (isAccepted(standing, stop)) return closing(await cx.journal.loans())
      const { accepted, armed, current } = standing
      if (armed === undefined)
        return refused === undefined ? withdrawn(stop) : turnedDown(refused, 'the request was taken back')
      if (accepted.is !== 'no' || !current) return { is: 'waiting', on: 'the platform to accept it' }
      const ours = await ourRequest(cx.journal, accepting.name, seen)
      const why = `${armed.version ?? armed.image} was refused (${accepted.reason}): ${accepted.message}`
      if (ours === undefined || accepting.leaveRequested)
        return turnedDown(why, 'it stays requested, and starts by itself once nothing is in the way any more')
      refused = why
      return { is: 'todo', change: `take the request for ${ours.version} back, which was refused` }
    },
    async apply(cx) {
      const { standing } = await readPlatform(cx.reader)
      if (isAccepted(standing, stop)) await closeLoans(cx)
      else await withdraw(cx, accepting.name)
    },
  }
}

/** Until a hop is accepted these are borrowed; from then on they say where the platform is going. */
const untilAccepted = ['desired-update', 'platform-channel'] as const

const fieldNames = { 'desired-update': 'desiredUpdate', 'platform-channel': 'channel' } as const

function closing(loans: readonly Loan[]): StepState {
  const open = untilAccepted.filter((id) => loanNamed(loans, id))
  return open.length === 0
    ? { is: 'done' }
    : {
        is: 'todo',
        change: `leave ${open.map((id) => fieldNames[id]).join(' and ')} of the ClusterVersion as they are: the hop was accepted, and what they were goes back no more`,
      }
}

const theOne = { kind: ClusterVersions, ref: theClusterVersion }

const closeLoans = (cx: StepContext): Promise<void> =>
  closeNoted(cx, theOne, untilAccepted, 'a hop was accepted')

/**
 * Takes back exactly what the procedure of this name wrote, and nothing else, reads it back, and only then closes the loan; an older release is never asked
 * for. Throws `blocked` where it is asked for still.
 */
export async function withdraw(cx: StepContext, name: string): Promise<void> {
  const seen = await readPlatform(cx.reader)
  const { cv, standing } = seen
  const ours = await ourRequest(cx.journal, name, seen)
  if (ours === undefined) return closeNoted(cx, theOne, ['desired-update'], whyNotOurs(cv, standing))
  const loan = loanNamed(await cx.journal.loans(), 'desired-update')
  const back = desiredUpdate(lookedAt(cv), ours).give(cv, before(loan, standing))
  const operations = [...back, ...removingNotes(cv, ['desired-update'])]
  await cx.writer.jsonPatch(ClusterVersions, theClusterVersion, operations)
  const after = await readPlatform(cx.reader)
  if (isAskedFor(after.cv.spec?.desiredUpdate, ours)) throw notTakenBack(ours.version)
  await cx.journal.release('desired-update')
}

function whyNotOurs({ spec }: ClusterVersion, { target }: PlatformStanding): string {
  const asked = spec?.desiredUpdate?.version
  return asked !== undefined && asked === target ? 'a hop was accepted' : 'it was taken back already'
}

function notTakenBack(version: string): Error {
  return blocked(
    'give-back-undone',
    `the request for ${version} was taken back, but the ClusterVersion asks for it still: it starts by itself once nothing is in the way`,
    {
      object: 'clusterversions/version',
      remedy: ['oc adm upgrade --clear     takes it back', `${showsPlatform}     shows who writes it`],
    },
  )
}

/** What was there before is put back only where it is what runs now. */
function before(loan: Loan | undefined, { version }: PlatformStanding): Loan['was'] {
  if (loan?.was.present !== true) return { present: false }
  const { value } = loan.was
  return isFields(value) && value['version'] === version ? loan.was : { present: false }
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
