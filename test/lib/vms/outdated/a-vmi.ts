import type { VirtualMachine, VirtualMachineInstance } from '../../../../src/lib/kube/kinds/kubevirt-kinds.ts'
import type { Condition } from '../../../../src/lib/kube/object.ts'

export const newLauncher = 'quay.io/kubevirt/virt-launcher:v1.9.0'
export const oldLauncher = 'quay.io/kubevirt/virt-launcher:v1.8.4'

type Status = NonNullable<VirtualMachineInstance['status']>

interface Wanted {
  migratable?: 'True' | 'False' | 'Unknown' | 'absent'
  reason?: string
  eviction?: string
  /** Of its controller; `none`: a bare VMI. */
  owner?: string
  volumes?: Record<string, unknown>[]
  conditions?: Condition[]
  status?: Partial<Status>
  metadata?: Partial<VirtualMachineInstance['metadata']>
}

/** A running VMI of a VM on an old virt-launcher that can be migrated, but for what is wanted. */
export function aVmi(wanted: Wanted = {}): VirtualMachineInstance {
  const { migratable = 'True', owner = 'VirtualMachine', eviction, volumes, conditions = [] } = wanted
  const judged: Condition[] =
    migratable === 'absent'
      ? []
      : [{ type: 'LiveMigratable', status: migratable, ...(wanted.reason && { reason: wanted.reason }) }]
  return {
    apiVersion: 'kubevirt.io/v1',
    kind: 'VirtualMachineInstance',
    metadata: {
      name: 'db-0',
      namespace: 'shop',
      labels: { 'kubevirt.io/outdatedLauncherImage': '' },
      ...(owner !== 'none' && {
        ownerReferences: [
          { apiVersion: 'kubevirt.io/v1', kind: owner, name: 'db-0', uid: 'vm-1', controller: true },
        ],
      }),
      ...wanted.metadata,
    },
    spec: { ...(eviction && { evictionStrategy: eviction }), ...(volumes && { volumes }) },
    status: {
      phase: 'Running',
      nodeName: 'node-1',
      launcherContainerImageVersion: oldLauncher,
      conditions: [...judged, ...conditions],
      ...wanted.status,
    },
  }
}

export const aVm = (runStrategy: string): Pick<VirtualMachine, 'spec'> => ({ spec: { runStrategy } })
