import type { Reader } from '../../cluster/cluster.ts'
import { VirtualMachineInstances } from '../../cluster/kinds/virtual-machines.ts'
import { isNotFound } from '../../system/errors.ts'
import { afterShutdown } from '../../workloads/fate.ts'
import { runStrategyOf } from '../../workloads/outdated/behind.ts'
import { lostData } from '../../workloads/outdated/lost-data.ts'
import { Machines } from '../../workloads/outdated/machines.ts'
import { vmName } from '../../workloads/vm-name.ts'
import type { VmOutage } from '../eus-plan.ts'

/** What becomes of each running VM when its only node reboots (night E10, W2), the worst first. Throws ApiError. */
export async function outagesIn(reader: Reader): Promise<readonly VmOutage[]> {
  const machines = new Machines(reader)
  const found: VmOutage[] = []
  try {
    for await (const { items } of reader.pages(VirtualMachineInstances)) {
      const running = items.filter(({ status }) => status?.phase === 'Running')
      const behind = await machines.behind(
        running.map(({ metadata: { name, namespace = '' } }) => ({ name, namespace })),
      )
      for (const vmi of running) {
        const vm = behind.get(vmName(vmi))
        const fate = afterShutdown(vmi, vm && runStrategyOf(vm))
        const loses = lostData(vmi)
        found.push({
          vm: vmName(vmi),
          afterwards: words[fate] ?? 'stays-down',
          ...(loses.length > 0 && { loses }),
        })
      }
    }
  } catch (error) {
    if (!isNotFound(error)) throw error
  }
  return found.toSorted(
    (a, b) => order.indexOf(a.afterwards) - order.indexOf(b.afterwards) || a.vm.localeCompare(b.vm),
  )
}

const words: Readonly<Record<string, VmOutage['afterwards']>> = {
  restarts: 'comes-back',
  'is lost': 'is-lost',
}
const order: readonly VmOutage['afterwards'][] = ['is-lost', 'stays-down', 'comes-back']
