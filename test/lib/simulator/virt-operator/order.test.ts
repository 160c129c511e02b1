import { expect, it } from 'vitest'
import { KubeVirts, VirtualMachineInstances } from '../../../../src/lib/kube/kinds/kubevirt-kinds.ts'
import { SimClock } from '../../../../src/simulator/simulated-clock.ts'
import { scenarios } from '../../../../src/simulator/scenarios.ts'
import { simulate } from '../../../../src/simulator/simulated-cluster.ts'
import { play } from '../../../transcripts/play.ts'
import { reduce } from '../../../transcripts/reduce.ts'

const written = (story: readonly string[]) =>
  story.filter((said) => said.includes(' written: ')).map((said) => said.split(' ')[0])

it('a rollback takes the other order: virt-api first, virt-handler last', async () => {
  const lines = await play({ version: 'v1.8.4', method: 'image-tag' }, async ({ edit, wait }) => {
    await edit({ imageTag: 'v1.7.0' })
    await wait(120)
  })
  const story = reduce(lines, /^edit/)
  expect(written(story)).toEqual(['virt-api', 'virt-controller', 'virt-handler'])
  expect(story.at(-1)).toBe('KubeVirt versions: operator v1.8.4 target v1.7.0 observed v1.7.0')
})

it('v1.9 brings Deployments of its own, before virt-api; the Job has another name', async () => {
  const lines = await play({ version: 'v1.8.4' }, async ({ applyOperator, wait }) => {
    await applyOperator('v1.9.0')
    await wait(180)
  })
  const order = [
    'virt-operator',
    'virt-handler',
    'virt-controller',
    'virt-exportproxy',
    'virt-template-apiserver',
    'virt-template-controller',
    'virt-api',
  ]
  expect(written(reduce(lines, /^apply/))).toEqual(order)
  expect(
    lines.some(
      ({ object }) =>
        object?.kind === 'Job' && object.metadata.name.startsWith('virt-operator-install-strategy-'),
    ),
  ).toBe(true)
})

it('the version that the operator has anyway, set as tag, is no update', async () => {
  const lines = await play({ version: 'v1.8.4' }, async ({ edit, wait }) => {
    await edit({ imageTag: 'v1.8.4', imageRegistry: 'quay.io/kubevirt' })
    await wait(60)
  })
  const story = reduce(lines, /^edit/)
  expect(story.filter((said) => said.startsWith('KubeVirt conditions'))).toEqual([
    'KubeVirt conditions: DeploymentInProgress A=F P=T D=F C=T S=-',
    'KubeVirt conditions: AllComponentsReady A=T P=F D=F C=T S=-',
  ])
  expect(lines.some(({ object, t }) => object?.kind === 'Job' && t > 0)).toBe(false)
})

it('images that the environment pins stay, whatever the tag says', async () => {
  const pinned = { VIRT_API_IMAGE: 'mirror/virt-api@sha256:abc' }
  await play(
    { version: 'v1.7.0', operator: 'v1.8.4', method: 'image-tag', pinned },
    async ({ edit, wait, simulated }) => {
      await edit({ imageTag: 'v1.8.4' })
      await wait(120)
      const pods = { apiVersion: 'v1', kind: 'Pod', plural: 'pods', namespaced: true }
      const { items } = simulated.store.list(pods, { labels: 'kubevirt.io=virt-api' })
      expect(JSON.stringify(items)).toContain('mirror/virt-api@sha256:abc')
      expect(JSON.stringify(items)).not.toContain('virt-api:v1.8.4')
    },
  )
})

const tagged = () =>
  play(
    { version: 'v1.7.0', operator: 'v1.8.4', method: 'image-tag', vms: 2, methods: ['LiveMigrate'] },
    async ({ edit, wait }) => {
      await edit({ imageTag: 'v1.8.4' })
      await wait(120)
    },
  )

it('the same seed is the same run', async () => {
  const [first, second] = [await tagged(), await tagged()]
  expect(first.length).toBeGreaterThan(100)
  const plain = (lines: typeof first) =>
    lines.map(({ t, object, type, note }) => [t, type, note, object?.kind, object?.metadata.name])
  expect(plain(first)).toEqual(plain(second))
})

it('every scenario has a name of its own that can be typed, and a sentence', () => {
  const names = scenarios.map(({ name }) => name)
  expect(new Set(names).size).toBe(names.length)
  for (const { name, title } of scenarios) {
    expect(name).toMatch(/^[a-z]+(-[a-z]+)*$/)
    expect(title).toMatch(/\.$/)
  }
})

it('where a cluster was updated before it is handed out, its VMs run on the launcher of before', async () => {
  const simulated = await simulate({
    clock: new SimClock(),
    version: 'v1.9.0',
    updatedFrom: 'v1.8.4',
    vms: 3,
    methods: [],
  })
  try {
    const found = (labels?: string) =>
      simulated.store.list(VirtualMachineInstances, labels === undefined ? {} : { labels }).items
    expect(found('kubevirt.io/outdatedLauncherImage')).toHaveLength(3)
    expect(found()).toHaveLength(3)
    const { items } = simulated.store.list(KubeVirts)
    expect(items).toMatchObject([{ status: { observedKubeVirtVersion: 'v1.9.0', phase: 'Deployed' } }])
  } finally {
    await simulated.stop()
  }
})
