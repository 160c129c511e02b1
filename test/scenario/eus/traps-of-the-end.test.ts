import { describe, expect, test } from 'vitest'
import { type DaemonSet, DaemonSets, Pods } from '../../../src/lib/kube/kinds/workload-kinds.ts'
import {
  type ClusterServiceVersion,
  ClusterServiceVersions,
  HyperConvergeds,
  type InstallPlan,
  InstallPlans,
  type Subscription,
  Subscriptions,
} from '../../../src/lib/kube/kinds/operator-kinds.ts'
import { type MachineConfigPool, MachineConfigPools } from '../../../src/lib/kube/kinds/openshift-kinds.ts'
import { okdOlm } from '../../../src/simulator/olm/olm-shape.ts'
import { instance, outdatedCount, touchInstance } from '../machines.ts'
import { scriptWaits, upgradeByHand } from '../naive-person.ts'
import { minute, play, type Stage } from '../stage.ts'
import { lying } from './lying-reader.ts'
import { conditionOf, hyperConverged, operatorVersion } from './meanwhile.ts'
import { eusRunOn, twoWorkers418 } from './window-stage.ts'

const okd = { methods: ['LiveMigrate'], workers: 1, controlPlanes: 1, olm: okdOlm() } as const
const brief = { stableFor: '5s' }
const newCsv = 'kubevirt-hyperconverged-operator.v1.18.1'

const csvPhase = ({ simulated, home }: Stage): string | undefined => {
  const where = { name: newCsv, namespace: home }
  const csv: ClusterServiceVersion | undefined = simulated.store.read(ClusterServiceVersions, where)
  return csv?.status?.phase
}
const subscribed = ({ simulated }: Stage) =>
  (simulated.store.list(Subscriptions).items as Subscription[])[0]?.status
const planPhase = ({ simulated }: Stage): string | undefined =>
  (simulated.store.list(InstallPlans).items as InstallPlan[]).find(({ spec }) =>
    spec?.clusterServiceVersionNames?.includes(newCsv),
  )?.status?.phase
const counter = ({ kubevirt }: Stage) => kubevirt.status?.outdatedVirtualMachineInstanceWorkloads

/** What runs: the release whose operands are all there, and the tags of the virt-handlers. */
function atWork(stage: Stage) {
  const handlers = stage.simulated.store.list(Pods, { labels: 'kubevirt.io=virt-handler' }).items
  const tags = handlers.map((pod) => /virt-handler:(?<tag>[^"]+)/u.exec(JSON.stringify(pod))?.groups?.['tag'])
  return { operator: operatorVersion(stage), handlers: [...new Set(tags)] }
}
const before = { operator: '1.17.3', handlers: ['v1.7.4'] }
const through = { operator: '1.18.1', handlers: ['v1.8.4'] }

const isSaidAt = (stage: Stage, version: string) =>
  operatorVersion(stage) === version && conditionOf(stage, 'Progressing') === 'False'

const handlersRoll = ({ simulated }: Stage): boolean =>
  (simulated.store.list(DaemonSets).items as DaemonSet[]).some(
    ({ metadata, status = {} }) =>
      status.observedGeneration !== metadata.generation ||
      status.updatedNumberScheduled !== status.desiredNumberScheduled ||
      status.numberReady !== status.desiredNumberScheduled,
  )

describe('trap 7: HyperConverged is through when status.versions says so and nothing progresses', () => {
  test('naively, a wait for the CSV ends while all operands are old', () =>
    play(okd, async (stage) => {
      await upgradeByHand(stage, 'stable-v1.18')
      expect(await scriptWaits(stage, () => csvPhase(stage) === 'Succeeded')).toBe(true)
      expect(atWork(stage)).toEqual(before)
    }))

  test('naively, a wait for systemHealthStatus ends in the middle: healthy, and not available', () =>
    play(okd, async (stage) => {
      const message = 'ssp is away'
      stage.simulated.faults.set({ components: [{ component: 'SSP', is: 'unavailable', message }] })
      await upgradeByHand(stage, 'stable-v1.18')
      expect(await scriptWaits(stage, () => csvPhase(stage) === 'Succeeded')).toBe(true)
      expect(
        await scriptWaits(stage, () => hyperConverged(stage).status?.systemHealthStatus === 'healthy'),
      ).toBe(true)
      expect(conditionOf(stage, 'Available')).toBe('False')
      expect(operatorVersion(stage)).toBe('1.17.3')
    }))

  test('naively, a wait for status.versions ends before virt-handler rolls once more', () =>
    play({ ...okd, faults: { moreHandlerRolls: true } }, async (stage) => {
      await upgradeByHand(stage, 'stable-v1.18')
      expect(await scriptWaits(stage, () => isSaidAt(stage, '1.18.1'))).toBe(true)
      expect(await scriptWaits(stage, () => handlersRoll(stage), minute)).toBe(true)
    }))

  test('kvup ends with the operands of the new release, and nothing rolls any more', () =>
    play({ ...okd, faults: { moreHandlerRolls: true } }, async (stage) => {
      expect(await stage.upgrade('1.18.1', { stableFor: '30s' })).toMatchObject({ code: 0 })
      expect(atWork(stage)).toEqual(through)
      expect(await scriptWaits(stage, () => handlersRoll(stage), 10 * minute)).toBe(false)
    }))

  test('kvup does not end while a component is not available, however healthy it is called', () =>
    play(okd, async (stage) => {
      const message = 'ssp is away'
      const awayOnceApproved = () =>
        stage.simulated.faults.set({ components: [{ component: 'SSP', is: 'unavailable', message }] })
      const ended = await stage.upgrade(
        '1.18.1',
        { ...brief, timeout: '1h' },
        {
          onEvent(event) {
            if (event.kind === 'step-applied' && event.step.id === 'approve-1.18.1') awayOnceApproved()
          },
        },
      )
      expect(hyperConverged(stage).status?.systemHealthStatus).toBe('healthy')
      expect(ended).toMatchObject({ code: 4 })
      expect(ended.text).toContain('ssp is away')
    }))
})

/** A person deletes the HyperConverged with `--cascade=orphan` and makes it again; a component is not through. */
async function installedAnew(stage: Stage): Promise<void> {
  const { writer } = stage.cluster
  const { apiVersion, kind, metadata, spec } = hyperConverged(stage)
  const { name, namespace = '' } = metadata
  stage.simulated.faults.set({
    components: [{ component: 'SSP', is: 'progressing', message: 'templates are made' }],
  })
  await writer.mergePatch(HyperConvergeds, metadata, { metadata: { finalizers: [] } })
  stage.simulated.store.remove(HyperConvergeds, metadata, { orphan: true })
  await stage.until(minute)
  await writer.create(HyperConvergeds, {
    apiVersion,
    kind,
    metadata: { name, namespace },
    ...(spec && { spec }),
  })
  await stage.until(minute)
}

describe('trap 7: on a fresh installation status.versions is there at once', () => {
  test('naively, a wait for it ends while a component is made', () =>
    play(okd, async (stage) => {
      await installedAnew(stage)
      expect(operatorVersion(stage)).toBe('1.17.3')
      expect(conditionOf(stage, 'Progressing')).toBe('True')
    }))

  test('kvup does not take that release for reached', () =>
    play(okd, async (stage) => {
      await installedAnew(stage)
      const ended = await stage.upgrade('1.17.3', { ...brief, timeout: '1h' })
      expect(ended).toMatchObject({ code: 4 })
      expect(ended.text).toContain('templates are made')
      stage.simulated.faults.set({ components: undefined })
      expect(await stage.upgrade('1.17.3', brief)).toMatchObject({ code: 0 })
    }))
})

/** A VM on the new launcher to which somebody gives memory: a migration would carry it out, and it cannot migrate. */
async function startWaiting(stage: Stage): Promise<void> {
  await stage.start('pet')
  const conditions = instance(stage, 'pet')?.status?.conditions ?? []
  touchInstance(stage, 'pet', { conditions: [...conditions, { type: 'HotMemoryChange', status: 'True' }] })
  await stage.until(minute)
}

describe('trap 9: the count of the KubeVirt is stale while it updates, and counts hotplug', () => {
  const roomy = { ...okd, workers: 2 }
  const withVms = { ...roomy, vms: 2 }
  const pet = { name: 'pet', runStrategy: 'Halted', evictionStrategy: 'None', notMigratable: 'Disks' }

  test('naively, a wait for 0 ends before the first VM has moved', () =>
    play(withVms, async (stage) => {
      await upgradeByHand(stage, 'stable-v1.18')
      expect(await scriptWaits(stage, () => isSaidAt(stage, '1.18.1'))).toBe(true)
      expect(await scriptWaits(stage, () => counter(stage) === 0)).toBe(true)
      expect(outdatedCount(stage)).toBe(2)
    }))

  test('kvup says two where the count says 0', () =>
    play(withVms, async (stage) => {
      const ended = await stage.upgrade('1.18.1', { stableFor: '0s', leavePaused: true })
      expect(ended.documents[0]).toMatchObject({ workloads: { outdated: 2 } })
      expect(counter(stage)).toBe(0)
    }))

  test('naively, a wait for 0 never ends where a VM waits for memory that only a migration brings', () =>
    play({ ...roomy, vms: [{ name: 'web-1' }, pet] }, async (stage) => {
      await upgradeByHand(stage, 'stable-v1.18')
      await scriptWaits(stage, () => isSaidAt(stage, '1.18.1'))
      await startWaiting(stage)
      await stage.until(10 * minute)
      expect(outdatedCount(stage)).toBe(0)
      expect(await scriptWaits(stage, () => counter(stage) === 0)).toBe(false)
    }))

  test('kvup waits until no VM bears the label, and for none that does not', () =>
    play({ ...roomy, vms: [{ name: 'web-1' }, pet] }, async (stage) => {
      const pauseBefore = ['resume-workload-updates']
      await stage.upgrade('1.18.1', { ...brief, pauseBefore })
      await startWaiting(stage)
      expect([outdatedCount(stage), counter(stage)]).toEqual([1, 2])
      const ended = await stage.upgrade('1.18.1', { ...brief, waitWorkloads: true })
      expect(ended).toMatchObject({ code: 0 })
      await stage.until(minute)
      expect([outdatedCount(stage), counter(stage)]).toEqual([0, 1])
    }))

  test('kvup eus run unpauses the first pool once no VM bears the label, while the count says 0 all the time', () =>
    play({ ...twoWorkers418, vms: 2 }, async (stage) => {
      await eusRunOn(stage, { until: 'operator-4.20' })
      expect(outdatedCount(stage)).toBe(2)
      const atUnpause: number[] = []
      stage.simulated.store.watch(MachineConfigPools, ({ object: pool }) => {
        const { metadata, spec } = pool as MachineConfigPool
        if (metadata.name === 'worker' && spec?.paused !== true) atUnpause.push(outdatedCount(stage))
      })
      const stale = lying(stage.cluster, 'kubevirts', (kubevirt) => {
        kubevirt.status.outdatedVirtualMachineInstanceWorkloads = 0
        return kubevirt
      })
      expect(await eusRunOn(stage, {}, { cluster: stale })).toMatchObject({ code: 0 })
      expect(atUnpause[0]).toBe(0)
    }))
})

describe('trap 10: what OLM says first proves nothing', () => {
  test.each<[string, (stage: Stage) => boolean]>([
    ['the state AtLatestKnown', (stage) => subscribed(stage)?.state === 'AtLatestKnown'],
    ['the installedCSV', (stage) => subscribed(stage)?.installedCSV === newCsv],
    ['the InstallPlan to be Complete', (stage) => planPhase(stage) === 'Complete'],
  ])('naively, a wait for %s ends before the new CSV is Succeeded, while all operands are old', (_, holds) =>
    play({ ...okd, faults: { kindsServedAfter: 1500 } }, async (stage) => {
      await upgradeByHand(stage, 'stable-v1.18')
      expect(holds(stage)).toBe(false)
      expect(await scriptWaits(stage, () => holds(stage))).toBe(true)
      expect(csvPhase(stage)).not.toBe('Succeeded')
      expect(atWork(stage)).toEqual(before)
    }),
  )

  const fails = { ...okd, faults: { csvFailsFor: 2 * minute } }

  test('naively, who gives up at a CSV that is Failed gives up an update that succeeds', () =>
    play(fails, async (stage) => {
      await upgradeByHand(stage, 'stable-v1.18')
      expect(await scriptWaits(stage, () => csvPhase(stage) === 'Failed')).toBe(true)
      await stage.until(10 * minute)
      expect(csvPhase(stage)).toBe('Succeeded')
      expect(atWork(stage)).toEqual(through)
    }))

  test.each([
    ['a CSV that comes up', okd],
    ['a CSV that is Failed for a while', fails],
  ])('kvup ends once %s is Succeeded and its operands are there', (_, shape) =>
    play(shape, async (stage) => {
      expect(await stage.upgrade('1.18.1', brief)).toMatchObject({ code: 0 })
      expect(csvPhase(stage)).toBe('Succeeded')
      expect(atWork(stage)).toEqual(through)
    }),
  )

  test('kvup does not end where all of OLM says so and the CSV does not come up', () =>
    play(okd, async (stage) => {
      stage.simulated.faults.set({ csvFails: true })
      const ended = await stage.upgrade('1.18.1', { ...brief, pauseUpdates: false, timeout: '2h' })
      expect(subscribed(stage)).toMatchObject({ state: 'AtLatestKnown', installedCSV: newCsv })
      expect(planPhase(stage)).toBe('Complete')
      expect(ended.code).toBe(4)
    }))
})
