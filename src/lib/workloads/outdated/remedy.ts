import type { VirtualMachineInstance } from '../../cluster/kinds/virtual-machines.ts'
import { condition } from '../../cluster/object.ts'
import { shellWord } from '../../system/shell-word.ts'
import { giveBackLine } from '../held-lines.ts'
import { narrowedLine } from '../../system/narrowed-line.ts'
import { isOfVm, type Machine, runStrategyOf } from './behind.ts'
import { type Decision, moves } from './decision.ts'
import { isAlone, type OutlookRules } from './rules.ts'

interface Stays {
  /** Undefined: something else than the methods leaves it where it is. */
  decision: Decision | undefined
  rules: OutlookRules
}

/** Commands that give the new launcher to a VMI that stays where it is; none where only waiting helps. */
export function remedyFor(
  vmi: VirtualMachineInstance,
  vm: Machine | undefined,
  { decision, rules }: Stays,
): readonly string[] {
  if (decision === undefined) return []
  if (moves.has(decision) && isAlone(rules)) return ['kubectl get nodes -l kubevirt.io/schedulable=true']
  if (decision === 'no-methods' && isMigratable(vmi))
    return [rules.held ? giveBackLine(rules.held) : narrowedLine('kvup workloads update', rules.asked ?? {})]
  return isJudged(vmi) ? byRestart(vmi, vm, { decision, rules }) : [look(vmi)]
}

/** The strategy that forbids evictions has to go as well, or the next drain is blocked by it. */
function byRestart(
  vmi: VirtualMachineInstance,
  vm: Machine | undefined,
  { decision, rules }: Stays,
): readonly string[] {
  const restart = restartOf(vmi, vm, rules)
  return decision === 'denied' && vm ? [`kvup workloads unblock ${place(vmi)}`, ...restart] : restart
}

const isMigratable = (vmi: VirtualMachineInstance) => condition(vmi, 'LiveMigratable')?.status === 'True'
const isJudged = (vmi: VirtualMachineInstance) =>
  ['True', 'False'].includes(condition(vmi, 'LiveMigratable')?.status ?? 'Unknown')

const place = ({ metadata: { name, namespace = '' } }: VirtualMachineInstance) =>
  `${shellWord(name)} -n ${shellWord(namespace)}`

const look = ({ metadata: { name, namespace = '' } }: VirtualMachineInstance) =>
  `kubectl -n ${shellWord(namespace)} get vmi ${shellWord(name)} -o jsonpath='{.status.conditions}'`

/** Halted and Once refuse a restart with 409 (facts 5, night W3); a bare VMI has no VM to restart. */
function restartOf(
  vmi: VirtualMachineInstance,
  vm: Machine | undefined,
  { machinesUnread }: OutlookRules,
): readonly string[] {
  if (vm === undefined) return machinesUnread && isOfVm(vmi) ? [`virtctl restart ${place(vmi)}`] : []
  const strategy = runStrategyOf(vm)
  if (strategy === 'Halted') return []
  return strategy === 'Once' ? byStopAndStart(vmi) : [`virtctl restart ${place(vmi)}`]
}

/** A start is refused until the instance is gone (lab "Seen with workloads" 17). */
function byStopAndStart(vmi: VirtualMachineInstance): readonly string[] {
  const { name, namespace = '' } = vmi.metadata
  return [
    `virtctl stop ${place(vmi)}`,
    `kubectl -n ${shellWord(namespace)} wait --for=delete vmi/${shellWord(name)} --timeout=5m`,
    `virtctl start ${place(vmi)}`,
  ]
}
