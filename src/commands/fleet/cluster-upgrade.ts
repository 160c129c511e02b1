import type { Context } from '../../context.ts'
import type { SealedFleet } from '../../lib/fleet/fleet-plan.ts'
import { endedBy, type FleetResult } from '../../lib/fleet/fleet-report.ts'
import type { FleetRow } from '../../lib/fleet/fleet-rows.ts'
import type { FleetWave } from '../../lib/fleet/fleet-waves.ts'
import { blocked, exitCode, KvupError, usageError } from '../../lib/kube/errors.ts'
import { nextOpening, openUntil, parseWindow } from '../../lib/vms/waves/pacing.ts'
import { runInside } from '../run-inside.ts'
import { upgradeCommand } from '../upgrade.ts'
import { listening } from './fleet-plan.ts'
import { readRow } from './fleet-status.ts'
import { type OpenMember, sameCluster } from './members.ts'

/** What became of one cluster. */
export type ClusterEnd = Pick<FleetResult, 'outcome' | 'error'>

/** How a cluster begins: once its window is open, unless the run was stopped meanwhile. */
export interface ClusterStart {
  /** Aborted when a rule ends the run. What has begun comes to its end all the same. */
  stopped: AbortSignal
  /** Called right before the cluster is touched. */
  begins(): void
}

/** How one cluster of a fleet is upgraded by its sealed plan: by this process, or by a Job in it. What failed there is an end, not an error; `not-begun` where the run was stopped before. */
type ClusterUpgrade = (one: OpenMember, wave: FleetWave, start: ClusterStart) => Promise<ClusterEnd>

/** How those of a fleet are upgraded. */
export interface ClusterUpgrades {
  upgrade: ClusterUpgrade
  /** What a person has to know before agreeing to it. */
  before: readonly string[]
  /** Removes what an earlier process left in a cluster that is done. */
  tidy?(one: OpenMember, wave: FleetWave): Promise<void>
}

/** The run that the cluster is part of. */
export interface ClusterRun {
  cx: Context
  plan: SealedFleet
  /** Of the upgrade of each cluster. */
  timeout?: string
}

/** The cluster of the plan with this name. */
export type PlannedMember = SealedFleet['clusters'][number]

/** `kvup upgrade --plan` of one cluster in this process; over as many windows as it takes. */
export function upgradesHere(run: ClusterRun): ClusterUpgrades {
  const { cx, plan: fleet, timeout } = run
  const { world } = cx
  const upgrade: ClusterUpgrade = async (one, { wave }, start) => {
    const { name } = one.member
    const { plan } = plannedOf(fleet, name)
    const file = `${fleet.file}, cluster ${name}`
    const text = JSON.stringify(plan)
    return overWindows(run, { one, start }, async (until) => {
      const heard = listening({
        ...one.cx,
        prompt: { confirm: async () => true },
        flags: { ...one.cx.flags, yes: true },
        world: {
          ...world,
          fleet: { uid: fleet.seal.uid, wave },
          readText: async (asked) => (asked === file ? text : world.readText(asked)),
        },
      })
      const printer = { ...heard.cx.printer, event: storyOf(cx, name) }
      const args = ['--plan', file, ...until, ...(timeout === undefined ? [] : ['--timeout', timeout])]
      const code = await runInside(
        { ...heard.cx, printer },
        { line: world.commandLine, command: upgradeCommand, args },
      )
      const report = heard.documents.at(-1) as { outcome?: string } | undefined
      if (report?.outcome === 'stopped-before') return 'window-closed'
      if (code !== exitCode.done)
        return endedBy(new KvupError(code, 'upgrade-ended', `kvup upgrade ended with ${code}`))
      return { outcome: report?.outcome === 'nothing-to-do' ? 'nothing-to-do' : 'done' }
    })
  }
  return { upgrade, before: [] }
}

/** What is true of a cluster of the run, and whether it is where its plan leads. */
export interface ObservedCluster {
  row: FleetRow
  isReached: boolean
}

/** By the judgement of `kvup status`, of the cluster that it was at the beginning. Throws `blocked` where the context leads to another one, and what the Reader throws. */
export async function observe(
  run: Pick<ClusterRun, 'cx' | 'plan'>,
  one: OpenMember,
): Promise<ObservedCluster> {
  const row = await readRow(one)
  await sameCluster(one)
  return { row, isReached: await isReached(run, one, row) }
}

/** Whether it is where its plan leads. Of an operator KubeVirt's version does not say so: there the plan is looked at again, and has nothing to do. Throws what the Reader throws. */
async function isReached(
  { cx, plan: fleet }: Pick<ClusterRun, 'cx' | 'plan'>,
  one: OpenMember,
  { version }: Pick<FleetRow, 'version'>,
): Promise<boolean> {
  const { name } = one.member
  const { plan } = plannedOf(fleet, name)
  if (plan.operator === undefined) return version === plan.to
  const file = `${fleet.file}, cluster ${name}`
  const heard = listening({
    ...one.cx,
    world: { ...cx.world, readText: async () => JSON.stringify(plan) },
  })
  const asked = ['--plan', file, '--dry-run', 'client']
  try {
    await runInside(heard.cx, { line: cx.world.commandLine, command: upgradeCommand, args: asked })
  } catch (error) {
    // A plan that no longer fits is not where it leads.
    if (
      error instanceof KvupError &&
      (error.exitCode === exitCode.drifted || error.exitCode === exitCode.blocked)
    )
      return false
    throw error
  }
  return (heard.documents.at(-1) as { pending?: boolean } | undefined)?.pending === false
}

/** The cluster with this name. Throws `usage` where the plan has none. */
export function plannedOf({ clusters, file }: SealedFleet, name: string): PlannedMember {
  const found = clusters.find((one) => one.name === name)
  if (found === undefined)
    throw usageError('not-a-plan', `${file}: a wave names ${name}, which is no cluster of it`)
  return found
}

/** Does the work in one window of the cluster after the other, until it has ended: each time it hears until when, as flags. Without `start` the cluster has begun before. */
export async function overWindows(
  { cx, plan }: ClusterRun,
  { one, start }: { one: OpenMember; start?: ClusterStart },
  work: (until: readonly string[]) => Promise<ClusterEnd | 'window-closed'>,
): Promise<ClusterEnd> {
  const windows = plannedOf(plan, one.member.name).windows.map((window) => parseWindow(window))
  let waiting = start
  const isStopped = () => waiting?.stopped.aborted === true && !cx.signal.aborted
  try {
    for (;;) {
      const signal = waiting ? AbortSignal.any([cx.signal, waiting.stopped]) : cx.signal
      const closes = await inWindow(cx, one, { windows, signal })
      if (isStopped()) return { outcome: 'not-begun' }
      waiting?.begins()
      waiting = undefined
      const until = Number.isFinite(closes) ? ['--deadline', new Date(closes).toISOString()] : []
      const end = await work(until)
      if (end !== 'window-closed') return end
      // The next step would not fit in the rest of this window.
      const left = closes - one.cx.clock.now().getTime()
      if (Number.isFinite(left) && left > 0) await one.cx.clock.sleep(left, cx.signal)
    }
  } catch (error) {
    if (isStopped()) return { outcome: 'not-begun' }
    if (!(error instanceof KvupError)) throw error
    return endedBy(error)
  }
}

/** Waits for it by the time of the cluster. When it closes, ms since the epoch. */
async function inWindow(
  run: Context,
  { cx, member }: OpenMember,
  { windows, signal }: { windows: readonly ReturnType<typeof parseWindow>[]; signal: AbortSignal },
): Promise<number> {
  if (windows.length === 0) return Infinity
  const now = cx.clock.now().getTime()
  const opens = nextOpening(windows, now)
  if (opens === undefined)
    throw blocked('window-never-opens', `no time window of ${member.name} opens`, {
      remedy: 'make a new plan with another time window',
    })
  if (opens > now) {
    run.printer.note(
      `${member.name}: waits for its time window, which opens at ${new Date(opens).toISOString()}`,
    )
    await cx.clock.sleep(opens - now, signal)
  }
  return openUntil(windows, Math.max(opens, now)) ?? Infinity
}

/** What of its run is told among those of others: what was changed. */
function storyOf({ printer }: Context, name: string): Context['printer']['event'] {
  return (event) => {
    if (event.kind === 'step-applied') printer.note(`${name}: ${event.step.title}`)
  }
}
