import type { Context } from '../../../context.ts'
import type { Finding } from '../../../lib/checks/finding.ts'
import { unreadText } from '../../../lib/output/views/wave-lines.ts'
import { count } from '../../../lib/output/count.ts'
import type { RestartCandidate } from '../../../lib/workloads/rollout/restart/fleet.ts'
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
    for (const { vm } of vms) printer.note(`  ${vm}${known.get(vm)?.onlyOnce ? onlyOnce : ''}`)
  }
}

const onlyOnce = ': its runStrategy does not bring it back by itself; only this restart starts it again'

/** What is lost for good is never taken by --yes alone (night W2). */
export function restartFindings(candidates: readonly RestartCandidate[]): readonly Finding[] {
  const losing = candidates.filter(({ loses }) => loses.length > 0)
  if (losing.length === 0) return []
  return [
    {
      id: 'data-loss',
      level: 'blocker',
      summary: `a restart of ${count(losing.length, 'VM')} loses what was written to volumes that live in its pod`,
      objects: losing.slice(0, 20).map(({ vm, loses }) => `${vm} (${loses.join(', ')})`),
      remedy: ['kvup rollout restart -l KEY=VALUE     restarts others only'],
    },
  ]
}
