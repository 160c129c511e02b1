import type { Context } from '../../../context.ts'
import { outageLines } from '../../../lib/output/views/eus-plan-words.ts'
import { approvalIsAhead } from '../approval-ahead.ts'
import type { SeenWindow } from '../see-window.ts'

/** What a person should know before the question; `where` says which cluster it is. */
export function announceWindow({ printer }: Context, seen: SeenWindow, where: readonly string[]): void {
  const { planned } = seen
  const { plan } = planned
  const said = [...where, ...warnings(planned), ...meanwhile(seen), ...course(seen)]
  for (const line of [...said, ...outageLines(plan), ...plan.notes]) printer.note(line)
}

/** What is otherwise as long as it is open; told when it is opened. */
function meanwhile({ planned: { plan }, open }: SeenWindow): readonly string[] {
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

function course({ window, planned: { plan } }: SeenWindow): readonly string[] {
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
function warnings({ plan, accepted }: SeenWindow['planned']): readonly string[] {
  return plan.findings
    .filter(({ id, level }) => level === 'warning' && !accepted.some((risk) => risk.id === id))
    .map(({ id, summary }) => `warning: ${summary} (${id})`)
}
