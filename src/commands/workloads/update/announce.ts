import type { Context } from '../../../context.ts'
import { count } from '../../../lib/output/count.ts'
import { onlyOnceText, unreadText } from '../../../lib/output/views/wave-lines.ts'
import { methodsIn } from '../../../lib/workloads/strategy/owner.ts'
import { methodsText } from '../../../lib/workloads/update-methods.ts'
import type { Running, UpdateWork } from './update.ts'

/** Before the question: what is borrowed, which VMs come when, which of them only a restart starts again, and what could not be seen. */
export function announce(
  { printer }: Context,
  { seen, options, run }: Running,
  { waves, unread }: UpdateWork,
): void {
  for (const line of unreadText(unread)) printer.warn(line)
  if (options.watchOnly) return
  for (const remark of run.remarks) printer.warn(remark)
  const methods = methodsIn(seen.holding, seen.owner)
  if (methods.length > 0)
    printer.note(`workload updates (${methodsText(methods)}) are held meanwhile, and given back at the end`)
  for (const { id, vms } of waves.filter((wave) => wave.vms.length > 0))
    printer.note(`${id}: ${count(vms.length, 'VM')}`)
  const restarts = waves.flatMap(({ vms }) => vms).filter(({ by }) => by === 'restart')
  for (const { vm, onlyOnce } of restarts)
    printer.note(`restart: ${vm}${onlyOnce ? `: ${onlyOnceText}` : ''}`)
}
