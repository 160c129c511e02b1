import type { Reader } from '../../cluster/cluster.ts'
import {
  type MigrationState,
  type VirtualMachineInstance,
  VirtualMachineInstances,
} from '../../cluster/kinds/virtual-machines.ts'
import { outdatedLabel } from '../../facts/workload-count.ts'
import { isNotFound } from '../../system/errors.ts'
import { placeOfVm, vmName } from '../vm-name.ts'

/** What is kept of a VMI that moves, wants to, or cannot. */
export interface Mover {
  uid: string
  node?: string
  outdated: boolean
  /** A drain wants it away from this node. */
  evacuating?: string
  /** uid of the migration that it is in, or was in last, and between which nodes. */
  migration?: { uid: string; from?: string; to?: string; startedAt?: string; mode?: string }
}

/** So many are asked for one by one; more are picked out of a list. */
const singly = 50
const atATime = 10

/** The VMIs of these names, `namespace/name`, that exist. Throws ApiError. */
export async function readMovers(
  reader: Reader,
  vms: readonly string[],
): Promise<ReadonlyMap<string, Mover>> {
  const wanted = new Set(vms)
  const found = new Map<string, Mover>()
  const keep = (vmi: VirtualMachineInstance) => found.set(vmName(vmi), moverOf(vmi))
  if (wanted.size <= singly) {
    const names = [...wanted]
    while (names.length > 0) (await findAll(reader, names.splice(0, atATime))).forEach(keep)
    return found
  }
  try {
    for await (const { items } of reader.pages(VirtualMachineInstances, { namespace: onlyOne(vms) }))
      items.filter((vmi) => wanted.has(vmName(vmi))).forEach(keep)
  } catch (error) {
    if (!isNotFound(error)) throw error
  }
  return found
}

async function findAll(reader: Reader, vms: readonly string[]): Promise<VirtualMachineInstance[]> {
  const found = await Promise.all(vms.map((vm) => reader.find(VirtualMachineInstances, placeOfVm(vm))))
  return found.flatMap((one) => (one.is === 'object' ? [one.object] : []))
}

/** The namespace that all of them are in, if there is one. */
function onlyOne(vms: readonly string[]): string | undefined {
  const namespaces = new Set(vms.map((vm) => vm.slice(0, vm.indexOf('/'))))
  return namespaces.size === 1 ? [...namespaces][0] : undefined
}

function moverOf({ metadata, status }: VirtualMachineInstance): Mover {
  const { nodeName, evacuationNodeName, migrationState } = status ?? {}
  return {
    uid: metadata.uid ?? '',
    outdated: outdatedLabel in (metadata.labels ?? {}),
    ...(nodeName && { node: nodeName }),
    ...(evacuationNodeName && { evacuating: evacuationNodeName }),
    ...(migrationState && { migration: migrationIn(migrationState) }),
  }
}

function migrationIn({ migrationUid, sourceNode, targetNode, startTimestamp, mode }: MigrationState) {
  return {
    uid: migrationUid ?? '',
    ...(sourceNode && { from: sourceNode }),
    ...(targetNode && { to: targetNode }),
    ...(startTimestamp && { startedAt: startTimestamp }),
    ...(mode && { mode }),
  }
}
