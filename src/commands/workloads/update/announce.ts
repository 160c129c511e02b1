import type { Context } from '../../../context.ts'
import { methodsIn } from '../../../lib/workloads/strategy/owner.ts'
import { methodsText } from '../../../lib/workloads/update-methods.ts'
import type { Wave } from '../../../lib/workloads/waves/waves.ts'
import type { Running } from './update.ts'

/** Before the question: what is borrowed, and which VMs come when. */
export function announce({ printer }: Context, { seen, options }: Running, waves: readonly Wave[]): void {
  if (options.watchOnly) return
  const methods = methodsIn(seen.holding, seen.owner)
  if (methods.length > 0)
    printer.note(`workload updates (${methodsText(methods)}) are held meanwhile, and given back at the end`)
  for (const { id, vms } of waves) printer.note(`${id}: ${vms.length} ${vms.length === 1 ? 'VM' : 'VMs'}`)
  const restarts = waves.flatMap(({ vms }) => vms).filter(({ by }) => by === 'restart')
  for (const { vm } of restarts) printer.note(`restart: ${vm}`)
}
