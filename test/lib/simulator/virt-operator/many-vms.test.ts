import { expect, it, vi } from 'vitest'
import {
  KubeVirts,
  type VirtualMachineInstance,
  VirtualMachineInstances,
} from '../../../../src/lib/kube/kinds/kubevirt-kinds.ts'
import type { Store } from '../../../../src/simulator/api/store.ts'
import { SimClock } from '../../../../src/simulator/simulated-clock.ts'
import { simulate } from '../../../../src/simulator/simulated-cluster.ts'

/** Without a request: they are counted. */
function outdated(store: Store): number {
  const instances: VirtualMachineInstance[] = store
    .everything()
    .filter(({ kind }) => kind === VirtualMachineInstances.kind)
  return instances.filter(({ status }) => !status?.launcherContainerImageVersion?.endsWith(':v1.8.4')).length
}

/** How many objects everybody in a cluster reads, alone or in lists, until KubeVirt is updated and so many VMs with it; for each of them. */
async function readPerVm(vms: number): Promise<number> {
  const clock = new SimClock()
  const shape = { version: 'v1.7.4', operator: 'v1.8.4', method: 'image-tag', workers: 3 } as const
  const simulated = await simulate({ clock, ...shape, vms, methods: ['LiveMigrate'] })
  const { store } = simulated
  let objects = 0
  const [list, read] = [store.list.bind(store), store.read.bind(store)]
  vi.spyOn(store, 'list').mockImplementation((...asked) => {
    const page = list(...asked)
    objects += page.items.length
    return page
  })
  vi.spyOn(store, 'read').mockImplementation((...asked) => {
    objects++
    return read(...asked)
  })
  const kubevirt = { name: 'kubevirt', namespace: 'kubevirt' }
  await simulated.cluster().writer.mergePatch(KubeVirts, kubevirt, { spec: { imageTag: 'v1.8.4' } })
  for (let i = 0; i < 1000 && outdated(store) > 0; i++) await clock.sleep(2000)
  expect(outdated(store)).toBe(0)
  await simulated.stop()
  return objects / vms
}

it('what is read for a VM that is migrated does not grow with how many there are', async () => {
  const [few, many] = [await readPerVm(12), await readPerVm(48)]
  expect(many).toBeLessThan(few)
})
