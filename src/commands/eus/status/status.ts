import type { Context } from '../../../context.ts'
import { safeToLeave } from '../../../lib/eus/status/safe-to-leave.ts'
import { borrowedText, type Part, partsOf, stepStandings } from '../../../lib/eus/status/window-status.ts'
import { windowChanges } from '../../../lib/eus/status/window-changes.ts'
import { eusProcedure } from '../../../lib/eus/run/procedure.ts'
import { ourRequest } from '../../../lib/eus/steps/kept-request.ts'
import { minorOf, readPlatform } from '../../../lib/eus/steps/platform-now.ts'
import { type EusStatusDocument, eusStatusView } from '../../../lib/output/views/eus-status.ts'
import type { ReadContext } from '../../../lib/procedure/step.ts'
import { minorsTo } from '../../../lib/releases/platform-minors.ts'
import { type ExitCode, exitCode } from '../../../lib/system/exit-codes.ts'
import { installation } from '../../../lib/facts/installation.ts'
import { takeSnapshot } from '../../../lib/facts/snapshot.ts'
import { windowIn } from '../../../lib/eus/plan/window-in.ts'
import { partsByPlatform } from './parts-by-platform.ts'
import { platformAlone } from './platform-alone.ts'
import { readerFor } from '../../reader-for.ts'
import { forgotten } from '../deduced.ts'
import type { EusPlanningOptions } from '../flags.ts'
import { type SeenWindow, seeWindow } from '../see-window.ts'

export interface EusStatusOptions extends Pick<EusPlanningOptions, 'to' | 'releases'> {
  watch?: boolean
  from?: string
}

/** `kvup eus status`: asks each step where it stands. Reads only. */
export async function eusStatus(cx: Context, options: EusStatusOptions): Promise<ExitCode> {
  const { cluster, clock } = await readerFor(cx, options.from, 'platform')
  const there: Context = { ...cx, clock, cluster: () => Promise.resolve(cluster) }
  if (!options.watch) {
    cx.printer.result(await documentOf(there, options), eusStatusView)
    return exitCode.done
  }
  return follow(there, options)
}

/** Until Ctrl-C: again whenever it reads otherwise. */
async function follow(cx: Context, options: EusStatusOptions): Promise<ExitCode> {
  const { reader } = await cx.cluster()
  const found = installation(await takeSnapshot(reader, [], cx.clock))
  const namespace = found.is === 'one' ? found.namespace : undefined
  const { clock, signal } = cx
  let last = ''
  for await (const _ of windowChanges(reader, { clock, signal, namespace })) {
    const document = await documentOf(cx, options)
    const { ageSeconds: __, ...lasting } = document
    const text = JSON.stringify(lasting)
    if (text !== last) cx.printer.result(document, eusStatusView)
    last = text
  }
  return exitCode.done
}

async function documentOf(cx: Context, options: EusStatusOptions): Promise<EusStatusDocument> {
  const { reader } = await cx.cluster()
  const found = installation(await takeSnapshot(reader, [], cx.clock))
  return found.is === 'none' || found.is === 'unknown'
    ? platformAlone(cx, { ...options, accept: [] })
    : windowStatus(cx, options)
}

async function windowStatus(cx: Context, options: EusStatusOptions): Promise<EusStatusDocument> {
  const seen = await seeWindow(cx, { ...options, accept: [] }, looking)
  const { window, planned, hands, loans } = seen
  const reading: ReadContext = { reader: seen.cluster.reader, clock: cx.clock, journal: hands.journal }
  const platform = await readPlatform(reading.reader)
  const { standing } = platform
  const all = await eusProcedure(window).steps(reading)
  const steps = loans.length === 0 ? [] : await stepStandings(all, reading)
  const { unpauseBefore, time, unknown } = planned.plan
  const open = windowIn(planned.evidence)
  const lost = forgotten(seen)
  return {
    apiVersion: 'kvup.io/v1alpha1',
    kind: 'EusStatus',
    open: open !== undefined,
    from: window.began,
    to: window.to,
    at: standing.target ?? '',
    ...sinceOf(seen, cx.clock.now()),
    ...(unpauseBefore !== undefined && { unpauseBefore }),
    parts:
      steps.length === 0
        ? partsByPlatform(open, window.began, standing)
        : withBehind(partsOf(steps), seen, minorOf(standing.target)),
    steps,
    borrowed: loans,
    borrowedText: borrowedText(loans),
    ...(await armedOf(platform, seen)),
    ...(loans.length > 0 && { left: { lowSeconds: time.lowSeconds, highSeconds: time.highSeconds } }),
    ...safeToLeave(all, steps),
    unknown: [...(lost?.unknown ?? []), ...unknown],
    next: lost?.next ?? nextOf(seen),
  }
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

function nextOf({ loans, window }: SeenWindow): readonly string[] {
  if (loans.length === 0) return [`kvup eus plan --to ${window.to}     what a window would do`]
  return ['kvup eus run     goes on', 'kvup eus abort     ends it, and gives back what is borrowed']
}
