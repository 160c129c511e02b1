import type { Context } from '../../../context.ts'
import { onlyOnceText, unreadText } from '../../../lib/output/views/wave-lines.ts'
import { count } from '../../../lib/output/count.ts'
import type { RestartRun } from '../../../lib/workloads/rollout/restart/restart-run.ts'
import type { RestartWork } from './restart.ts'

/** Before the question: every VM that is restarted, in its wave, and which of them only this restart starts again. */
export function announceRestarts(
  { printer }: Context,
  { known, remarks }: RestartRun,
  { waves, unread }: RestartWork,
): void {
  for (const line of unreadText(unread)) printer.warn(line)
  for (const remark of remarks) printer.warn(remark)
  for (const { id, vms } of waves.filter((wave) => wave.vms.length > 0)) {
    printer.note(`${id}: ${count(vms.length, 'VM')}`)
    for (const { vm } of vms) printer.note(`  ${vm}${known.get(vm)?.onlyOnce ? `: ${onlyOnceText}` : ''}`)
  }
}
