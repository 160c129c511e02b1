import type { Context } from '../../context.ts'
import { alertsLine } from '../../lib/openshift/firing-alerts.ts'
import { onceCached } from '../../lib/kube/read-cache.ts'
import {
  borrowedText,
  type Part,
  partsOf,
  safeToLeave,
  stepStatuses,
  windowChanges,
} from '../../lib/eus/window-status.ts'
import { eusProcedure } from '../../lib/eus/eus-procedure.ts'
import { ourRequest, readPlatform } from '../../lib/eus/steps/cluster-version-status.ts'
import { type EusStatusDocument, eusStatusView } from '../../lib/output/views/eus/eus-status.ts'
import type { ShownHolder } from '../../lib/output/views/report-lines.ts'
import { type Override, RememberedJournal } from '../../lib/engine/journal.ts'
import type { PlatformStatus } from '../../lib/openshift/platform-status.ts'
import type { ReadContext } from '../../lib/engine/step.ts'
import { minorsTo } from '../../lib/releases/platform-releases.ts'
import { type ExitCode, exitCode } from '../../lib/kube/errors.ts'
import { getInstallation } from '../../lib/kubevirt/installation.ts'
import { takeSnapshot } from '../../lib/kubevirt/snapshot.ts'
import { windowIn } from '../../lib/eus/plan/eus-snapshot.ts'
import { type ReadCluster, readerFor } from '../../lib/kube/saved/read-cluster.ts'
import { getLockHolder } from '../read-cluster.ts'
import { plannedEus, typedFor } from './planned-eus.ts'
import { forgotten, type WindowSnapshot, seeWindow } from './window-snapshot.ts'
import { minorOfPlatform } from '../../lib/releases/release-versions.ts'
import type { RecognisedWindow } from '../../lib/openshift/eus-window.ts'
import type { EusPlanningOptions } from './eus-options.ts'

export interface EusStatusOptions extends Pick<EusPlanningOptions, 'to' | 'releases'> {
  watch?: boolean
  from?: string
}

/** `kvup eus status`: asks each step where it stands. Reads only. */
export async function eusStatus(cx: Context, options: EusStatusOptions): Promise<ExitCode> {
  const snapshot = await readerFor(cx, options.from, 'platform')
  const { cluster, clock } = snapshot
  const there: Context = { ...cx, clock, cluster: () => Promise.resolve(cluster) }
  if (!options.watch) {
    cx.printer.result(await documentOf(there, options, snapshot), eusStatusView)
    return exitCode.done
  }
  return watchWindow(there, options, snapshot)
}

/** Until Ctrl-C: again whenever it reads otherwise. */
async function watchWindow(cx: Context, options: EusStatusOptions, snapshot: ReadCluster): Promise<ExitCode> {
  const { reader } = await cx.cluster()
  const found = getInstallation(await takeSnapshot(reader, [], cx.clock))
  const namespace = found.is === 'one' ? found.namespace : undefined
  const { clock, signal } = cx
  let last = ''
  for await (const _ of windowChanges(reader, { clock, signal, namespace })) {
    const document = await documentOf(cx, options, snapshot)
    const { ageSeconds: __, running, ...lasting } = document
    const text = JSON.stringify({ ...lasting, holder: running?.holder })
    if (text !== last) cx.printer.result(document, eusStatusView)
    last = text
  }
  return exitCode.done
}

async function documentOf(
  live: Context,
  options: EusStatusOptions,
  snapshot: ReadCluster,
): Promise<EusStatusDocument> {
  const cluster = await live.cluster()
  const reader = onceCached(cluster.reader)
  const cx: Context = { ...live, cluster: () => Promise.resolve({ ...cluster, reader }) }
  const found = getInstallation(await takeSnapshot(reader, [], cx.clock))
  return found.is === 'none' || found.is === 'unknown'
    ? platformAlone(cx, { ...options, accept: [] })
    : windowStatus(cx, options, snapshot)
}

async function windowStatus(
  cx: Context,
  options: EusStatusOptions,
  snapshot: ReadCluster,
): Promise<EusStatusDocument> {
  const windowSnapshot = await seeWindow(cx, { ...options, accept: [] }, readOptions)
  const { window, planned, environment, loans } = windowSnapshot
  const journal = new RememberedJournal(environment.journal)
  const reading: ReadContext = { reader: windowSnapshot.cluster.reader, clock: cx.clock, journal }
  const platform = await readPlatform(reading.reader)
  const { platformStatus } = platform
  const all = await eusProcedure(window).steps(reading)
  const steps = loans.length === 0 ? [] : await stepStatuses(all, reading)
  const { unpauseBefore, time, unknown } = planned.plan
  const open = windowIn(planned.snapshot)
  const lost = forgotten(windowSnapshot)
  const now = await underWay(cx, platformStatus, {
    snapshot,
    namespace: windowSnapshot.installation.namespace,
  })
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
    borrowed: loans,
    borrowedText: borrowedText(toRestore(loans, platformStatus)),
    ...(await armedOf(platform, windowSnapshot)),
    ...(loans.length > 0 && { left: { lowSeconds: time.lowSeconds, highSeconds: time.highSeconds } }),
    ...safeToLeave(all, steps),
    ...alertsOf(windowSnapshot),
    unknown: [...(lost?.unknown ?? []), ...unknown],
    next: lost?.next ?? nextOf(windowSnapshot, { at: platformStatus.target, running: now.running }),
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

const readOptions = {
  accepted: [],
  approve: true,
  approveAlso: [],
  poolOrder: [],
  leaveRequested: false,
  settleMs: 0,
  command: 'kvup eus run',
}

const alertsOf = ({ planned: { snapshot }, loans }: WindowSnapshot): Pick<EusStatusDocument, 'alerts'> =>
  snapshot.alerts.known ? { alerts: alertsLine(snapshot.alerts.items, loans.length > 0) } : {}

function sinceOf({ loans }: WindowSnapshot, now: Date): Pick<EusStatusDocument, 'since' | 'ageSeconds'> {
  const [since] = loans.map(({ at }) => at).toSorted()
  if (since === undefined) return {}
  return { since, ageSeconds: Math.round((now.getTime() - Date.parse(since)) / 1000) }
}

/** Hops that are behind are no steps any more: they are told by the way from where the window began. */
function withBehind(parts: readonly Part[], { window }: WindowSnapshot, at: string): readonly Part[] {
  const names = parts.map(({ name }) => name)
  const isTold = (name: string) => names.some((one) => one === name || one.startsWith(`${name}.`))
  const behind = (minorsTo(window.began, at) ?? []).flatMap((minor) =>
    [`platform ${minor}`, `virtualization ${minor}`].flatMap((name) =>
      isTold(name) ? [] : [{ name, state: 'done' } as const],
    ),
  )
  const ahead = parts.findIndex(({ name }) =>
    /^(?:platform|virtualization|workload updates given)/u.test(name),
  )
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
function toRestore(loans: readonly Override[], { state }: PlatformStatus): readonly Override[] {
  return state === 'idle'
    ? loans
    : loans.filter(({ id }) => id !== 'desired-update' && id !== 'platform-channel')
}

/** Where somebody is at work a second one would be refused. */
function nextOf(
  { loans, window, planned }: WindowSnapshot,
  { at, running }: { at: string | undefined; running: ShownHolder | undefined },
): readonly string[] {
  const isThere = window.to === minorOfPlatform(at)
  if (loans.length === 0)
    return [`kvup eus plan --to ${isThere ? 'MINOR' : window.to}     what a window would do`]
  if (running && !running.gone) return ['kvup eus status -w     follows it']
  return [
    `${typedFor(planned.plan, 'kvup eus run')}     goes on`,
    `${typedFor(planned.plan, 'kvup eus abort')}     ends it, and gives back what is borrowed`,
  ]
}

/**
 * Where a window stands by the platform and its pools alone: of a saved cluster without its KubeVirt, whose journal, and with it what is borrowed, is not
 * known.
 */
export async function platformAlone(cx: Context, options: EusPlanningOptions): Promise<EusStatusDocument> {
  const cluster = await cx.cluster()
  const { plan, snapshot } = await plannedEus(cx, { cluster, clock: cx.clock }, options)
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
    ...(plan.unpauseBefore !== undefined && { unpauseBefore: plan.unpauseBefore }),
    parts: partsByPlatform(window, plan.began, platformStatus),
    steps: [],
    borrowed: [],
    borrowedText: '',
    ...(armed && {
      armed: { ...armed, by: 'somebody else', ...(accepted.is === 'no' && { why: accepted.message }) },
    }),
    unknown: ['what is borrowed: there is no KubeVirt, and so no journal', ...plan.unknown],
    next: ['kvup eus plan'],
  }
}

/** Where a window stands by the platform and its pools alone: what was borrowed, and by whom, they do not tell. Pure. */
export function partsByPlatform(
  window: RecognisedWindow | undefined,
  began: string,
  platformStatus: PlatformStatus,
): readonly Part[] {
  const pools = window?.pools ?? []
  const at = minorOfPlatform(platformStatus.target)
  const passed = minorsTo(began, at) ?? []
  return [
    ...(pools.length > 0 ? [{ name: 'pools paused', state: 'done', note: pools.join(', ') } as const] : []),
    ...passed.map((minor) => partOf(minor, minor === at, platformStatus)),
  ]
}

function partOf(minor: string, isLast: boolean, { state, message }: PlatformStatus): Part {
  const name = `platform ${minor}`
  if (!isLast || state === 'idle') return { name, state: 'done' }
  return { name, state: 'now', note: message }
}

type UnderWay = Pick<EusStatusDocument, 'leaves' | 'running'>

/** What is going on at this moment: the platform between two releases, and a kvup that is at work. */
export async function underWay(
  cx: Context,
  { version, target }: PlatformStatus,
  { snapshot, namespace }: { snapshot: ReadCluster; namespace: string },
): Promise<UnderWay> {
  const running = await getLockHolder(cx, snapshot, namespace)
  return {
    ...(version !== undefined && version !== target && { leaves: version }),
    ...(running && { running: { ...running, asOf: cx.clock.now().toISOString() } }),
  }
}
