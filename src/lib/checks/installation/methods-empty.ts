import type { Check } from '../check.ts'
import { isHeldByKvup } from '../held-by-kvup.ts'

/** Night C7: empty methods that nobody of ours has borrowed stay empty, and no VM follows. */
export const methodsEmpty: Check = {
  id: 'methods-empty-without-loan',
  group: 'installation',
  title: 'VMs will follow: workload updates are on, or held by kvup',
  runbook: 'OutdatedVirtualMachineInstanceWorkloads',
  needs: ['kubevirts', 'borrowed'],
  blocks: false,
  assess({ evidence, installation: { workloadUpdateMethods, name, namespace, manager } }) {
    if (workloadUpdateMethods.length > 0 || isHeldByKvup(evidence)) return []
    return [
      {
        id: 'methods-empty-without-loan',
        level: 'warning',
        summary:
          'workloadUpdateMethods is empty and kvup has not borrowed it: no VM will move to the new virt-launcher by itself',
        objects: [`kubevirt/${name}`],
        // HyperConverged sets back what is written to its KubeVirt.
        remedy: [
          manager.kind === 'hyperconverged'
            ? 'kvup workloads strategy set --methods LiveMigrate'
            : `kubectl -n ${namespace} patch kubevirt ${name} --type=merge -p '{"spec":{"workloadUpdateStrategy":{"workloadUpdateMethods":["LiveMigrate"]}}}'`,
        ],
      },
    ]
  },
}
