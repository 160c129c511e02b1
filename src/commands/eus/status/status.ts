import type { Context } from '../../../context.ts'
import { alertsLine } from '../../../lib/facts/openshift/alerts-in-words.ts'
import { oneLook } from '../../../lib/cluster/one-look.ts'
import { safeToLeave } from '../../../lib/eus/status/safe-to-leave.ts'
import { borrowedText, type Part, partsOf, stepStandings } from '../../../lib/eus/status/window-status.ts'
import { windowChanges } from '../../../lib/eus/status/window-changes.ts'
import { eusProcedure } from '../../../lib/eus/run/procedure.ts'
import { ourRequest } from '../../../lib/eus/steps/kept-request.ts'
import { readPlatform } from '../../../lib/eus/steps/read-platform.ts'
import { type EusStatusDocument, eusStatusView } from '../../../lib/output/views/eus-status.ts'
import type { ShownHolder } from '../../../lib/output/views/lock-holder.ts'
import type { Loan } from '../../../lib/procedure/journal.ts'
import type { PlatformStanding } from '../../../lib/facts/openshift/platform-standing.ts'
import { RememberedJournal } from '../../../lib/procedure/remembered-journal.ts'
import type { ReadContext } from '../../../lib/procedure/step.ts'
import { minorsTo } from '../../../lib/releases/platform-minors.ts'
import { type ExitCode, exitCode } from '../../../lib/system/exit-codes.ts'
import { installation } from '../../../lib/facts/installation.ts'
import { takeSnapshot } from '../../../lib/facts/snapshot.ts'
import { windowIn } from '../../../lib/eus/plan/window-in.ts'
import { partsByPlatform } from './parts-by-platform.ts'
import { platformAlone } from './platform-alone.ts'
import { underWay } from './under-way.ts'
import { type LookedAt, readerFor } from '../../reader-for.ts'
import { typedFor } from '../approval-ahead.ts'
import { forgotten } from '../deduced.ts'
import type { EusPlanningOptions } from '../flags.ts'
import { type SeenWindow, seeWindow } from '../see-window.ts'
import { minorOfPlatform } from '../../../lib/releases/platform-version.ts'

export interface EusStatusOptions extends Pick<EusPlanningOptions, 'to' | 'releases'> {
  watch?: boolean
  from?: string
}

/** `kvup eus status`: asks each step where it stands. Reads only. */
export async function eusStatus(cx: Context, options: EusStatusOptions): Promise<ExitCode> {
  const looked = await readerFor(cx, options.from, 'platform')
  const { cluster, clock } = looked
  const there: Context = { ...cx, clock, cluster: () => Promise.resolve(cluster) }
  if (!options.watch) {
    cx.printer.result(await documentOf(there, options, looked), eusStatusView)
    return exitCode.done
  }
  return follow(there, options, looked)
}

/** Until Ctrl-C: again whenever it reads otherwise. */
async function follow(cx: Context, options: EusStatusOptions, looked: LookedAt): Promise<ExitCode> {
  const { reader } = await cx.cluster()
  const found = installation(await takeSnapshot(reader, [], cx.clock))
  const namespace = found.is === 'one' ? found.namespace : undefined
  const { clock, signal } = cx
  let last = ''
  for await (const _ of windowChanges(reader, { clock, signal, namespace })) {
    const document = await documentOf(cx, options, looked)
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
  looked: LookedAt,
): Promise<EusStatusDocument> {
  const cluster = await live.cluster()
  const reader = oneLook(cluster.reader)
  const cx: Context = { ...live, cluster: () => Promise.resolve({ ...cluster, reader }) }
  const found = installation(await takeSnapshot(reader, [], cx.clock))
  return found.is === 'none' || found.is === 'unknown'
    ? platformAlone(cx, { ...options, accept: [] })
    : windowStatus(cx, options, looked)
}

async function windowStatus(
  cx: Context,
  options: EusStatusOptions,
  looked: LookedAt,
): Promise<EusStatusDocument> {
  const seen = await seeWindow(cx, { ...options, accept: [] }, looking)
  const { window, planned, hands, loans } = seen
  const journal = new RememberedJournal(hands.journal)
  const reading: ReadContext = { reader: seen.cluster.reader, clock: cx.clock, journal }
  const platform = await readPlatform(reading.reader)
  const { standing } = platform
  const all = await eusProcedure(window).steps(reading)
  const steps = loans.length === 0 ? [] : await stepStandings(all, reading)
  const { unpauseBefore, time, unknown } = planned.plan
  const open = windowIn(planned.evidence)
  const lost = forgotten(seen)
  const now = await underWay(cx, standing, { looked, namespace: seen.installation.namespace })
  return {
    apiVersion: 'kvup.io/v1alpha1',
    kind: 'EusStatus',
    open: open !== undefined,
    from: window.began,
    to: window.to,
    at: standing.target ?? '',
    ...now,
    ...sinceOf(seen, cx.clock.now()),
    ...(unpauseBefore !== undefined && { unpauseBefore }),
    parts: partsNow(steps, seen, standing),
    steps,
    borrowed: loans,
    borrowedText: borrowedText(goesBack(loans, standing)),
    ...(await armedOf(platform, seen)),
    ...(loans.length > 0 && { left: { lowSeconds: time.lowSeconds, highSeconds: time.highSeconds } }),
    ...safeToLeave(all, steps),
    ...alertsOf(seen),
    unknown: [...(lost?.unknown ?? []), ...unknown],
    next: lost?.next ?? nextOf(seen, { at: standing.target, running: now.running }),
  }
}

function partsNow(
  steps: EusStatusDocument['steps'],
  seen: SeenWindow,
  standing: PlatformStanding,
): readonly Part[] {
  return steps.length === 0
    ? partsByPlatform(windowIn(seen.planned.evidence), seen.window.began, standing)
    : withBehind(partsOf(steps), seen, minorOfPlatform(standing.target))
}

const looking = {
  accepted: [],
  approve: true,
  approveAlso: [],
  poolOrder: [],
  leaveRequested: false,
  settleMs: 0,
  command: 'kvup eus run',
}

const alertsOf = ({ planned: { evidence }, loans }: SeenWindow): Pick<EusStatusDocument, 'alerts'> =>
  evidence.alerts.known ? { alerts: alertsLine(evidence.alerts.items, loans.length > 0) } : {}

function sinceOf({ loans }: SeenWindow, now: Date): Pick<EusStatusDocument, 'since' | 'ageSeconds'> {
  const [since] = loans.map(({ at }) => at).toSorted()
  if (since === undefined) return {}
  return { since, ageSeconds: Math.round((now.getTime() - Date.parse(since)) / 1000) }
}

/** Hops that are behind are no steps any more: they are told by the way from where the window began. */
function withBehind(parts: readonly Part[], { window }: SeenWindow, at: string): readonly Part[] {
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
  { hands, window }: SeenWindow,
): Promise<Pick<EusStatusDocument, 'armed'>> {
  const { armed, accepted } = platform.standing
  if (armed === undefined) return {}
  const ours = await ourRequest(hands.journal, window.name, platform)
  const why = accepted.is === 'no' ? { why: accepted.message } : {}
  return { armed: { ...armed, by: ours ? 'kvup' : 'somebody else', ...why } }
}

/** Once its hop runs, a request is nobody's to take back (night E2), closed or not. */
function goesBack(loans: readonly Loan[], { state }: PlatformStanding): readonly Loan[] {
  return state === 'idle'
    ? loans
    : loans.filter(({ id }) => id !== 'desired-update' && id !== 'platform-channel')
}

/** Where somebody is at work a second one would be refused. */
function nextOf(
  { loans, window, planned }: SeenWindow,
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
