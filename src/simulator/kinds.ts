/** Every kind that a simulated cluster is made of, with short names for those that are spoken of most. */
export * from '../lib/kube/kinds/core-kinds.ts'
export * from '../lib/kube/kinds/extension-kinds.ts'
export * from '../lib/kube/kinds/kubevirt-kinds.ts'
export * from '../lib/kube/kinds/openshift-kinds.ts'
export * from '../lib/kube/kinds/operator-kinds.ts'
export * from '../lib/kube/kinds/workload-kinds.ts'
export {
  type VirtualMachine as Vm,
  type VirtualMachineInstance as Vmi,
  type VirtualMachineInstanceMigration as Migration,
  VirtualMachineInstanceMigrations as Migrations,
  VirtualMachineInstances as Vmis,
  VirtualMachines as Vms,
} from '../lib/kube/kinds/kubevirt-kinds.ts'
export {
  type MachineConfigPool as Pool,
  MachineConfigPools as Pools,
} from '../lib/kube/kinds/openshift-kinds.ts'
export {
  type ClusterServiceVersion as Csv,
  ClusterServiceVersions as Csvs,
} from '../lib/kube/kinds/operator-kinds.ts'
