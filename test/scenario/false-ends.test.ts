import { describe, expect, test } from 'vitest'
import { type DaemonSet, DaemonSets } from '../../src/lib/kube/kinds/workload-kinds.ts'
import { VirtualMachineInstances } from '../../src/lib/kube/kinds/kubevirt-kinds.ts'
import { condition } from '../../src/lib/kube/object.ts'
import type { StepState } from '../../src/lib/engine/step.ts'
import { Leases } from '../../src/lib/kube/kinds/core-kinds.ts'
import { ownerOf } from '../../src/lib/upgrade/upgrade-plan.ts'
import { seeForUpgrade } from '../../src/lib/upgrade/upgrade-snapshot.ts'
import { newControllerAtWork } from '../../src/lib/upgrade/steps/component-rollout.ts'
import { byManifest, byTag, play, second, type Stage } from './stage.ts'

const cases = [
  { name: 'image tag', shape: { ...byTag, vms: 2 }, to: 'v1.8.4' },
  { name: 'operator manifest', shape: { ...byManifest, vms: 2 }, to: 'v1.9.0' },
] as const

const givenBackAt = ({ film }: Stage) =>
  film.findLast(
    (frame, i) =>
      film[i - 1]?.spec?.workloadUpdateStrategy?.workloadUpdateMethods?.length === 0 &&
      frame.spec?.workloadUpdateStrategy?.workloadUpdateMethods?.length === 1,
  )?.at ?? 0

describe.for(cases)('what looks like the end and is not, $name', ({ shape, to }) => {
  test('the blip: DeploymentFailed seconds after all was good; nothing is given back before it healed for --stable-for', async () => {
    await play({ ...shape, faults: { blipAfterReady: true } }, async (stage) => {
      const ended = await stage.upgrade(to)
      expect(ended.code).toBe(0)
      const there = stage.film.find(({ status }) => status?.observedKubeVirtVersion === to)?.at ?? Infinity
      const failed = stage.film.filter(
        (frame) => frame.at > there && condition(frame, 'Degraded')?.status === 'True',
      )
      expect(failed).not.toHaveLength(0)
      expect(givenBackAt(stage) - (failed.at(-1)?.at ?? Infinity)).toBeGreaterThanOrEqual(30 * second)
    })
  })

  test('a second and a third roll of virt-handler: the methods are given back after the last', async () => {
    await play({ ...shape, faults: { moreHandlerRolls: true } }, async (stage) => {
      const rolls = new Map<string, number>()
      const stop = stage.simulated.store.watch(DaemonSets, ({ object }) => {
        const template = JSON.stringify((object as DaemonSet).spec?.template)
        if (object.metadata.name === 'virt-handler' && !rolls.has(template)) rolls.set(template, stage.now)
      })
      const ended = await stage.upgrade(to)
      stop()
      expect(ended.code).toBe(0)
      expect(rolls.size).toBeGreaterThanOrEqual(3)
      expect(givenBackAt(stage) - Math.max(...rolls.values())).toBeGreaterThan(30 * second)
    })
  })

  test('somebody edits the CR while it settles: Available=False for seconds starts the clock again, it is no failure', async () => {
    await play(shape, async (stage) => {
      let edited = 0
      const ended = await stage.upgrade(
        to,
        {},
        {
          onEvent(event) {
            if (event.kind !== 'step-started' || event.step.id !== 'healthy') return
            stage.later(20 * second, () => {
              edited = stage.now
              stage.edit({ configuration: { developerConfiguration: { logVerbosity: { virtLauncher: 4 } } } })
            })
          },
        },
      )
      expect(ended.code).toBe(0)
      expect(edited).toBeGreaterThan(0)
      expect(givenBackAt(stage) - edited).toBeGreaterThanOrEqual(30 * second)
    })
  })
})

test('with --stable-for 0s the blip is not waited for, so the default matters; what is reported is what is labelled, not a stale count', async () => {
  await play({ ...byTag, vms: 2, faults: { blipAfterReady: true } }, async (stage) => {
    const ended = await stage.upgrade('v1.8.4', { stableFor: '0s', leavePaused: true })
    expect(ended).toMatchObject({ code: 0, documents: [{ workloads: { instances: 2, outdated: 2 } }] })
    const settled = ended.events.find((e) => e.kind === 'step-done' && e.step.id === 'healthy')
    const there = stage.film.find(({ status }) => status?.observedKubeVirtVersion === 'v1.8.4')
    expect(Date.parse(settled?.at ?? '') - (there?.at ?? Infinity)).toBeLessThan(5 * second)
    expect(there?.status?.outdatedVirtualMachineInstanceWorkloads ?? 0).toBe(0)
    const labels = 'kubevirt.io/outdatedLauncherImage'
    expect(stage.simulated.store.list(VirtualMachineInstances, { labels }).items).toHaveLength(2)
  })
})

/** The cluster right after an update to v1.8.4, its controllers stopped, and the step that waits for true counts. */
async function afterwards(act: (stage: Stage, states: () => Promise<StepState>) => Promise<void>) {
  await play({ ...byTag, vms: 2 }, async (stage) => {
    expect(await stage.upgrade('v1.8.4', { leavePaused: true })).toMatchObject({ code: 0 })
    await stage.simulated.stop()
    const { reader } = stage.cluster
    const { clock, journal } = stage
    const { installation } = await seeForUpgrade(reader, clock)
    const step = newControllerAtWork(ownerOf(installation))
    await act(stage, () => step.check({ reader, clock, journal }))
  })
}

test('counts are not believed while a virt-controller of the old version leads, for two minutes at most: then it is told, and the run goes on', async () => {
  await afterwards(async ({ simulated: { store }, clock }, state) => {
    expect(await state()).toMatchObject({ is: 'done' })
    const lease = { name: 'virt-controller', namespace: 'kubevirt' }
    const body = { spec: { holderIdentity: 'virt-controller-x-old00' } }
    store.patch(Leases, lease, { type: 'merge', body })
    const says = 'Lease of virt-controller names virt-controller-x-old00, which is no pod of the new version'
    expect(await state()).toMatchObject({ is: 'waiting', on: expect.stringContaining(says) as string })
    await clock.sleep(119 * second)
    expect(await state()).toMatchObject({ is: 'waiting' })
    await clock.sleep(second)
    expect(await state()).toMatchObject({ is: 'done', note: expect.stringContaining(says) as string })
  })
})

test('counts are not believed while a VMI on the old launcher is not labelled', async () => {
  await afterwards(async ({ simulated: { store } }, state) => {
    const vmi = { name: 'web-1', namespace: 'demo' }
    const body = { metadata: { labels: { 'kubevirt.io/outdatedLauncherImage': null } } }
    store.patch(VirtualMachineInstances, vmi, { type: 'merge', body })
    expect(await state()).toMatchObject({
      is: 'waiting',
      on: expect.stringContaining('has not labelled 1 VM'),
    })
  })
})
