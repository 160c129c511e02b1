import type { CommandContext } from '../../kube/world.ts'
import { stepsBehind } from '../window-status.ts'
import type { RunLimits } from '../../engine/step.ts'
import { usageError } from '../../kube/errors.ts'
import type { WindowSnapshot } from './window-snapshot.ts'
import { approvalIsAhead } from '../plan/planned-eus.ts'
import type { Finding } from '../../checks/check-definition.ts'
import { standsInTheWay } from '../plan/eus-assessment.ts'
import type { EusRunOptions } from './eus-options.ts'

export const isLastWindow = ({ window, planned }: WindowSnapshot): boolean => window.to === planned.plan.to

/** Asked only where a step is named. */
export async function behindOf(
  { clock }: CommandContext,
  { window, cluster: { reader }, environment: { journal } }: WindowSnapshot,
  { until, pauseBefore = [] }: RunLimits,
): Promise<(id: string) => boolean> {
  if (until === undefined && pauseBefore.length === 0) return () => false
  return stepsBehind(window, { reader, clock, journal }, until)
}

/** A pool that is not there would come last, and nobody would be told. Throws `usage`. */
export function ensurePools({ poolOrder }: EusRunOptions, { planned, window }: WindowSnapshot): void {
  const { pools, hops } = planned.plan
  // At the target the same line is no mistake.
  if (pools.length === 0 && hops.length === 0) return
  const wrong = poolOrder.find((name) => !pools.some((pool) => pool.name === name))
  if (wrong === undefined) return
  throw usageError(
    'no-such-pool',
    `--pool-order names ${JSON.stringify(wrong)}, which is no pool to unpause`,
    {
      remedy:
        window.way === 'plain'
          ? 'leave it out: on this way pools are not paused, and follow the platform'
          : `the pools are: ${pools.map(({ name }) => name).join(', ')}`,
    },
  )
}

export function windowQuestion({ window, planned, open }: WindowSnapshot): string {
  const { from } = planned.plan
  return open === undefined
    ? `Take the platform from ${from} to ${window.to}?`
    : `Go on to ${window.to}, from ${from}?`
}

/** What a person should know before the question; `where` says which cluster it is, `outages` which VMs go down with their node. */
export function announceWindow(
  { printer }: CommandContext,
  windowSnapshot: WindowSnapshot,
  { where, outages }: { where: readonly string[]; outages: readonly string[] },
): void {
  const { planned } = windowSnapshot
  const { plan } = planned
  const said = [...where, ...warnings(planned), ...meanwhile(windowSnapshot), ...course(windowSnapshot)]
  for (const line of [...said, ...outages, ...plan.notes]) printer.note(line)
}

/** What is otherwise as long as it is open; told when it is opened. */
function meanwhile({ planned: { plan }, open }: WindowSnapshot): readonly string[] {
  if (open !== undefined) return []
  const pools = plan.pools.filter(({ paused }) => !paused).map(({ name }) => name)
  const { methods } = plan
  return [
    ...(pools.length > 0 ? [`paused until the end: pools ${pools.join(', ')}; master never`] : []),
    ...(methods.length > 0 ? [`workload updates (${methods.join(', ')}) stop until the end`] : []),
    // Of a window with paused pools its notes say it.
    ...(methods.length > 0 && plan.way === 'plain'
      ? ['hotplug of CPU, memory and networks and changes of volumes wait meanwhile']
      : []),
  ]
}

function course({ window, planned: { plan } }: WindowSnapshot): readonly string[] {
  const endsEarly = approvalIsAhead(plan) && !window.request.approve
  return [
    `by ${window.hops.map(({ minor }) => minor).join(', then ') || window.to}`,
    `takes ${plan.time.says}`,
    ...(endsEarly
      ? ['ends before each InstallPlan, for the Subscription is Manual: --approve goes on behind them']
      : []),
    'it may take days: leave it with Ctrl-C at any time, and run it again anywhere to go on',
  ]
}

/** What is no reason to refuse it, and not taken by name either. */
function warnings({ plan, accepted }: WindowSnapshot['planned']): readonly string[] {
  return plan.findings
    .filter(({ id, level }) => level === 'warning' && !accepted.some((risk) => risk.id === id))
    .map(({ id, summary }) => `warning: ${summary} (${id})`)
}

const ofHop =
  /^(?:gate|channel|request|accepted|platform|control-plane|operator|operator-channel|operator-releases|operator-way)-(?<minor>\d+\.\d+)$/u

/** The minor of the hop that a step belongs to; undefined where every window has such a step, or none. */
const minorOfStep = (id: string): string | undefined => ofHop.exec(id)?.groups?.['minor']

/**
 * The limits as far as they concern this window: steps of the hops that come in windows behind it, or that are `behind` us already, are none of its own. `past`: what
 * --until names is.
 */
export function limitsIn(
  limits: RunLimits,
  {
    window,
    planned: { plan },
    behind,
  }: Pick<WindowSnapshot, 'window' | 'planned'> & { behind: (id: string) => boolean },
): RunLimits & { past?: string } {
  const own = new Set(window.hops.map(({ minor }) => minor))
  const all = new Set(plan.hops.map(({ minor }) => minor))
  const isElsewhere = (id: string) => {
    const minor = minorOfStep(id)
    return behind(id) || (minor !== undefined && !own.has(minor) && all.has(minor))
  }
  const { until, pauseBefore = [] } = limits
  return {
    ...limits,
    until: until === undefined || isElsewhere(until) ? undefined : until,
    pauseBefore: pauseBefore.filter((id) => !isElsewhere(id)),
    ...(until !== undefined && behind(until) && { past: until }),
  }
}

/**
 * The findings that a run is refused for. In a window that is open steps judge anew what moves with it, and wait for what passes: findings
 * about it would keep a run that was cut off from going on.
 */
export function gatingFindings(
  findings: readonly Finding[],
  { isOpen }: { isOpen: boolean },
): readonly Finding[] {
  return isOpen ? findings.filter(({ id }) => standsInTheWay.has(id)) : findings
}
