import { expect, it } from 'vitest'
import { Events } from '../../../../src/lib/kube/kinds/core-kinds.ts'
import { DaemonSets, Pods } from '../../../../src/lib/kube/kinds/workload-kinds.ts'
import { KubeVirts } from '../../../../src/lib/kube/kinds/kubevirt-kinds.ts'
import { condition } from '../../../../src/lib/kube/object.ts'
import { play } from '../../../transcripts/play.ts'
import { reduce } from '../../../transcripts/reduce.ts'
import type { SimulatedCluster } from '../../../../src/simulator/simulated-cluster.ts'

const tagged = { version: 'v1.7.0', operator: 'v1.8.4', method: 'image-tag' } as const
const available = 'KubeVirt conditions: AllComponentsReady A=T P=F D=F C=T S=-'
const updating = 'KubeVirt conditions: UpdateInProgress A=T P=T D=T C=- S=-'
const story = (...played: Parameters<typeof play>) =>
  play(...played).then((lines) => reduce(lines, /^(edit|apply)/))

async function kubevirt(simulated: SimulatedCluster) {
  const [found] = await simulated.cluster().reader.list(KubeVirts)
  return found
}

it('a canary that crashes: FailedUpdate, DeploymentFailed, and the other nodes keep the old virt-handler', async () => {
  const faults = { crashing: '/virt-handler:v1\\.8\\.4$' }
  await play({ ...tagged, faults }, async ({ edit, wait, simulated }) => {
    await edit({ imageTag: 'v1.8.4' })
    await wait(60)
    const { reader } = simulated.cluster()
    const now = await kubevirt(simulated)
    expect(condition(now ?? {}, 'Synchronized')).toMatchObject({
      status: 'False',
      reason: 'DeploymentFailed',
    })
    expect((await reader.list(Events)).map((e) => e.reason)).toContain('FailedUpdate')
    const handlers = await reader.list(Pods, { labels: 'kubevirt.io=virt-handler' })
    const [canary, ...others] = handlers.filter((p) => p.spec?.containers?.[0]?.image?.endsWith('v1.8.4'))
    expect(others).toEqual([])
    const [container] = canary?.status?.containerStatuses ?? []
    expect(container?.restartCount).toBeGreaterThan(0)
    expect(container?.lastState?.terminated?.exitCode).toBe(1)
    simulated.faults.set({ crashing: undefined })
    await wait(240)
    expect(condition((await kubevirt(simulated)) ?? {}, 'Available')?.reason).toBe('AllComponentsReady')
  })
})

it('an image that is missing holds one component for ever; the CR says UpdateInProgress and nothing else', async () => {
  const said = await story(
    { version: 'v1.8.4', faults: { unpullable: '/virt-template-apiserver:' } },
    async ({ applyOperator, wait }) => {
      await applyOperator('v1.9.0')
      await wait(600)
    },
  )
  expect(said).toContain('virt-controller through: v1.9.0')
  expect(said.filter((s) => s.startsWith('KubeVirt conditions'))).toEqual([updating])
  expect(said.filter((s) => s.startsWith('virt-api'))).toEqual([])
})

it('a NotReady node keeps virt-handler from ever being whole, and its return mends that', async () => {
  await play({ ...tagged, faults: { notReady: ['worker-2'] } }, async ({ edit, wait, simulated }) => {
    await edit({ imageTag: 'v1.8.4' })
    await wait(300)
    expect(condition((await kubevirt(simulated)) ?? {}, 'Progressing')?.reason).toBe('UpdateInProgress')
    const [set] = await simulated.cluster().reader.list(DaemonSets)
    expect(set?.status).toMatchObject({ desiredNumberScheduled: 3, numberReady: 2 })
    simulated.faults.set({ notReady: [] })
    await wait(120)
    expect(condition((await kubevirt(simulated)) ?? {}, 'Available')?.reason).toBe('AllComponentsReady')
  })
})

it('a pod without a node: Pending, FailedScheduling, and the update waits', async () => {
  await play({ ...tagged, faults: { unschedulable: '^virt-api-' } }, async ({ edit, wait, simulated }) => {
    await edit({ imageTag: 'v1.8.4' })
    await wait(120)
    const pods = await simulated.cluster().reader.list(Pods, { labels: 'kubevirt.io=virt-api' })
    const stuck = pods.find((pod) => pod.spec?.nodeName === undefined)
    expect(stuck?.status?.phase).toBe('Pending')
    expect(condition(stuck ?? {}, 'PodScheduled')).toMatchObject({ status: 'False', reason: 'Unschedulable' })
    expect(condition((await kubevirt(simulated)) ?? {}, 'Progressing')?.reason).toBe('UpdateInProgress')
  })
})

it('an operator without rights fails until it has them', async () => {
  const said = await story(
    { ...tagged, faults: { withoutRights: true } },
    async ({ edit, wait, simulated }) => {
      await edit({ imageTag: 'v1.8.4' })
      await wait(60)
      simulated.faults.set({ withoutRights: false })
      await wait(120)
    },
  )
  const conditions = said.filter((s) => s.startsWith('KubeVirt conditions'))
  expect(conditions[1]).toBe('KubeVirt conditions: DeploymentFailed A=F P=F D=T C=- S=F')
  expect(conditions.at(-1)).toBe(available)
})

it('an operator that hangs lets its Lease run out and does nothing', async () => {
  const said = await story({ ...tagged, faults: { stopped: true } }, async ({ edit, wait }) => {
    await edit({ imageTag: 'v1.8.4' })
    await wait(300)
  })
  expect(said).toEqual(['KubeVirt edit: 3 not seen'])
})

it('the blip: once DeploymentFailed right after all is good, then good again', async () => {
  const said = await story({ ...tagged, faults: { blipAfterReady: true } }, async ({ edit, wait }) => {
    await edit({ imageTag: 'v1.8.4' })
    await wait(120)
  })
  const conditions = said.filter((s) => s.startsWith('KubeVirt conditions'))
  expect(conditions).toEqual([
    updating,
    available,
    'KubeVirt conditions: DeploymentFailed A=F P=F D=T C=T S=F',
    available,
  ])
})

it('more virt-handler rolls: argument added, then the old volume detached, each by a roll of all pods', async () => {
  await play({ ...tagged, faults: { moreHandlerRolls: true } }, async ({ edit, wait, simulated }) => {
    const generations = new Set<number>()
    simulated.store.watch(DaemonSets, ({ object }) => generations.add(object.metadata.generation ?? 0))
    await edit({ imageTag: 'v1.8.4' })
    await wait(300)
    const [set] = await simulated.cluster().reader.list(DaemonSets)
    expect(set?.spec?.template?.spec?.containers?.[0]?.args).toContain('--migration-cn-types')
    expect(set?.spec?.template?.spec?.volumes?.map((v) => v.name)).not.toContain(
      'kubevirt-virt-handler-certs',
    )
    expect(set?.status).toMatchObject({ updatedNumberScheduled: 3, numberReady: 3 })
    expect(set?.spec?.updateStrategy?.rollingUpdate?.maxUnavailable).toBe(1)
    expect(Math.max(...generations)).toBeGreaterThanOrEqual(8)
    expect(condition((await kubevirt(simulated)) ?? {}, 'Available')?.reason).toBe('AllComponentsReady')
  })
})
