import type { Node } from '../../../../src/lib/kube/kinds/core-kinds.ts'
import type { MachineConfigPool } from '../../../../src/lib/kube/kinds/openshift-kinds.ts'
import { conditions, type Said } from './cluster-version.ts'

interface Shape {
  paused?: boolean
  /** The configuration that it should have; `a` is the one that it has. */
  wants?: string
  machines?: number
  updated?: number
  generation?: number
}

/** Three machines, all updated; `said` replaces conditions of the same type. */
export function pool(name: string, said: readonly Said[] = [], shape: Shape = {}): MachineConfigPool {
  const { paused = false, wants = 'a', machines = 3, updated = machines, generation = 3 } = shape
  const rest: Said[] = [
    ['Updated', 'True', '', 'All nodes are updated'],
    ['Updating', 'False'],
    ['NodeDegraded', 'False'],
    ['RenderDegraded', 'False'],
    ['Degraded', 'False'],
  ]
  const types = new Set(said.map(([type]) => type))
  return {
    apiVersion: 'machineconfiguration.openshift.io/v1',
    kind: 'MachineConfigPool',
    metadata: { name, generation },
    spec: {
      paused,
      configuration: { name: `rendered-${name}-${wants}` },
      nodeSelector: { matchLabels: { [`node-role.kubernetes.io/${name}`]: '' } },
    },
    status: {
      observedGeneration: 3,
      configuration: { name: `rendered-${name}-a` },
      machineCount: machines,
      updatedMachineCount: updated,
      readyMachineCount: updated,
      unavailableMachineCount: 0,
      degradedMachineCount: 0,
      conditions: conditions([...rest.filter(([type]) => !types.has(type)), ...said]),
    },
  }
}

export function node(name: string, roles: readonly string[], kubeletVersion = 'v1.31.9'): Node {
  return {
    apiVersion: 'v1',
    kind: 'Node',
    metadata: {
      name,
      labels: Object.fromEntries(roles.map((role) => [`node-role.kubernetes.io/${role}`, ''])),
    },
    status: { nodeInfo: { kubeletVersion } },
  }
}
