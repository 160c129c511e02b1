import { valueAt } from '../../cluster/apply/field-path.ts'
import type { Reader } from '../../cluster/cluster.ts'
import { VirtualMachineInstances } from '../../cluster/kinds/virtual-machines.ts'
import { placeOfVm } from '../vm-name.ts'

const most = 50

/** VMs that fail mostly have something in common: `2 on worker-1 with machine q35 and CPU host-model` (night W5). Throws ApiError. */
export async function whatTheyShare(reader: Reader, vms: readonly string[]): Promise<readonly string[]> {
  const found = await Promise.all(vms.slice(0, most).map((vm) => likenessOf(reader, vm)))
  const groups = [...Map.groupBy(found, (text) => text)].sort(([, a], [, b]) => b.length - a.length)
  return groups.map(([text, alike]) => `${alike.length} ${text}`)
}

async function likenessOf(reader: Reader, vm: string): Promise<string> {
  const found = await reader.find(VirtualMachineInstances, placeOfVm(vm))
  if (found.is !== 'object') return 'gone meanwhile'
  const { spec, status } = found.object
  const word = (path: string[], otherwise: string) => {
    const value = valueAt(spec?.domain, path)
    return typeof value === 'string' ? value : otherwise
  }
  const machine = word(['machine', 'type'], 'of the default type')
  return `on ${status?.nodeName ?? 'no node'} with machine ${machine} and CPU ${word(['cpu', 'model'], 'of the default model')}`
}
