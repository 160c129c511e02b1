import { KubeVirts } from '../../../cluster/kinds/kubevirt.ts'
import {
  VirtualMachineInstanceMigrations,
  VirtualMachineInstances,
  VirtualMachines,
} from '../../../cluster/kinds/virtual-machines.ts'
import { jsonPathColumns, nameColumn } from '../column.ts'
import type { Column, SimKind } from '../sim-kind.ts'
import { custom } from './make-kind.ts'

const age = { name: 'Age', type: 'date', jsonPath: '.metadata.creationTimestamp' }
const ready = { name: 'Ready', type: 'string', jsonPath: ".status.conditions[?(@.type=='Ready')].status" }
const phase = { name: 'Phase', type: 'string', jsonPath: '.status.phase' }

function columns(...definitions: Record<string, unknown>[]): readonly Column[] {
  return [nameColumn, ...jsonPathColumns(definitions)]
}

const versions = ['v1', 'v1alpha3']

/** Names and columns: facts 6. Only VirtualMachineInstance has no status subresource. */
export const kubevirtKinds: readonly SimKind[] = [
  custom(KubeVirts, { shortNames: ['kv', 'kvs'], versions, columns: columns(age, phase) }),
  custom(VirtualMachines, {
    shortNames: ['vm', 'vms'],
    versions,
    subresources: ['restart', 'start', 'stop', 'migrate'],
    columns: columns(age, { name: 'Status', type: 'string', jsonPath: '.status.printableStatus' }, ready),
  }),
  custom(VirtualMachineInstances, {
    shortNames: ['vmi', 'vmis'],
    versions,
    status: false,
    columns: columns(
      age,
      phase,
      { name: 'IP', type: 'string', jsonPath: '.status.interfaces[0].ipAddress' },
      { name: 'NodeName', type: 'string', jsonPath: '.status.nodeName' },
      ready,
      {
        name: 'Live-Migratable',
        type: 'string',
        jsonPath: ".status.conditions[?(@.type=='LiveMigratable')].status",
        priority: 1,
      },
      {
        name: 'Paused',
        type: 'string',
        jsonPath: ".status.conditions[?(@.type=='Paused')].status",
        priority: 1,
      },
    ),
  }),
  custom(VirtualMachineInstanceMigrations, {
    shortNames: ['vmim', 'vmims'],
    versions,
    columns: columns(phase, { name: 'VMI', type: 'string', jsonPath: '.spec.vmiName' }),
  }),
]
