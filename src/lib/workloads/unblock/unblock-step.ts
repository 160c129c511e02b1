import type { DeepPartial, Ref } from '../../cluster/cluster.ts'
import { type VirtualMachine, VirtualMachines } from '../../cluster/kinds/virtual-machines.ts'
import { lastWriter } from '../../procedure/last-writer.ts'
import type { ReadContext, Step, StepContext, StepState } from '../../procedure/step.ts'
import { shellWord } from '../../system/shell-word.ts'
import { minutes, seconds } from '../../system/units.ts'
import { blockingOf } from './blocking.ts'
import { type MachineRef, readMachine } from './read-machine.ts'
import {
  type FieldPath,
  isOfThisVm,
  labelValue,
  type LentField,
  lentText,
  loanAnnotation,
  loanLabel,
  loanOf,
  loanText,
  type VmLoan,
} from './vm-loan.ts'

interface Lending {
  /** user@host. */
  who: string
  clusterEviction: string | undefined
}

/**
 * Lends a VM what lets it be evicted and come back, and keeps the values that it had in an annotation on it, in one patch: there is no
 * moment at which they are changed and not kept (contract "Loans"). A VM that does not run by then is left alone (night W1).
 */
export function unblockStep(ref: MachineRef, { who, clusterEviction }: Lending): Step {
  const blocking = async ({ reader }: Pick<ReadContext, 'reader'>) => {
    const { vm, vmi } = await readMachine(reader, ref)
    return vm && { vm, is: blockingOf(vm, vmi, { clusterEviction }) }
  }
  return {
    ...stepOn(ref, { id: 'unblock', title: 'unblock', undo: 'kvup workloads restore' }),
    async check(cx): Promise<StepState> {
      const found = await blocking(cx)
      if (found === undefined) return { is: 'done', note: 'it is gone' }
      if (found.is.is === 'refused') return { is: 'blocked', by: found.is.why, reason: found.is.id }
      if (found.is.is === 'free') return { is: 'done', note: found.is.why }
      if (found.is.is === 'unblocked') return { is: 'done' }
      return { is: 'todo', change: `set ${found.is.lends.map(lentText).join(', ')}, and keep what was there` }
    },
    async apply(cx) {
      const found = await blocking(cx)
      if (found?.is.is === 'blocks') await lend(cx, found.vm, { who, lends: found.is.lends })
    },
  }
}

async function lend(
  { writer, clock }: StepContext,
  vm: VirtualMachine,
  { who, lends }: { who: string; lends: readonly LentField[] },
): Promise<void> {
  const before = loanOf(vm)
  if (before === 'unreadable') return
  // What another VM had is not what this one had.
  const own = before && isOfThisVm(vm, before) ? before : undefined
  const loan = added(lends, own ?? newLoan(vm, { by: who, at: clock.now().toISOString() }))
  const values = lends.map(({ path, lent }) => [path, lent] as const)
  await writer.mergePatch(VirtualMachines, placeOf(vm), {
    metadata: {
      resourceVersion: vm.metadata.resourceVersion ?? '',
      annotations: { [loanAnnotation]: loanText(loan) },
      labels: { [loanLabel]: labelValue },
    },
    ...withValues(new Map(values)),
  })
}

const newLoan = ({ metadata: { uid } }: VirtualMachine, taken: Pick<VmLoan, 'by' | 'at'>): VmLoan => ({
  ...taken,
  ...(uid !== undefined && { uid }),
  fields: [],
})

/** The first value wins (contract "Loans"). */
function added(lends: readonly LentField[], loan: VmLoan): VmLoan {
  const fresh = lends.filter(({ path }) => !loan.fields.some((field) => field.path === path))
  return { ...loan, fields: [...loan.fields, ...fresh] }
}

export const placeOf = ({ metadata: { name, namespace } }: VirtualMachine): Ref => ({ name, namespace })

/** A merge patch of borrowed fields; null removes. */
export function withValues(values: ReadonlyMap<FieldPath, string | null>): DeepPartial<VirtualMachine> {
  const runStrategy = values.get('/spec/runStrategy')
  const evictionStrategy = values.get('/spec/template/spec/evictionStrategy')
  return {
    spec: {
      ...(runStrategy !== undefined && { runStrategy }),
      ...(evictionStrategy !== undefined && { template: { spec: { evictionStrategy } } }),
    },
  }
}

/** What the steps of lending and giving back have in common. */
export function stepOn(
  ref: MachineRef,
  { id, title, undo }: { id: string; title: string; undo: string },
): Omit<Step, 'check' | 'apply'> {
  const vm = `${ref.namespace}/${ref.name}`
  return {
    id: `${id}/${vm}`,
    title: `${title} ${vm}`,
    patience: { every: 5 * seconds, atMost: 2 * minutes },
    estimate: 1 * seconds,
    follows: [],
    risk: { undo, safeToLeave: 'always: it takes effect when the VM is restarted' },
    shows: `kubectl -n ${shellWord(ref.namespace)} get vm ${shellWord(ref.name)} -o yaml --show-managed-fields`,
    blame: async ({ reader }, after) => {
      const { vm: found } = await readMachine(reader, ref)
      return found && lastWriter(found, '/spec/template/spec/evictionStrategy', after)
    },
  }
}
