import type { ChangingCommand } from '../../engine/change.ts'
import { alertsLine } from '../../openshift/firing-alerts.ts'
import { isUpdating } from '../../openshift/pool-nodes.ts'
import { itemsOf } from '../../kube/known.ts'
import { condition } from '../../kube/object.ts'
import { shellWord, withPurpose } from '../../kube/shell-line.ts'
import { since as timeSince } from '../../kube/timestamps.ts'
import { onceCached } from '../../kube/read-cache.ts'
import {
  overridesText,
  type Part,
  partsOf,
  pausesPools,
  platformPart,
  safeToLeave,
  stepAtWork,
  type StepStatus,
  stepStatuses,
  virtualizationPart,
} from '../window-status.ts'
import { eusProcedure } from '../eus-procedure.ts'
import { ourRequest, readPlatform } from '../steps/cluster-version-status.ts'
import { type Override, rememberedJournal } from '../../engine/journal.ts'
import type { ArmedUpdate, PlatformSnapshot, PlatformStatus } from '../../openshift/platform-status.ts'
import type { ReadContext } from '../../engine/step.ts'
import { minorsTo } from '../../releases/platform-releases.ts'
import { getInstallation } from '../../kubevirt/installation.ts'
import { type ReadCluster, takeSnapshot } from '../../kubevirt/snapshot.ts'
import { windowIn } from '../plan/eus-snapshot.ts'
import { getLockHolder } from '../../vms/lock-holder.ts'
import { plannedEus, typedFor } from '../planned-eus.ts'
import { forgotten, seeWindow, type WindowSnapshot } from './window-snapshot.ts'
import { minorOfPlatform } from '../../releases/release-versions.ts'
import type { RecognisedWindow } from '../../openshift/eus-window.ts'
import type { EusPlanningOptions } from './window-run.ts'
import type { ShownHolder } from '../../kubevirt/lease-holders.ts'

/** `kvup eus status`: where a window stands. */
export interface EusStatusDocument {
  apiVersion: 'kvup.io/v1alpha1'
  kind: 'EusStatus'
  /** Something is borrowed for a window, or paused pools wait behind their control plane, whoever paused them. */
  open: boolean
  /** Minors of the platform. */
  from: string
  to: string
  /** The release of the control plane, or the one that it is going to. */
  at: string
  /** The release that it has reached, while it is on its way to `at`. */
  leaves?: string
  /** `updating`, or `partial`: it stopped halfway. Absent while it is at rest and does not fail. */
  platform?: { state: PlatformStatus['state']; incomplete?: true; failing?: string }
  /** RFC 3339: when the first override was opened; and how long ago, in seconds. */
  since?: string
  ageSeconds?: number
  /** RFC 3339: pools have to be unpaused before. */
  unpauseBefore?: string
  parts: readonly Part[]
  steps: readonly StepStatus[]
  overrides: readonly Override[]
  /** What is borrowed, in words. */
  overridesText: string
  /** An update that is asked for and neither running nor done: it starts by itself (night E6). */
  armed?: ArmedUpdate & { by: 'kvup' | 'somebody else'; why?: string }
  /** Who has kvup's lock now, and when that was read (RFC 3339). */
  running?: ShownHolder & { asOf: string }
  /** What is left of it, in seconds. */
  left?: { lowSeconds: number; highSeconds: number }
  safeToLeave?: string
  notReady?: readonly NotReadyNode[]
  /** Which alerts fire, in one line; absent where they could not be asked for. */
  alerts?: string
  unknown: readonly string[]
  next: readonly string[]
}

interface NotReadyNode {
  name: string
  /** RFC 3339; and how long ago, in seconds. */
  since?: string
  seconds?: number
  /** It is drained, updated or rebooted by its pool now. */
  updating: boolean
}

export interface EusStatusOptions extends Pick<EusPlanningOptions, 'to' | 'releases'> {
  watch?: boolean
  from?: string
}

export async function eusStatusDocument(
  live: ChangingCommand,
  options: EusStatusOptions,
  snapshot: ReadCluster,
): Promise<EusStatusDocument> {
  const cluster = await live.cluster()
  const reader = onceCached(cluster.reader)
  const cx: ChangingCommand = { ...live, cluster: () => Promise.resolve({ ...cluster, reader }) }
  const found = getInstallation(await takeSnapshot(reader, [], cx.clock))
  return found.is === 'none' || found.is === 'unknown'
    ? platformAlone(cx, { ...options, accept: [] })
    : windowStatus(cx, options, snapshot)
}

async function windowStatus(
  cx: ChangingCommand,
  options: EusStatusOptions,
  snapshot: ReadCluster,
): Promise<EusStatusDocument> {
  const windowSnapshot = await seeWindow(cx, { ...options, accept: [] }, readOptions, { accepted: none })
  const { window, planned, environment, overrides } = windowSnapshot
  const journal = rememberedJournal(environment.journal)
  const reading: ReadContext = { reader: windowSnapshot.cluster.reader, clock: cx.clock, journal }
  const platform = await readPlatform(reading.reader)
  const { platformStatus } = platform
  const all = await eusProcedure(window).steps(reading)
  const { unpauseBefore, time, unknown } = planned.plan
  const open = windowIn(planned.snapshot)
  const lost = forgotten(windowSnapshot)
  const now = await underWay(cx, platformStatus, {
    snapshot,
    namespace: windowSnapshot.installation.namespace,
  })
  const since = now.running?.gone ? undefined : now.running?.since
  const steps =
    overrides.length === 0
      ? []
      : await stepStatuses(all, reading, await stepAtWork(window, { steps: all, since }, reading))
  const notReady = notReadyNodes(planned.snapshot.platform, cx.clock.now())
  return {
    apiVersion: 'kvup.io/v1alpha1',
    kind: 'EusStatus',
    open: open !== undefined,
    from: window.began,
    to: window.to,
    at: platformStatus.target ?? '',
    ...now,
    ...sinceOf(windowSnapshot, cx.clock.now()),
    ...(unpauseBefore !== undefined && { unpauseBefore }),
    parts: partsNow(steps, windowSnapshot, platformStatus),
    steps,
    overrides: overrides,
    overridesText: overridesText(toRestore(overrides, platformStatus)),
    ...(await armedOf(platform, windowSnapshot)),
    ...(overrides.length > 0 && { left: { lowSeconds: time.lowSeconds, highSeconds: time.highSeconds } }),
    ...safeToLeave(all, steps),
    ...alertsOf(windowSnapshot),
    ...(notReady.length > 0 && { notReady }),
    unknown: [...(lost?.unknown ?? []), ...unknown],
    next: [
      ...(open === undefined ? [] : notReady.slice(0, 1).map(describeNode)),
      ...(lost?.next ??
        nextOf(windowSnapshot, {
          at: platformStatus.target,
          running: now.running,
          isWatched: options.watch === true || snapshot.saved,
        })),
    ],
  }
}

function partsNow(
  steps: EusStatusDocument['steps'],
  windowSnapshot: WindowSnapshot,
  platformStatus: PlatformStatus,
): readonly Part[] {
  return steps.length === 0
    ? partsByPlatform(windowIn(windowSnapshot.planned.snapshot), windowSnapshot.window.began, platformStatus)
    : withBehind(partsOf(steps), windowSnapshot, minorOfPlatform(platformStatus.target))
}

/** Those that are updated now last: they come back by themselves. Pure. */
function notReadyNodes(platform: PlatformSnapshot, now: Date): readonly NotReadyNode[] {
  return itemsOf(platform.nodes)
    .flatMap(({ metadata: { name, annotations = {} }, status }) => {
      const ready = condition({ status: status ?? {} }, 'Ready')
      if (ready === undefined || ready.status === 'True') return []
      const age = timeSince(ready.lastTransitionTime, now)
      const updating = isUpdating(annotations)
      return [
        {
          name,
          updating,
          ...(ready.lastTransitionTime && { since: ready.lastTransitionTime }),
          ...(age !== undefined && { seconds: Math.round(age / 1000) }),
        },
      ]
    })
    .toSorted((a, b) => Number(a.updating) - Number(b.updating))
}

const describeNode = ({ name }: NotReadyNode): string =>
  withPurpose(`kubectl describe node ${shellWord(name)}`, 'shows why')

/** Who only looks takes no risk. */
const none = () => []

const readOptions = {
  accepted: [],
  approve: true,
  approveAlso: [],
  poolOrder: [],
  leaveRequested: false,
  stableMs: 0,
  command: 'kvup eus run',
}

const alertsOf = ({ planned: { snapshot }, overrides }: WindowSnapshot): Pick<EusStatusDocument, 'alerts'> =>
  snapshot.alerts.known ? { alerts: alertsLine(snapshot.alerts.items, overrides.length > 0) } : {}

function sinceOf({ overrides }: WindowSnapshot, now: Date): Pick<EusStatusDocument, 'since' | 'ageSeconds'> {
  const [since] = overrides.map(({ at }) => at).toSorted()
  if (since === undefined) return {}
  return { since, ageSeconds: Math.round((now.getTime() - Date.parse(since)) / 1000) }
}

/** Hops that are behind are no steps any more: they are told by the way from where the window began. */
function withBehind(parts: readonly Part[], { window }: WindowSnapshot, at: string): readonly Part[] {
  const names = parts.map(({ name }) => name)
  const isTold = (name: string) => names.some((one) => one === name || one.startsWith(`${name}.`))
  const behind = (minorsTo(window.began, at) ?? []).flatMap((minor) =>
    [platformPart(minor), virtualizationPart(minor)].flatMap((name) =>
      isTold(name) ? [] : [{ name, state: 'done' } as const],
    ),
  )
  const ahead = parts.findIndex(({ name }) => /^(?:Update|Resume) /u.test(name))
  return [...parts.slice(0, ahead), ...behind, ...parts.slice(ahead)]
}

async function armedOf(
  platform: Awaited<ReturnType<typeof readPlatform>>,
  { environment, window }: WindowSnapshot,
): Promise<Pick<EusStatusDocument, 'armed'>> {
  const { armed, accepted } = platform.platformStatus
  if (armed === undefined) return {}
  const ours = await ourRequest(environment.journal, window.name, platform)
  const why = accepted.is === 'no' ? { why: accepted.message } : {}
  return { armed: { ...armed, by: ours ? 'kvup' : 'somebody else', ...why } }
}

/** Once its hop runs, a request is nobody's to take back (night E2), closed or not. */
function toRestore(overrides: readonly Override[], { state }: PlatformStatus): readonly Override[] {
  return state === 'idle'
    ? overrides
    : overrides.filter(({ id }) => id !== 'desired-update' && id !== 'platform-channel')
}

/** Where somebody is at work a second one would be refused. */
function nextOf(
  { overrides, window, planned }: WindowSnapshot,
  {
    at,
    running,
    isWatched,
  }: { at: string | undefined; running: ShownHolder | undefined; isWatched: boolean },
): readonly string[] {
  const isThere = window.to === minorOfPlatform(at)
  if (overrides.length === 0)
    return isThere ? [] : [`kvup eus plan --to ${window.to}     shows what the EUS upgrade would do`]
  if (running && !running.gone) return isWatched ? [] : [withPurpose('kvup eus status -w', 'watches it')]
  return [
    withPurpose(typedFor(planned.plan, 'kvup eus run'), 'continues it'),
    withPurpose(typedFor(planned.plan, 'kvup eus abort'), 'ends it, and restores the temporary changes'),
  ]
}

/**
 * Where a window stands by the platform and its pools alone: of a saved cluster without its KubeVirt, whose journal, and with it what is borrowed, is not
 * known.
 */
async function platformAlone(cx: ChangingCommand, options: EusPlanningOptions): Promise<EusStatusDocument> {
  const cluster = await cx.cluster()
  const { plan, snapshot } = await plannedEus(cx, { cluster, clock: cx.clock, accepted: none }, options)
  const window = windowIn(snapshot)
  const { platformStatus } = await readPlatform(cluster.reader)
  const { armed, accepted } = platformStatus
  return {
    apiVersion: 'kvup.io/v1alpha1',
    kind: 'EusStatus',
    open: window !== undefined,
    from: plan.began,
    to: plan.to,
    at: platformStatus.target ?? '',
    ...leaving(platformStatus),
    ...(plan.unpauseBefore !== undefined && { unpauseBefore: plan.unpauseBefore }),
    parts: partsByPlatform(window, plan.began, platformStatus),
    steps: [],
    overrides: [],
    overridesText: '',
    ...(armed && {
      armed: { ...armed, by: 'somebody else', ...(accepted.is === 'no' && { why: accepted.message }) },
    }),
    unknown: ['the temporary changes: there is no KubeVirt, and so no journal', ...plan.unknown],
    next: ['kvup eus plan'],
  }
}

/** Where a window stands by the platform and its pools alone: what was borrowed, and by whom, they do not tell. Pure. */
function partsByPlatform(
  window: RecognisedWindow | undefined,
  began: string,
  platformStatus: PlatformStatus,
): readonly Part[] {
  const pools = window?.pools ?? []
  const at = minorOfPlatform(platformStatus.target)
  const passed = minorsTo(began, at) ?? []
  return [
    ...(pools.length > 0 ? [{ name: pausesPools, state: 'done', note: pools.join(', ') } as const] : []),
    ...passed.map((minor) => partOf(minor, minor === at, platformStatus)),
  ]
}

function partOf(minor: string, isLast: boolean, { state, message }: PlatformStatus): Part {
  const name = platformPart(minor)
  if (!isLast || state === 'idle') return { name, state: 'done' }
  return { name, state: 'now', note: message }
}

/** The release that the platform comes from, and whether it fails; a target that is not reached is not where the platform is. */
function leaving({ version, target, from, state, failing, message }: PlatformStatus) {
  const left = from?.version ?? version
  const isQuiet = state === 'idle' && failing !== 'True'
  return {
    ...(left !== undefined && left !== target && { leaves: left }),
    ...(!isQuiet && {
      platform: {
        state,
        ...(from?.incomplete && { incomplete: true as const }),
        ...(failing === 'True' && { failing: message }),
      },
    }),
  }
}

/** What is going on at this moment: the platform between two releases, and a kvup that is at work. */
async function underWay(
  cx: ChangingCommand,
  platformStatus: PlatformStatus,
  { snapshot, namespace }: { snapshot: ReadCluster; namespace: string },
): Promise<Pick<EusStatusDocument, 'leaves' | 'platform' | 'running'>> {
  const running = await getLockHolder(cx, snapshot, namespace)
  return {
    ...leaving(platformStatus),
    ...(running && { running: { ...running, asOf: cx.clock.now().toISOString() } }),
  }
}
