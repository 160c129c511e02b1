import type { VirtualMachineInstance } from '../../cluster/kinds/virtual-machines.ts'
import { type Demand, demandOf } from './demand.ts'
import { domainOf, type Sharing } from './launcher-resources.ts'
import type { Places } from './places.ts'

/**
 * What its pod asks of a node once it ends and is started again. Unlike a migration a start asks for what was configured: `host-model` is
 * whatever the node has. What no node tells is not asked (night W2). Pure.
 */
export function startDemandOf(vmi: VirtualMachineInstance, sharing: Sharing, places: Places): Demand {
  const demand = demandOf(vmi, sharing, undefined)
  const { machine, cpu } = domainOf(vmi)
  const needed = (prefix: string, value: string | undefined, what: string) =>
    value && places.tell(prefix) ? [{ key: prefix + value, means: `${what} ${value}` }] : []
  const model = whateverTheNodeHas.has(cpu?.model ?? '') ? undefined : cpu?.model
  return {
    ...demand,
    labels: [
      ...demand.labels,
      ...needed('machine-type.node.kubevirt.io/', machine?.type, 'machine type'),
      ...needed('cpu-model.node.kubevirt.io/', model, 'CPU model'),
    ],
  }
}

const whateverTheNodeHas: ReadonlySet<string> = new Set(['host-model', 'host-passthrough'])
