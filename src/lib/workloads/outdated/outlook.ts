import type { VirtualMachineInstance } from '../../cluster/kinds/virtual-machines.ts'
import { afterShutdown, type Fate } from '../fate.ts'
import { isOfVm, type Machine, runStrategyOf } from './behind.ts'
import { type Decision, decisionOf, moves } from './decision.ts'
import { dueFor, isMigrating } from './due.ts'
import type { Launcher } from './launchers.ts'
import { lostData } from './lost-data.ts'
import { aboutEnd, aboutLauncher, type Reason, reason, whyBy } from './reasons.ts'
import { remedyFor } from './remedy.ts'
import { isAlone, type OutlookRules } from './rules.ts'
import { vmName } from '../vm-name.ts'

/** What becomes of one VMI, why, and what would change it. */
export interface Outlook {
  fate: Fate
  /** The first one decides; never empty. */
  why: readonly Reason[]
  /** Volumes whose content goes with its pod, `containerDisk root`, should it be shut down or restarted (night W2). */
  loses: readonly string[]
  /** Commands, in this order, that give it the new launcher where it would not get it by itself. */
  remedy: readonly string[]
}

/**
 * facts 3.2 to 3.5 and night W2, W9, for a VMI and the VM behind it. Pure. A VMI that is not running, is on its way already, or runs the
 * new launcher is left alone by KubeVirt: that is told as such.
 */
export function outlookOf(
  vmi: VirtualMachineInstance,
  vm: Machine | undefined,
  rules: OutlookRules,
): Outlook {
  const image = vmi.status?.launcherContainerImageVersion
  const launcher = image ? rules.launcher?.(image) : undefined
  const [fate, first, decision] = leftAlone(vmi, rules, launcher) ?? decided(vmi, vm, rules)
  const loses = lostData(vmi)
  const why = [
    first,
    ...(ends.has(fate) ? aboutEnd(fate, vmi, { runStrategy: vm && runStrategyOf(vm), loses }) : []),
    ...aboutLauncher(launcher),
    ...later(fate, rules),
  ]
  return { fate, why, loses, remedy: fate === 'stays' ? remedyFor(vmi, vm, { decision, rules }) : [] }
}

const ends: ReadonlySet<Fate> = new Set(['restarts', 'shuts down', 'is lost'])

function later(fate: Fate, { updating }: OutlookRules): readonly Reason[] {
  return updating && fate !== 'stays' ? [reason('updating', 'not before KubeVirt itself is updated')] : []
}

type Judged = readonly [fate: Fate, why: Reason, decision?: Decision]

/** What the updater does not look at, or waits for (facts 3.2). */
function leftAlone(
  vmi: VirtualMachineInstance,
  { migrating }: OutlookRules,
  launcher: Launcher | undefined,
): Judged | undefined {
  const { status } = vmi
  const gone = notRunning(vmi)
  if (gone !== undefined) return ['stays', reason('not-running', gone)]
  if (isMigrating(vmi) || migrating?.has(vmName(vmi)))
    return ['migrates', reason('migrating', 'a migration of it is under way')]
  if (launcher?.inUse && dueFor(vmi, status?.launcherContainerImageVersion) === undefined)
    return ['stays', reason('current', 'runs the new virt-launcher already')]
  return undefined
}

function notRunning({ metadata, status }: VirtualMachineInstance): string | undefined {
  if (metadata.deletionTimestamp !== undefined) return 'is being deleted'
  return status?.phase === 'Running' ? undefined : `${status?.phase || 'no phase'}: only what runs is moved`
}

/** By the methods; `undefined` of `nodes` is taken for enough. */
function decided(vmi: VirtualMachineInstance, vm: Machine | undefined, rules: OutlookRules): Judged {
  const decision = decisionOf(vmi, rules)
  if (moves.has(decision) && isAlone(rules)) return ['stays', oneNode, decision]
  return [fateBy(decision, vmi, vm, rules), whyBy(decision, vmi, rules), decision]
}

const oneNode = reason('one-node', 'no other node takes VMs: its migrations would fail without end')

function fateBy(
  decision: Decision,
  vmi: VirtualMachineInstance,
  vm: Machine | undefined,
  { machinesUnread }: OutlookRules,
): Fate {
  if (moves.has(decision)) return 'migrates'
  if (decision !== 'shut-down') return 'stays'
  if (vm === undefined && machinesUnread && isOfVm(vmi)) return 'shuts down'
  return afterShutdown(vmi, vm && runStrategyOf(vm))
}
