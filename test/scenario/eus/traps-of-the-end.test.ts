import { describe, expect, test } from 'vitest'
import { type DaemonSet, DaemonSets, Pods } from '../../../src/lib/kube/kinds/workload-kinds.ts'
import { HyperConvergeds } from '../../../src/lib/kube/kinds/operator-kinds.ts'
import { KubeVirts } from '../../../src/lib/kube/kinds/kubevirt-kinds.ts'
import { exitCode } from '../../../src/lib/kube/errors.ts'
import { outdated } from '../../../src/commands/workloads/list-outdated.ts'
import { okdOlm } from '../../../src/simulator/olm/olm-shape.ts'
import { instance, outdatedCount, touchInstance } from '../machines.ts'
import { scriptWaits } from '../naive-person.ts'
import { minute, play, type Stage } from '../stage.ts'
import { hyperConverged, operatorVersion } from './meanwhile.ts'

const okd = { methods: ['LiveMigrate'], workers: 1, controlPlanes: 1, olm: okdOlm() } as const
const brief = { stableFor: '5s' }

const counter = ({ kubevirt }: Stage) => kubevirt.status?.outdatedVirtualMachineInstanceWorkloads

/** What runs: the release whose operands are all there, and the tags of the virt-handlers. */
function atWork(stage: Stage) {
  const handlers = stage.simulated.store.list(Pods, { labels: 'kubevirt.io=virt-handler' }).items
  const tags = handlers.map((pod) => /virt-handler:(?<tag>[^"]+)/u.exec(JSON.stringify(pod))?.groups?.['tag'])
  return { operator: operatorVersion(stage), handlers: [...new Set(tags)] }
}
const through = { operator: '1.18.1', handlers: ['v1.8.4'] }

const handlersRoll = ({ simulated }: Stage): boolean =>
  (simulated.store.list(DaemonSets).items as DaemonSet[]).some(
    ({ metadata, status = {} }) =>
      status.observedGeneration !== metadata.generation ||
      status.updatedNumberScheduled !== status.desiredNumberScheduled ||
      status.numberReady !== status.desiredNumberScheduled,
  )

describe('trap 7: HyperConverged is through when status.versions says so and nothing progresses', () => {
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

  test('kvup says two where the count says 0', () =>
    play(withVms, async (stage) => {
      const ended = await stage.upgrade('1.18.1', { stableFor: '0s', leavePaused: true })
      expect(ended.documents[0]).toMatchObject({ workloads: { outdated: 2 } })
      // As it is while virt-operator does something else: the VMs are labelled, and it has not counted them yet.
      stage.simulated.faults.set({ stopped: true })
      const status = { outdatedVirtualMachineInstanceWorkloads: 0 }
      await stage.cluster.writer.mergePatch(KubeVirts, stage.kubevirt.metadata, { status }, 'status')
      const listed = await stage.perform((cx) => outdated(cx, { exitCode: true }))
      expect(listed).toMatchObject({ code: exitCode.asked })
      expect(listed.text).toContain('KubeVirt counts 0, 2 are labelled')
      expect(counter(stage)).toBe(0)
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
})
