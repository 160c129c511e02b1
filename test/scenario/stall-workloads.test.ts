import { expect, test } from 'vitest'
import { PodDisruptionBudgets } from '../../src/lib/kube/kinds/core-kinds.ts'
import { KubeVirts } from '../../src/lib/kube/kinds/kubevirt-kinds.ts'
import { runText } from '../lib/run-text.ts'
import { pasteKubectl } from './pasted-kubectl.ts'
import { isCommand, remediesIn } from './printed-commands.ts'
import { byTag, minute, play, type Stage } from './stage.ts'

const pets = [
  { name: 'pet-1', evictionStrategy: 'None', notMigratable: 'DisksNotLiveMigratable' },
  { name: 'pet-2', evictionStrategy: 'None', notMigratable: 'DisksNotLiveMigratable' },
]
const upgrade = ['upgrade', '--to', 'v1.8.4', '--yes', '--wait-workloads', '--timeout', '20m']

async function stalled(stage: Stage, flags: readonly string[] = []) {
  const ran = await runText([...upgrade, ...flags], { cluster: stage.cluster, clock: stage.clock })
  expect(ran).toMatchObject({ code: 4 })
  const printed = remediesIn(ran.err).filter(isCommand)
  for (const line of printed.filter((one) => one.startsWith('kubectl ')))
    await pasteKubectl(line, { cluster: stage.cluster, store: stage.simulated.store })
  return { ...ran, printed }
}

test('a PodDisruptionBudget that lets no VM be evicted: its VMs are named, once, with the command that shows it', async () => {
  await play({ ...byTag, workers: 2, vms: pets, methods: ['LiveMigrate', 'Evict'] }, async (stage) => {
    const budget = {
      apiVersion: 'policy/v1',
      kind: 'PodDisruptionBudget',
      metadata: { name: 'pets', namespace: 'demo' },
      spec: { minAvailable: '100%', selector: { matchLabels: { 'kubevirt.io': 'virt-launcher' } } },
    }
    stage.simulated.store.put(PodDisruptionBudgets, budget)
    const { err, printed } = await stalled(stage, ['--accept', 'evictions'])
    expect(err).toMatch(
      /stalled for [\w ]+ while waiting for 2 outdated VMs to move: 2 VMs \(demo\/pet-[12], demo\/pet-[12]\) cannot be evicted: a PodDisruptionBudget does not allow it/,
    )
    expect(printed).toContain('kubectl -n demo get poddisruptionbudgets')
    stage.simulated.store.remove(PodDisruptionBudgets, budget.metadata)
    await stage.until(5 * minute)
    expect(stage.kubevirt.status?.outdatedVirtualMachineInstanceWorkloads).toBe(0)
  })
})

test('a ResourceQuota that refuses the second pod of migrations', async () => {
  await play({ ...byTag, workers: 2, vms: 2 }, async (stage) => {
    stage.simulated.faults.set({ quota: 'demo' })
    const { err, printed } = await stalled(stage)
    expect(err).toMatch(
      /stalled for [\w ]+ while waiting for 2 outdated VMs to move: 2 VMs \(demo\/web-[12], demo\/web-[12]\) cannot migrate: a ResourceQuota leaves no room for the second pod/,
    )
    expect(printed).toContain('kubectl -n demo get resourcequotas')
    stage.simulated.faults.set({ quota: undefined })
    expect(await runText(upgrade, { cluster: stage.cluster, clock: stage.clock })).toMatchObject({ code: 0 })
    const [kubevirt] = await stage.cluster.reader.list(KubeVirts)
    expect(kubevirt?.status?.outdatedVirtualMachineInstanceWorkloads).toBe(0)
  })
})
