import type { Override } from '../engine/journal.ts'
import {
  type JournalReader,
  type Procedure,
  type ReadContext,
  rememberSteps,
  type Step,
  type StepState,
} from '../engine/step.ts'
import type { VmRef } from '../vms/unblock/vm-overrides.ts'
import { endSteps, rewritten } from './eus-procedure.ts'
import type { EusWindow } from './window.ts'
import { keptBaseline } from './baseline.ts'
import { vmsRestored } from './steps/eus-vm-steps.ts'
import { channelBack, withdrawRequest } from './steps/update-acceptance.ts'
import type { PlatformStatus } from '../openshift/platform-status.ts'
import { readPlatform, type Stop } from './steps/cluster-version-status.ts'
import { minorOfPlatform } from '../releases/release-versions.ts'
import { masterRolled, platformUpdated } from './steps/platform-rollout.ts'
import { operatorPart } from './steps/operator-steps.ts'
import { minutes, seconds } from '../kube/clock.ts'
import { targetOfName, whatOf } from '../engine/overrides.ts'

/** What is given back. */
interface RestoredSettings {
  overrides: readonly Override[]
  /** VMs that `kvup workloads unblock` lent something, so that their nodes could be drained. */
  vms: readonly VmRef[]
}

/** Whether the channel goes back is another thing once a hop is accepted, which may be while the abort is at work. */
const anew: ReadonlySet<string> = new Set([...rewritten, 'restore-platform-channel'])

/**
 * Out of a window, by where it stands (night E2). Not accepted: the request is taken back, the channel too. A hop is running, a patch too: platform
 * and operator of that hop come to their end. Then in any case methods, VMs, pools and the rest, as at the end of a window; last what VMs were lent,
 * which the drains of their nodes need.
 */
export function abortProcedure(window: EusWindow, { overrides, vms }: RestoredSettings): Procedure {
  const remembered = rememberSteps(anew)
  const back = vmsRestored(vms)
  const close = closeWindow({ name: window.name, text: 'aborted' })
  return {
    name: `abort ${window.name}`,
    overrides: overrides.filter(({ procedure }) => procedure === window.name).map(({ id }) => id),
    reached: async ({ journal }) => (await keptBaseline(journal, window.name)) === undefined,
    steps: async (cx) => remembered([...(await stepsNow(window, cx)), ...back, close]),
  }
}

async function stepsNow(window: EusWindow, cx: ReadContext): Promise<readonly Step[]> {
  const state = await abortState(window, cx)
  return [
    withdrawRequest(window.name),
    await channelBack(cx, { isAccepted: state.accepted }),
    ...(state.accepted ? await hopToItsEnd(window, state, cx) : []),
    ...(await endSteps(window, cx)),
  ]
}

/** Where a window began, and whether a hop of it was accepted since: from then on there is no way back, only to the end of that hop (night E2). */
export interface AbortState {
  /** The release; its minor alone where nothing was kept. */
  from: string
  /** The release where the platform is, or is going. */
  at: string
  accepted: boolean
  running: boolean
  /** The operator has to follow, and the pools roll to another minor. */
  leavesMinor: boolean
  /** Of the ClusterVersion, as it is. */
  channel: string | undefined
}

/** By what was kept, else by the plan's reading of the kubelets. Throws ApiError, and `blocked` where there is no platform. */
export async function abortState(
  window: Pick<EusWindow, 'name' | 'began'>,
  { reader, journal }: Pick<ReadContext, 'reader' | 'journal'>,
): Promise<AbortState> {
  const { platformStatus } = await readPlatform(reader)
  const kept = (await keptBaseline(journal, window.name))?.from ?? ''
  return stateSince(kept || window.began, platformStatus)
}

/** Pure. By release, for a patch is a hop as well; and by the history, where a hop that runs stands before it is done. */
export function stateSince(from: string, platformStatus: PlatformStatus): AbortState {
  const { state, channel, version = '' } = platformStatus
  const at = platformStatus.target ?? version
  const running = state !== 'idle'
  const minor = minorOfPlatform(from) || from
  const isElsewhere = minorOfPlatform(from) === '' ? minorOfPlatform(at) !== from : at !== from
  return {
    from,
    at,
    running,
    channel,
    accepted: running || isElsewhere,
    leavesMinor: minorOfPlatform(at) !== minor,
  }
}

/** A hop that was accepted is seen to its end: platform, master pool, and where it left the minor the operator behind it (night E2). */
async function hopToItsEnd(
  window: EusWindow,
  { at, leavesMinor }: AbortState,
  cx: ReadContext,
): Promise<readonly Step[]> {
  const minor = minorOfPlatform(at)
  const { operator } = window.plan
  const stop: Stop = leavesMinor ? { minor } : { minor, version: at }
  const key = leavesMinor ? minor : at
  const stops = window.hops.find((hop) => hop.minor === minor)?.operators ?? []
  return [
    platformAtRest(key),
    masterRolled({ id: `control-plane-${key}`, stop, name: window.name }),
    ...(operator === undefined || !leavesMinor
      ? []
      : await operatorPart(window, { minor, stops, operator }, cx)),
  ]
}

/** By the release that it follows at each look, and not before it is idle: between two releases of one minor the minor was reached before. */
export function platformAtRest(key: string): Step {
  const id = `platform-${key}`
  return {
    ...platformUpdated({ id, stop: { minor: key } }),
    async check(cx): Promise<StepState> {
      const { platformStatus } = await readPlatform(cx.reader)
      const { target = '', state: platform } = platformStatus
      const stop = { minor: minorOfPlatform(target), version: target }
      const state = await platformUpdated({ id, stop }).check(cx)
      return state.is === 'done' && platform !== 'idle'
        ? { is: 'waiting', on: `the platform to finish ${target}`, remedy: ['oc adm upgrade'] }
        : state
    },
  }
}

interface Closing {
  /** Of the window's procedure. */
  name: string
  /** What the journal says of how it ended. */
  text: string
}

/**
 * What was kept to compare with is of no use any more once nothing is borrowed, and must not pass for that of the next window. As long as
 * something is, the window stays open.
 */
export function closeWindow({ name, text }: Closing): Step {
  return {
    id: 'close-window',
    title: 'close the EUS upgrade',
    patience: { every: 5 * seconds, atMost: 5 * minutes },
    estimate: seconds,
    watches: [],
    // Their override is closed only once KubeVirt has them: a dry run cannot tell.
    dependsOn: ['resume-workload-updates'],
    risk: { undo: 'none', safeToLeave: 'always' },
    async check({ journal }): Promise<StepState> {
      const left = await overriddenFor(journal, name)
      if (left.length > 0)
        return {
          is: 'done',
          note: `the EUS upgrade remains open, with these temporary changes: ${left.map(whatOf).join(', ')}`,
        }
      return (await keptBaseline(journal, name)) === undefined
        ? { is: 'done' }
        : { is: 'todo', change: 'delete the saved baseline of the EUS upgrade' }
    },
    async apply({ journal, clock }) {
      const at = clock.now().toISOString()
      await journal.record({ at, by: '', procedure: name, step: '', what: 'finished', text })
    },
  }
}

/** Ids of the open overrides of this window. */
async function overriddenFor(
  journal: Pick<JournalReader, 'overrides'>,
  name: string,
): Promise<readonly string[]> {
  const to = targetOfName(name)
  return (await journal.overrides())
    .filter(({ procedure }) => targetOfName(procedure) === to)
    .map(({ id }) => id)
}

const ofOverrides: ReadonlySet<string> = new Set(['saved', 'restored', 'closed'])

/** Of the procedure that gives the settings of the window of this name back. */
export const restoreOf = (name: string): string => `restore ${name}`

/** Its last override was given back by a restore that ended before it could forget what was kept: nothing is borrowed, and it was the last at work. */
export async function isLeftUnclosed(journal: JournalReader, name: string): Promise<boolean> {
  const by = restoreOf(name)
  if ((await keptBaseline(journal, name)) === undefined) return false
  if ((await overriddenFor(journal, name)).length > 0) return false
  const last = (await journal.entries()).findLast(
    ({ procedure, what }) => !ofOverrides.has(what) && [name, by].includes(procedure),
  )
  return last?.procedure === by
}
