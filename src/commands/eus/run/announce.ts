import type { Context } from '../../../context.ts'
import { outageLines } from '../../../lib/output/views/eus-plan-words.ts'
import type { SeenWindow } from '../see-window.ts'

/** What a person should know before the question. */
export function announceWindow({ printer }: Context, { window, planned, open }: SeenWindow): void {
  const { plan } = planned
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
  printer.note('it may take days: leave it with Ctrl-C at any time, and run it again anywhere to go on')
  for (const line of outageLines(plan)) printer.note(line)
  for (const note of plan.notes) printer.note(note)
}
