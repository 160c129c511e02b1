import type { VirtualMachine, VirtualMachineInstance } from '../../cluster/kinds/virtual-machines.ts'
import { condition } from '../../cluster/object.ts'
import { runStrategyOf } from '../outdated/behind.ts'
import { effectiveEviction } from '../outdated/decision.ts'
import {
  type FieldPath,
  isOfThisVm,
  type LentField,
  loanOf,
  replaced,
  unreadable,
  valueOf,
} from './vm-loan.ts'

/** Whether a VM blocks drains and updates, and what would be lent to it. */
export type Blocking =
  /** It does, and these fields change that once it is restarted. */
  | { is: 'blocks'; lends: readonly LentField[] }
  /** The VM is as it has to be; `waits`: the running instance was started before and is still denied. */
  | { is: 'unblocked'; waits: boolean }
  | { is: 'free'; why: string }
  /** It does, and changing the VM is not the way. */
  | { is: 'refused'; id: string; why: string }

interface Cluster {
  /** `configuration.evictionStrategy`. */
  clusterEviction: string | undefined
}

/**
 * The workaround of the OKD documentation, as facts 3.4 and hco 9 correct it and night W1 bounds it: an eviction of a running VM is denied for ever where its strategy is
 * LiveMigrate and it cannot migrate, whether the VM or the cluster says so; only None on the VM itself changes that. Pure.
 */
export function blockingOf(
  vm: VirtualMachine,
  vmi: VirtualMachineInstance | undefined,
  cluster: Cluster,
): Blocking {
  const lent = hasLoan(vm)
  if (vmi?.status?.phase !== 'Running' || vmi.metadata.deletionTimestamp !== undefined)
    return lent ? { is: 'unblocked', waits: false } : { is: 'free', why: 'it does not run' }
  const free = whyFree(vmi, cluster)
  if (free !== undefined) return lent ? { is: 'unblocked', waits: false } : { is: 'free', why: free }
  const refused = refusalOf(vm, vmi, cluster)
  if (refused !== undefined) return refused
  const lends = [...lend(vm, evictionPath, 'None'), ...lendRunStrategy(vm)]
  return lends.length > 0 ? { is: 'blocks', lends } : { is: 'unblocked', waits: true }
}

/** A damaged note counts: something was lent. */
function hasLoan(vm: VirtualMachine): boolean {
  const loan = loanOf(vm)
  return loan === 'unreadable' || (loan !== undefined && isOfThisVm(vm, loan))
}

const evictionPath = '/spec/template/spec/evictionStrategy'

function whyFree(vmi: VirtualMachineInstance, cluster: Cluster): string | undefined {
  const strategy = effectiveEviction(vmi, cluster)
  if (strategy !== 'LiveMigrate' && strategy !== 'External')
    return `its evictionStrategy is ${strategy}: it can be evicted`
  return condition(vmi, 'LiveMigratable')?.status === 'True' && strategy === 'LiveMigrate'
    ? 'it can be migrated'
    : undefined
}

const refused = (id: string, why: string) => ({ is: 'refused', id, why }) as const

function refusalOf(
  vm: VirtualMachine,
  vmi: VirtualMachineInstance,
  cluster: Cluster,
): ReturnType<typeof refused> | undefined {
  if (loanOf(vm) === 'unreadable') return refused('loan-unreadable', unreadable)
  if (effectiveEviction(vmi, cluster) === 'External')
    return refused('external', 'its evictionStrategy is External: somebody else has to move it')
  if (condition(vmi, 'LiveMigratable')?.status !== 'False')
    return refused('not-judged', 'KubeVirt has not judged yet whether it can be migrated')
  const owner = ownerOf(vm)
  if (owner !== undefined)
    return refused('owned', `${owner} owns it and would undo the change: change it there`)
  const runStrategy = runStrategyOf(vm)
  return restarted.has(runStrategy) || replaced.has(runStrategy)
    ? undefined
    : refused('run-strategy', `its runStrategy is ${runStrategy}: it would not come back by itself`)
}

/** A VirtualMachinePool, or whatever else controls it. */
function ownerOf({ metadata }: VirtualMachine): string | undefined {
  const owner = metadata.ownerReferences?.find(({ controller }) => controller === true)
  return owner && `${owner.kind} ${owner.name}`
}

/** What starts a VM again after an eviction (facts 3.4). `running: true` counts as it, and takes no runStrategy beside it (night W1). */
const restarted: ReadonlySet<string> = new Set(['Always'])

function lendRunStrategy(vm: VirtualMachine): LentField[] {
  return replaced.has(runStrategyOf(vm)) ? lend(vm, '/spec/runStrategy', 'Always') : []
}

function lend(vm: VirtualMachine, path: FieldPath, lent: string): LentField[] {
  const value = valueOf(vm, path)
  if (value === lent) return []
  return [{ path, was: value === undefined ? { present: false } : { present: true, value }, lent }]
}
