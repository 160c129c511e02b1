import { expect, test } from 'vitest'
import { atVersion } from '../../../../src/lib/kube/object.ts'
import { Events } from '../../../../src/lib/kube/kinds/core-kinds.ts'
import { HyperConvergeds } from '../../../../src/lib/kube/kinds/operator-kinds.ts'
import { KubeVirts } from '../../../../src/lib/kube/kinds/kubevirt-kinds.ts'
import { okdOlm } from '../../../../src/simulator/olm/olm-shape.ts'
import { type ClusterByOlm, clusterByOlm, ref, second } from './by-olm.ts'

const off = { spec: { workloadUpdateStrategy: { workloadUpdateMethods: [] } } }
const hold = ({ writer }: ClusterByOlm) => writer.mergePatch(HyperConvergeds, ref, off)
const strategy = async ({ kubevirt }: ClusterByOlm) => (await kubevirt()).spec?.workloadUpdateStrategy

test('hco 5: what the HyperConverged says is on the KubeVirt within a second, [] as no field', async () => {
  const cluster = await clusterByOlm({ methods: ['Evict', 'LiveMigrate'] })
  expect(await strategy(cluster)).toMatchObject({ workloadUpdateMethods: ['Evict', 'LiveMigrate'] })
  await hold(cluster)
  await cluster.clock.sleep(second)
  expect(await strategy(cluster)).not.toHaveProperty('workloadUpdateMethods')
  const { metadata, status } = await cluster.hyperconverged()
  expect(status?.observedGeneration).toBe(metadata.generation)
})

test('hco 6: what others write to the KubeVirt is set back, and an event says so', async () => {
  const cluster = await clusterByOlm()
  const { metadata } = await cluster.kubevirt()
  await cluster.writer.mergePatch(KubeVirts, metadata, { spec: { imageTag: 'v1.6.0' } })
  await cluster.clock.sleep(second)
  expect((await cluster.kubevirt()).spec).not.toHaveProperty('imageTag')
  const events = await cluster.reader.list(Events)
  expect(events.filter(({ reason }) => reason === 'Overwritten')).toHaveLength(1)
})

test('hco 6: the jsonpatch annotation overrides it, and taints the configuration', async () => {
  const cluster = await clusterByOlm()
  const operations = [{ op: 'add', path: '/spec/productName', value: 'x' }]
  const annotate = (text: string | null) =>
    cluster.writer.mergePatch(HyperConvergeds, ref, {
      metadata: { annotations: { 'kubevirt.kubevirt.io/jsonpatch': text } },
    })
  await annotate(JSON.stringify(operations))
  await cluster.clock.sleep(second)
  expect((await cluster.kubevirt()).spec).toMatchObject({ productName: 'x' })
  expect(await cluster.says('TaintedConfiguration')).toBe('True/UnsupportedFeatureAnnotation')
  await annotate(null)
  await cluster.clock.sleep(second)
  expect((await cluster.kubevirt()).spec).not.toHaveProperty('productName')
  expect(await cluster.says('TaintedConfiguration')).toBeUndefined()
})

test.each([
  [
    'progressing',
    { Upgradeable: 'False/CDIProgressing', Progressing: 'True/CDIProgressing' },
    'True Upgradeable',
  ],
  ['degraded', { Upgradeable: 'False/HCODegraded', Degraded: 'True/CDIDegraded' }, 'True Upgradeable'],
  [
    'unavailable',
    { Upgradeable: 'True/ReconcileCompleted', Available: 'False/CDINotAvailable' },
    'True Upgradeable',
  ],
  ['not-upgradeable', { Upgradeable: 'False/CDINotUpgradeable' }, 'False CDINotUpgradeable'],
] as const)(
  'ocp 9.6: a component is %s: what the CR says, and what OLM is told',
  async (is, expected, told) => {
    const cluster = await clusterByOlm()
    cluster.faults.set({ components: [{ component: 'CDI', is, message: 'so it is' }] })
    await cluster.clock.sleep(5 * second)
    for (const [type, says] of Object.entries(expected)) expect(await cluster.says(type)).toBe(says)
    const [last] = (await cluster.operatorCondition()).spec?.conditions ?? []
    expect(`${last?.status} ${last?.reason}`).toBe(told)
    cluster.faults.set({ components: undefined })
    await cluster.clock.sleep(5 * second)
    expect(await cluster.says('Upgradeable')).toBe('True/ReconcileCompleted')
  },
)

test('ocp 9.5: after an error of a pass every condition but one is Unknown', async () => {
  const cluster = await clusterByOlm()
  cluster.faults.set({ reconcileError: 'the server is on fire' })
  await cluster.clock.sleep(5 * second)
  expect(await cluster.says('ReconcileComplete')).toBe('False/ReconcileFailed')
  expect(await cluster.says('Upgradeable')).toBe('Unknown/StatusUnknown')
  cluster.faults.set({ reconcileError: undefined })
  await cluster.clock.sleep(5 * second)
  expect(await cluster.says('Upgradeable')).toBe('True/ReconcileCompleted')
})

test('a component that is never through keeps status.versions as it was (ocp 9.7)', async () => {
  const cluster = await clusterByOlm()
  cluster.faults.set({ components: [{ component: 'SSP', is: 'progressing', message: 'still' }] })
  await cluster.upgradeTo('stable-v1.18')
  await cluster.clock.sleep(300 * second)
  expect((await cluster.kubevirt()).status?.observedKubeVirtVersion).toBe('v1.8.4')
  expect(await cluster.version()).toBe('1.17.3')
  cluster.faults.set({ components: undefined })
  await cluster.clock.sleep(10 * second)
  expect(await cluster.version()).toBe('1.18.1')
})

test('its operator hangs: nothing is passed on', async () => {
  const cluster = await clusterByOlm()
  cluster.faults.set({ hyperConvergedStopped: true })
  await cluster.clock.sleep(20 * second)
  await hold(cluster)
  await cluster.clock.sleep(20 * second)
  expect(await strategy(cluster)).toHaveProperty('workloadUpdateMethods')
  cluster.faults.set({ hyperConvergedStopped: undefined })
  await cluster.clock.sleep(30 * second)
  expect(await strategy(cluster)).not.toHaveProperty('workloadUpdateMethods')
})

test.each([
  ['nobody-answers', 500, /^Internal error occurred: failed calling webhook "validate-hco.kubevirt.io"/],
  [
    'dry-run-fails',
    403,
    /denied the request: Internal error occurred: failed calling webhook "kubevirt-update/,
  ],
] as const)(
  'ocp 1.9: %s: a change is refused, also as a dry run, and a moment later it is not',
  async (is, status, words) => {
    const cluster = await clusterByOlm()
    cluster.faults.set({ changesRefused: is })
    const refused = expect.objectContaining({ status, message: expect.stringMatching(words) as string })
    await expect(hold(cluster)).rejects.toEqual(refused)
    await expect(cluster.reviewer.dryRun.mergePatch(HyperConvergeds, ref, off)).rejects.toEqual(refused)
    cluster.faults.set({ changesRefused: undefined })
    await hold(cluster)
    expect((await cluster.hyperconverged()).spec).toMatchObject(off.spec)
  },
)

test('ocp 1.9: while the new virt-operator rolls out a change is refused, a label alone is not', async () => {
  const cluster = await clusterByOlm()
  await cluster.upgradeTo('stable-v1.18')
  let refusals = 0
  let labels = 0
  await cluster.until('the new release', 300, async () => {
    await cluster.reviewer.dryRun.mergePatch(HyperConvergeds, ref, off).catch(() => refusals++)
    await cluster.reviewer.dryRun
      .mergePatch(HyperConvergeds, ref, { metadata: { labels: { a: String(refusals) } } })
      .catch(() => labels++)
    return (await cluster.version()) === '1.18.1'
  })
  expect(refusals).toBeGreaterThan(0)
  expect(labels).toBe(0)
})

test('hco 12: with the conversion lost, a label through the version that is not stored turns [] on again', async () => {
  const cluster = await clusterByOlm({
    olm: okdOlm({ installed: '1.18.1', channel: 'stable-v1.18' }),
    methods: [],
  })
  cluster.faults.set({ conversionLost: true })
  await cluster.until(
    'it is lost',
    30,
    async () => (await cluster.definition()).spec?.conversion?.strategy === 'None',
  )
  await cluster.writer.mergePatch(atVersion(HyperConvergeds, 'v1'), ref, { metadata: { labels: { a: 'b' } } })
  cluster.faults.set({ conversionLost: undefined })
  await cluster.clock.sleep(30 * second)
  expect(await strategy(cluster)).toMatchObject({ workloadUpdateMethods: ['LiveMigrate'] })
})
