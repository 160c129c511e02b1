import type { Reader } from '../../kube/cluster.ts'
import type { Procedure } from '../../engine/step.ts'
import { blocked } from '../../kube/errors.ts'
import { lostData } from '../vm.ts'
import { shellWord } from '../../kube/shell-line.ts'
import { type Blocking, blockingOf, listBlockers, unblockStep } from './unblock-vms.ts'
import { fieldName, overriddenText, type VmRead, type VmRef, readVms } from './vm-overrides.ts'
import type { DryRunStep } from '../../engine/procedure-dry-run.ts'

/** One VM. */
export interface UnblockItem {
  namespace: string
  name: string
  outcome: 'unblocked' | 'would-unblock' | 'already-unblocked' | 'not-blocking' | 'refused'
  /** In words, `evictionStrategy None (was LiveMigrate)`. */
  changes?: readonly string[]
  lent?: readonly { path: string; field: string; was?: string; lent: string }[]
  /** Volumes whose content is gone when its pod ends. */
  loses?: readonly string[]
  why?: string
  /** Why it was refused, for scripts. */
  reason?: string
  /** What makes it take effect. */
  next?: string
}

/** The end of `kvup workloads unblock`. */
export interface UnblockDocument {
  apiVersion: 'kvup.io/v1alpha1'
  kind: 'UnblockedWorkloads'
  dryRun?: 'client' | 'server'
  steps?: readonly DryRunStep[]
  items: readonly UnblockItem[]
  /** VMIs that block and have no VM that could be changed. */
  bare?: readonly { namespace: string; name: string }[]
  /** The command that gives back what was lent. */
  giveBack?: string
}

const procedureName = 'unblock VMs'

export function unblockProcedure(
  candidates: readonly Candidate[],
  lending: Parameters<typeof unblockStep>[1],
): Procedure {
  const steps = candidates.map(({ ref }) => unblockStep(ref, lending))
  return {
    name: procedureName,
    loans: [],
    reached: async (reading) => {
      for (const step of steps) if ((await step.check(reading)).is !== 'done') return false
      return true
    },
    steps: async () => steps,
  }
}

export function unblockDocument(
  items: readonly UnblockItem[],
  bare: readonly { namespace: string; name: string }[],
): UnblockDocument {
  return {
    apiVersion: 'kvup.io/v1alpha1',
    kind: 'UnblockedWorkloads',
    items,
    ...(bare.length > 0 && { bare }),
  }
}

/** The VMs that a person means. */
export type Asked =
  | { all: true; namespace: string | undefined }
  | { all: false; namespace: string; names: readonly string[] }

/** One of them, and what is to be done about it. */
export interface Candidate {
  ref: VmRef
  read: VmRead
  blocking: Blocking
  /** `evictionStrategy None (was LiveMigrate)`. */
  changes: readonly string[]
}

export const isToUnblock = ({ blocking }: Candidate): boolean => blocking.is === 'blocks'

/** Throws `blocked` for a name that no VM has. */
export async function candidatesOf(
  reader: Reader,
  asked: Asked,
  clusterEviction: string | undefined,
): Promise<{ candidates: readonly Candidate[]; bare: readonly VmRef[] }> {
  const { namespace } = asked
  const { machines, bare } = asked.all
    ? await listBlockers(reader, { namespace, clusterEviction })
    : { machines: asked.names.map((name) => ({ namespace: asked.namespace, name })), bare: [] }
  const reads = await readVms(reader, machines)
  const missing = machines.filter((_, index) => reads[index]?.vm === undefined)
  const [first] = missing
  if (first !== undefined && !asked.all) throw noSuchVm(first)
  const candidates = machines.flatMap((ref, index) => {
    const read = reads[index]
    if (read?.vm === undefined) return []
    const blocking = blockingOf(read.vm, read.vmi, { clusterEviction })
    return [
      {
        ref,
        read,
        blocking,
        changes: blocking.is === 'blocks' ? blocking.overrides.map(overriddenText) : [],
      },
    ]
  })
  return { candidates, bare: [...bare, ...missing] }
}

function noSuchVm({ namespace, name }: VmRef): Error {
  return blocked('no-such-vm', `there is no VM ${name} in namespace ${namespace}`, {
    object: `virtualmachines/${name} in namespace ${namespace}`,
    remedy: `kubectl -n ${shellWord(namespace)} get vms`,
  })
}

/** How it is told; `done` is the outcome of one that is to be unblocked. */
export function itemOf(
  { ref, read, blocking, changes }: Candidate,
  done: UnblockItem['outcome'],
): UnblockItem {
  const restart = `virtctl restart ${shellWord(ref.name)} -n ${shellWord(ref.namespace)}`
  if (blocking.is === 'free') return { ...ref, outcome: 'not-blocking', why: blocking.why }
  if (blocking.is === 'refused') return { ...ref, outcome: 'refused', why: blocking.why, reason: blocking.id }
  if (blocking.is === 'unblocked')
    return { ...ref, outcome: 'already-unblocked', ...(blocking.waits && { next: restart }) }
  const loses = read.vmi === undefined ? [] : lostData(read.vmi)
  return {
    ...ref,
    outcome: done,
    changes,
    lent: blocking.overrides.map(({ path, was, lent }) => ({
      path,
      field: fieldName(path),
      ...(was.present && { was: was.value }),
      lent,
    })),
    ...(loses.length > 0 && { loses }),
    next: restart,
  }
}
