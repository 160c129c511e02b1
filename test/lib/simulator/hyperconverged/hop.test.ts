import { expect, test } from 'vitest'
import { Events } from '../../../../src/lib/kube/kinds/core-kinds.ts'
import { VirtualMachineInstances } from '../../../../src/lib/kube/kinds/kubevirt-kinds.ts'
import {
  type HyperConverged,
  HyperConvergeds,
  OperatorConditions,
} from '../../../../src/lib/kube/kinds/operator-kinds.ts'
import { okdOlm } from '../../../../src/simulator/olm/olm-shape.ts'
import { clusterByOlm, second } from './by-olm.ts'

const short = ({ conditions = [] }: { conditions?: { status: string; reason?: string }[] } = {}) =>
  conditions.map(({ status, reason }) => `${status} ${reason}`)

test('installed by OLM it has made its KubeVirt, in its own namespace and under its own name (hco 1)', async () => {
  const { hyperconverged, kubevirt, operatorCondition } = await clusterByOlm()
  const { metadata, status } = await kubevirt()
  expect(metadata).toMatchObject({
    name: 'kubevirt-kubevirt-hyperconverged',
    namespace: 'kubevirt-hyperconverged',
    labels: { 'app.kubernetes.io/managed-by': 'hco-operator' },
    ownerReferences: [{ kind: 'HyperConverged', name: 'kubevirt-hyperconverged' }],
  })
  expect(status).toMatchObject({ phase: 'Deployed', observedKubeVirtVersion: 'v1.7.4' })
  const { status: own, metadata: about, spec } = await hyperconverged()
  expect(own).toMatchObject({
    systemHealthStatus: 'healthy',
    infrastructureHighlyAvailable: true,
    versions: [{ name: 'operator', version: '1.17.3' }],
    observedGeneration: about.generation,
  })
  expect(own?.relatedObjects?.map(({ kind }) => kind)).toEqual([
    'KubeVirt',
    'CDI',
    'NetworkAddonsConfig',
    'SSP',
  ])
  expect(spec).toMatchObject({ evictionStrategy: 'LiveMigrate' })
  const oc = await operatorCondition()
  expect(oc.metadata.name).toBe('kubevirt-hyperconverged-operator.v1.17.3')
  expect(short(oc.spec)).toEqual(['True Upgradeable'])
})

test('on one node evictionStrategy is None (hco 9)', async () => {
  const { hyperconverged } = await clusterByOlm({ controlPlanes: 1, workers: 1 })
  expect((await hyperconverged()).spec).toMatchObject({ evictionStrategy: 'None' })
})

test('an approved plan takes it from 1.17.3 to 1.18.1, its KubeVirt from v1.7.4 to v1.8.4, and the VMs follow', async () => {
  const cluster = await clusterByOlm({ vms: 3 })
  const versions = new Set<string | undefined>()
  cluster.store.watch(HyperConvergeds, ({ object }) => {
    versions.add((object as HyperConverged).status?.versions?.map(({ version }) => version).join())
  })
  await cluster.upgradeTo('stable-v1.18')
  await cluster.until('the new release', 300, async () => (await cluster.version()) === '1.18.1')
  expect((await cluster.kubevirt()).status?.observedKubeVirtVersion).toBe('v1.8.4')
  expect([...versions]).toEqual(['1.17.3', '1.18.1'])
  await cluster.clock.sleep(60 * second)
  const instances = await cluster.reader.list(VirtualMachineInstances)
  expect(instances.map(({ metadata }) => metadata.labels?.['kubevirt.io/outdatedLauncherImage'])).toEqual(
    instances.map(() => undefined),
  )
  expect(instances).toHaveLength(3)
  const told = (await cluster.reader.list(Events)).filter(({ reason }) => reason === 'UpgradeHCO')
  expect(new Set(told.map(({ message }) => message))).toEqual(
    new Set(['Upgrading the HyperConverged to version 1.18.1', 'Successfully upgraded to version 1.18.1']),
  )
  expect(told).toHaveLength(2)
})

test('ocp 9.7: between CSV Succeeded and its end it is HCOUpgrading, and OLM is told not to replace it (ocp 1.8)', async () => {
  const cluster = await clusterByOlm()
  await cluster.upgradeTo('stable-v1.18')
  const reasons: string[] = []
  await cluster.until('the new release', 300, async () => {
    const [now = ''] = short((await cluster.operatorCondition()).spec)
    if (reasons.at(-1) !== now) reasons.push(now)
    return (await cluster.version()) === '1.18.1'
  })
  expect(reasons.slice(-3)).toEqual([
    'False Initializing',
    'False AlreadyPerformingUpgrade',
    'True Upgradeable',
  ])
  expect(await cluster.says('Upgradeable')).toBe('True/ReconcileCompleted')
})

test('ocp 9.5: in the middle of an upgrade Upgradeable is True, where a component waits for its operator and says nothing', async () => {
  const cluster = await clusterByOlm()
  cluster.faults.set({ unpullable: '/cdi-operator:1.18.1$' })
  await cluster.upgradeTo('stable-v1.18')
  await cluster.clock.sleep(200 * second)
  expect((await cluster.kubevirt()).status?.observedKubeVirtVersion).toBe('v1.8.4')
  expect(await cluster.says('Progressing')).toBe('True/HCOUpgrading')
  expect(await cluster.says('Upgradeable')).toBe('True/ReconcileCompleted')
  expect((await cluster.hyperconverged()).status?.systemHealthStatus).toBe('healthy')
  const [, ofNew] = await cluster.reader.list(OperatorConditions)
  expect(short(ofNew?.spec)).toEqual(['False AlreadyPerformingUpgrade'])
  expect(await cluster.version()).toBe('1.17.3')
})

test('hco 8: OLM replaces the CRD without its conversion; hco-webhook of the new release puts it there', async () => {
  const cluster = await clusterByOlm()
  const strategies: unknown[] = []
  await cluster.upgradeTo('stable-v1.18')
  await cluster.until('the new release', 300, async () => {
    const { spec } = await cluster.definition()
    const now = `${spec?.versions?.length} ${spec?.conversion?.strategy}`
    if (strategies.at(-1) !== now) strategies.push(now)
    return (await cluster.version()) === '1.18.1'
  })
  expect(strategies).toEqual(['1 None', '2 None', '2 Webhook'])
})

test('ocp 1.2: 1.19 stores v1, keeps an explicit [], and makes 20 of a timeout of 150', async () => {
  const cluster = await clusterByOlm({
    olm: okdOlm({ installed: '1.18.1', channel: 'stable-v1.18' }),
    methods: [],
  })
  await cluster.upgradeTo('stable-v1.19')
  await cluster.until('the new release', 300, async () => (await cluster.version()) === '1.19.0')
  expect((await cluster.definition()).status?.storedVersions).toEqual(['v1beta1', 'v1'])
  const kind = cluster.store.kinds.resolve(HyperConvergeds)
  expect(kind.apiVersion).toBe('hco.kubevirt.io/v1')
  expect((await cluster.hyperconverged('v1')).spec).toMatchObject({
    virtualization: {
      workloadUpdateStrategy: { workloadUpdateMethods: [] },
      liveMigrationConfig: { completionTimeoutPerGiB: 20 },
    },
  })
  expect((await cluster.hyperconverged()).spec).toMatchObject({
    workloadUpdateStrategy: { workloadUpdateMethods: [] },
  })
})
