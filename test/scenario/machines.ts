import {
  type VirtualMachineInstance,
  type VirtualMachineInstanceMigration,
  VirtualMachineInstanceMigrations,
  VirtualMachineInstances,
  VirtualMachines,
} from '../../src/lib/kube/kinds/kubevirt-kinds.ts'
import { outdatedLabel } from '../../src/lib/kubevirt/snapshot.ts'
import type { Stage } from './stage.ts'

/** Migrates a VM, as `virtctl migrate` does. */
export async function migrate({ cluster }: Stage, vm: string, name = `move-${vm}`): Promise<void> {
  const { apiVersion, kind } = VirtualMachineInstanceMigrations
  await cluster.writer.create(VirtualMachineInstanceMigrations, {
    apiVersion,
    kind,
    metadata: { name, namespace: 'demo' },
    spec: { vmiName: vm },
  })
}

/** As `virtctl restart` does. */
export async function restarted({ cluster }: Stage, name: string): Promise<void> {
  const kind = { ...VirtualMachines, apiVersion: 'subresources.kubevirt.io/v1' }
  const call = { name: 'restart', method: 'PUT', body: {} } as const
  await cluster.writer.subresource(kind, { namespace: 'demo', name }, call)
}

export function migration(stage: Stage, name: string): VirtualMachineInstanceMigration | undefined {
  return stage.simulated.store.read(VirtualMachineInstanceMigrations, { name, namespace: 'demo' })
}

export function instance(stage: Stage, name: string): VirtualMachineInstance | undefined {
  return stage.simulated.store.read(VirtualMachineInstances, { name, namespace: 'demo' })
}

/** VMIs have no status subresource: their status is written as it is. */
export function touchInstance(stage: Stage, name: string, status: object): void {
  const body = { status: { ...status } }
  stage.simulated.store.patch(
    VirtualMachineInstances,
    { name, namespace: 'demo' },
    { type: 'merge', body },
    { manager: 'virt-controller' },
  )
}

/** How many VMs bear the label of an old launcher. */
export const outdatedCount = ({ simulated }: Stage): number =>
  simulated.store.list(VirtualMachineInstances, { labels: outdatedLabel }).items.length
