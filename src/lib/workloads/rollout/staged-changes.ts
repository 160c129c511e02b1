import { sameQuantity } from '../../cluster/apply/quantity.ts'
import { type FieldChange, fieldChanges, type Leaves, leavesOf } from '../../cluster/leaves.ts'
import type { VirtualMachine, VirtualMachineInstance } from '../../cluster/kinds/virtual-machines.ts'
import { comparableSpec } from './comparable-spec.ts'
import { type Hotplug, hotplugOf } from './hotplug.ts'
import type { RolloutStrategy } from './vm-rollout.ts'

/** A field of a VM that is not as it was when the VM was last started. Paths begin at the spec of the VM. */
export interface StagedChange extends FieldChange {
  /**
   * `restart`: what the condition stands for. `frozen`: it would reach the running VM, but nothing does while the condition is set.
   * `next-start`: labels and annotations of the VMI, which ask for no restart.
   */
  waits: 'restart' | 'frozen' | 'next-start'
  /** What a `frozen` one is a hotplug of. */
  hotplug?: Hotplug
}

/** What is compared. */
export interface StagedFrom {
  vm: VirtualMachine
  vmi: VirtualMachineInstance
  /** The spec of the VM at its last start, from its ControllerRevision. */
  started: unknown
  strategy: RolloutStrategy
  /** Of the condition RestartRequired. */
  message?: string | undefined
}

/**
 * Every difference between a VM and its last start, where KubeVirt tells only that there is one (facts 5, night W11). What was carried out
 * on the running VM is none. An instance type is compared by its name and revision, not by what it says. Pure.
 */
export function stagedChanges({ vm, vmi, started, strategy, message }: StagedFrom): readonly StagedChange[] {
  const { spec } = vm
  const running = leavesOf(comparableSpec({ template: { spec: vmi.spec } }))
  const wanted = leavesOf(comparableSpec(spec))
  const failed = failedHotplug(message)
  return fieldChanges(leavesOf(comparableSpec(started)), wanted)
    .filter((change) => !isSame(change))
    .flatMap((change): StagedChange[] => {
      if (change.path.startsWith('template.metadata.')) return [{ ...change, waits: 'next-start' }]
      const hotplug = hotplugOf(change.path, { started, now: spec, strategy })
      if (hotplug === undefined) return [{ ...change, waits: 'restart' }]
      if (isCarriedOut(change, running)) return []
      return [hotplug === failed ? { ...change, waits: 'restart' } : { ...change, waits: 'frozen', hotplug }]
    })
}

/** `1Gi` and `1024Mi` are the same memory. */
function isSame({ path, from, to }: FieldChange): boolean {
  return /\.(memory|resources)\./u.test(path) && sameQuantity(from, to)
}

function isCarriedOut({ path, to }: FieldChange, running: Leaves): boolean {
  return JSON.stringify(running[path]) === JSON.stringify(to) || sameQuantity(running[path], to)
}

/** The messages of virt-controller name what it could not change live: more sockets or memory than there is room for, or fewer. */
function failedHotplug(message = ''): Hotplug | undefined {
  if (/\bcpu|socket/iu.test(message)) return 'CPU'
  return /\bmemory/iu.test(message) ? 'memory' : undefined
}
