import type { Reader } from '../../cluster/cluster.ts'
import type { VirtualMachineInstance } from '../../cluster/kinds/virtual-machines.ts'
import { isOfVm, placeBehind } from '../outdated/behind.ts'
import { decisionOf, moves } from '../outdated/decision.ts'
import type { Machines } from '../outdated/machines.ts'
import { readBeside } from './beside.ts'
import type { ForecastItem } from './forecast-item.ts'
import { judge, type Judging } from './judge.ts'

interface Asking {
  reader: Reader
  /** Where it may not read VMs, it says so afterwards. */
  machines: Machines
}

/** The items of these VMIs, in the same order; VMs, pods and migrations are asked for only where they decide. Throws ApiError but 403. */
export async function judgePage(
  vmis: readonly VirtualMachineInstance[],
  { reader, machines }: Asking,
  judging: Judging,
): Promise<ForecastItem[]> {
  const asked = vmis.filter((vmi) => dependsOnVm(vmi, judging))
  const [vms, beside] = await Promise.all([machines.behind(asked.map(placeBehind)), readBeside(reader, vmis)])
  const items: ForecastItem[] = []
  for (const vmi of vmis) {
    const { namespace, name } = placeBehind(vmi)
    const rules = { ...judging.rules, machinesUnread: machines.unread.has(namespace) }
    const vm = vms.get(`${namespace}/${name}`)
    items.push(await judge(vmi, vm, { ...judging, rules }, beside.get(vmi.metadata.uid ?? '') ?? {}))
  }
  return items
}

/** What its VM says changes nothing for those that migrate, where they do. */
function dependsOnVm(vmi: VirtualMachineInstance, { rules }: Judging): boolean {
  return isOfVm(vmi) && !moves.has(decisionOf(vmi, rules))
}
