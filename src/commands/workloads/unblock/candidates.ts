import type { Reader } from '../../../lib/cluster/cluster.ts'
import type { UnblockItem } from '../../../lib/output/views/unblock.ts'
import { blocked } from '../../../lib/system/errors.ts'
import { shellWord } from '../../../lib/system/shell-word.ts'
import { lostData } from '../../../lib/workloads/outdated/lost-data.ts'
import { findBlockers } from '../../../lib/workloads/unblock/blockers.ts'
import { type Blocking, blockingOf } from '../../../lib/workloads/unblock/blocking.ts'
import {
  type MachineRead,
  type MachineRef,
  readMachines,
} from '../../../lib/workloads/unblock/read-machine.ts'
import { fieldName, lentText } from '../../../lib/workloads/unblock/vm-loan.ts'

/** The VMs that a person means. */
export type Asked =
  | { all: true; namespace: string | undefined }
  | { all: false; namespace: string; names: readonly string[] }

/** One of them, and what is to be done about it. */
export interface Candidate {
  ref: MachineRef
  read: MachineRead
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
): Promise<{ candidates: readonly Candidate[]; bare: readonly MachineRef[] }> {
  const { namespace } = asked
  const { machines, bare } = asked.all
    ? await findBlockers(reader, { namespace, clusterEviction })
    : { machines: asked.names.map((name) => ({ namespace: asked.namespace, name })), bare: [] }
  const reads = await readMachines(reader, machines)
  const missing = machines.filter((_, index) => reads[index]?.vm === undefined)
  const [first] = missing
  if (first !== undefined && !asked.all) throw noSuchVm(first)
  const candidates = machines.flatMap((ref, index) => {
    const read = reads[index]
    if (read?.vm === undefined) return []
    const blocking = blockingOf(read.vm, read.vmi, { clusterEviction })
    return [{ ref, read, blocking, changes: blocking.is === 'blocks' ? blocking.lends.map(lentText) : [] }]
  })
  return { candidates, bare: [...bare, ...missing] }
}

function noSuchVm({ namespace, name }: MachineRef): Error {
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
    lent: blocking.lends.map(({ path, was, lent }) => ({
      path,
      field: fieldName(path),
      ...(was.present && { was: was.value }),
      lent,
    })),
    ...(loses.length > 0 && { loses }),
    next: restart,
  }
}
