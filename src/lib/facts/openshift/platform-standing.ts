import type { ClusterVersion, PlatformRelease } from '../../cluster/kinds/openshift.ts'
import { type Condition, condition } from '../../cluster/object.ts'
import { filled } from '../filled.ts'
import { type Gate, gateOf, yes } from '../gate.ts'
import { type ArmedUpdate, armedUpdate } from './armed-update.ts'
import { percentComplete } from './percent-complete.ts'

/** Where the cluster's own version stands (ocp 3.1). */
export interface PlatformStanding {
  /** The last release that was reached in full; undefined while a first installation is under way. */
  version?: string
  /** What the cluster follows now: status.desired. */
  target?: string
  /** `partial`: it stopped before it was done, and nothing progresses. */
  state: 'idle' | 'updating' | 'partial'
  /** RFC 3339: when the present update began, or the last one was done. */
  since?: string
  failing: Condition['status']
  /** Failing=Unknown, reason SlowClusterOperator: what takes longer than expected. No failure. */
  slow?: string
  progressing: boolean
  /** How much of the present update is done, 0 to 100; undefined where none is under way, or it does not say. */
  percent?: number
  /** Of Failing where it is True, else of Progressing. */
  message: string
  /** For the next minor only; a patch is let through whatever it says. Absent means yes. */
  upgradeable: Gate
  /** Whether the release that was asked for last was taken. */
  accepted: Gate
  armed?: ArmedUpdate
  channel?: string
  /** That the present release is in. */
  channels: readonly string[]
  /** Undefined: not retrieved, which is not "none". */
  available?: readonly PlatformRelease[]
  /** RetrievedUpdates=False: why nothing is known. Absent while they are fetched anew, for another channel. */
  notRetrieved?: string
  conditional: readonly ConditionalRelease[]
  /** The conditions are about the spec as it is now. Trust nothing else until it is true. */
  current: boolean
}

/** A release that is offered with known risks. */
interface ConditionalRelease {
  release: PlatformRelease
  /** Whether the risks apply to this cluster: `no` says which. */
  recommended: Gate
}

/** Pure. Each trap of ocp 3.1 and 3.2 is decided here once. */
export function platformStanding(cv: ClusterVersion): PlatformStanding {
  const { status = {}, metadata } = cv
  return {
    ...history(cv),
    ...progress(cv),
    upgradeable: gateOf(condition(cv, 'Upgradeable'), yes),
    accepted: gateOf(condition(cv, 'ReleaseAccepted'), yes),
    ...filled({ armed: armedUpdate(cv), channel: cv.spec?.channel, available: status.availableUpdates }),
    ...filled({ percent: percentComplete(cv), notRetrieved: notRetrieved(cv) }),
    channels: status.desired?.channels ?? [],
    conditional: (status.conditionalUpdates ?? []).map(conditional),
    current: status.observedGeneration === metadata.generation,
  }
}

function notRetrieved(cv: ClusterVersion): string | undefined {
  const retrieved = condition(cv, 'RetrievedUpdates')
  if (retrieved?.status !== 'False') return undefined
  return retrieved.message || retrieved.reason || 'RetrievedUpdates=False'
}

type Progress = Pick<PlatformStanding, 'failing' | 'slow' | 'progressing' | 'message'>

function progress(cv: ClusterVersion): Progress {
  const failing = condition(cv, 'Failing')
  const progressing = condition(cv, 'Progressing')
  const said = failing?.status === 'True' ? failing : progressing
  return {
    failing: failing?.status ?? 'Unknown',
    ...slowness(failing, progressing),
    progressing: progressing?.status === 'True',
    message: said?.message ?? '',
  }
}

/** A part that takes longer than expected is no failure, and Progressing has the better words for it. */
function slowness(failing?: Condition, progressing?: Condition): { slow?: string } {
  if (failing?.status !== 'Unknown' || failing.reason !== 'SlowClusterOperator') return {}
  return { slow: (progressing ?? failing).message ?? '' }
}

function history(cv: ClusterVersion): Pick<PlatformStanding, 'version' | 'target' | 'state' | 'since'> {
  const { history: entries = [], desired } = cv.status ?? {}
  const [first] = entries
  const state = stateOf(cv)
  return {
    ...filled({
      version: entries.find((entry) => entry.state === 'Completed')?.version,
      target: desired?.version,
      since: state === 'idle' ? first?.completionTime : first?.startedTime,
    }),
    state,
  }
}

/** By the history, not by Progressing: that is False before an update was noticed (ocp 3.1). */
function stateOf(cv: ClusterVersion): PlatformStanding['state'] {
  const { history: [first] = [], desired } = cv.status ?? {}
  if (first?.state === 'Completed') return first.version === desired?.version ? 'idle' : 'updating'
  return condition(cv, 'Progressing')?.status === 'False' ? 'partial' : 'updating'
}

type Offered = NonNullable<NonNullable<ClusterVersion['status']>['conditionalUpdates']>[number]

function conditional({ release = {}, risks = [], conditions = [] }: Offered): ConditionalRelease {
  const recommended = conditions.find(({ type }) => type === 'Recommended')
  const [risk] = risks
  const unsaid = {
    is: 'unknown',
    reason: risk?.name ?? 'NotEvaluated',
    message: risk?.message ?? '',
  } as const
  return { release, recommended: gateOf(recommended, unsaid) }
}
