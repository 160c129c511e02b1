import type { Context } from '../../../context.ts'
import { outageLines } from '../../../lib/output/views/eus-plan-words.ts'
import { approvalIsAhead } from '../approval-ahead.ts'
import type { SeenWindow } from '../see-window.ts'

/** What a person should know before the question. */
export function announceWindow({ printer }: Context, seen: SeenWindow, where: readonly string[]): void {
  const { window, planned, open } = seen
  const { plan } = planned
  for (const line of where) printer.note(line)
  for (const line of warnings(planned)) printer.note(line)
  if (open === undefined) {
    const pools = plan.pools.filter(({ paused }) => !paused).map(({ name }) => name)
    if (pools.length > 0) printer.note(`paused until the end: pools ${pools.join(', ')}; master never`)
    const { methods } = plan
    if (methods.length > 0) printer.note(`workload updates (${methods.join(', ')}) stop until the end`)
    printer.note('hotplug of CPU, memory and networks and changes of volumes wait meanwhile')
  }
  printer.note(
    `by ${window.hops.map(({ minor }) => minor).join(', then ') || window.to}; a platform does not go back to an older minor`,
  )
  printer.note(`takes ${plan.time.says}`)
  if (approvalIsAhead(plan) && !window.request.approve)
    printer.note(
      'ends before each InstallPlan, for the Subscription is Manual: --approve goes on behind them',
    )
  printer.note('it may take days: leave it with Ctrl-C at any time, and run it again anywhere to go on')
  for (const line of outageLines(plan)) printer.note(line)
  for (const note of plan.notes) printer.note(note)
}

/** What is no reason to refuse it, and not taken by name either. */
function warnings({ plan, accepted }: SeenWindow['planned']): readonly string[] {
  return plan.findings
    .filter(({ id, level }) => level === 'warning' && !accepted.some((risk) => risk.id === id))
    .map(({ id, summary }) => `warning: ${summary} (${id})`)
}
