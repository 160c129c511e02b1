import { describe, expect, test } from 'vitest'
import type { RunEvent } from '../../src/lib/engine/step.ts'
import { Pods } from '../../src/lib/kube/kinds/workload-kinds.ts'
import { condition } from '../../src/lib/kube/object.ts'
import { VirtualMachineInstances } from '../../src/lib/kube/kinds/kubevirt-kinds.ts'
import { byManifest, byTag, play, second, type Stage } from './stage.ts'

const identifier = 'kubevirt.io/install-strategy-identifier'
const infra = { namespace: 'kubevirt', labels: 'kubevirt.io in (virt-api,virt-controller,virt-handler)' }

const cases = [
  { name: 'image tag', shape: { ...byTag, vms: 2 }, to: 'v1.8.4' },
  { name: 'operator manifest', shape: { ...byManifest, vms: 2 }, to: 'v1.9.0' },
] as const

const givenBack = ({ film }: Stage) =>
  film.find(
    (frame, i) =>
      frame.spec?.workloadUpdateStrategy?.workloadUpdateMethods?.length === 1 &&
      i > 0 &&
      film[i - 1]?.spec?.workloadUpdateStrategy?.workloadUpdateMethods?.length === 0,
  )

describe.for(cases)('contract: the order of the end, $name', ({ shape, to }) => {
  test('rolled, settled for --stable-for, the new controller leads, VMs labelled, given back, seen and Available, exit', async () => {
    await play(shape, async (stage) => {
      const labelled = () =>
        stage.simulated.store.list(VirtualMachineInstances, { labels: 'kubevirt.io/outdatedLauncherImage' })
      let before = 0
      const onEvent = (event: RunEvent) => {
        if (event.kind === 'step-started' && event.step.id === 'resume-workload-updates')
          before = labelled().items.length
      }
      const ended = await stage.upgrade(to, { stableFor: '45s' }, { onEvent })
      expect(ended).toMatchObject({ code: 0, documents: [{ workloads: { instances: 2 } }] })
      expect(before).toBe(2)
      const done = (id: string) =>
        ended.events.find((e) => e.kind === 'step-done' && e.step.id === id)?.after ?? NaN
      const order = [
        'virt-api',
        'healthy',
        'virt-controller-leads',
        'resume-workload-updates',
        'healthy-again',
      ]
      const times = order.map(done)
      expect(times).toEqual(times.toSorted((a, b) => a - b))
      expect(done('healthy') - done('virt-api')).toBeGreaterThanOrEqual(45 * second)

      const { status, metadata } = stage.kubevirt
      const id = status?.targetDeploymentID
      expect(status).toMatchObject({ observedKubeVirtVersion: to, observedDeploymentID: id })
      expect(status?.observedGeneration).toBe(metadata.generation)
      expect(condition(stage.kubevirt, 'Available')?.status).toBe('True')
      const pods = stage.simulated.store.list(Pods, infra).items
      const ids = pods.map(
        (pod) => pod.metadata.annotations?.[identifier] ?? pod.metadata.labels?.[identifier],
      )
      expect(new Set(ids)).toEqual(new Set([id]))

      const first = stage.film[0]?.status?.targetDeploymentID
      const moving = stage.film.filter(
        (frame) => frame.status?.targetDeploymentID !== first && frame.status?.observedKubeVirtVersion !== to,
      )
      expect(moving).not.toHaveLength(0)
      for (const { spec } of moving) expect(spec?.workloadUpdateStrategy?.workloadUpdateMethods).toEqual([])
      expect(givenBack(stage)?.status?.observedKubeVirtVersion).toBe(to)
    })
  })
})

test('contract: --wait-workloads waits after the give-back until only those that stay are left', async () => {
  const vms = [
    { name: 'web-1' },
    { name: 'web-2' },
    { name: 'stuck', notMigratable: 'HostDeviceNotLiveMigratable' },
  ]
  await play({ ...byTag, workers: 2, vms }, async (stage) => {
    const ended = await stage.upgrade('v1.8.4', { waitWorkloads: true })
    expect(ended).toMatchObject({ code: 0 })
    const ids = ended.events.flatMap((e) => (e.kind === 'step-done' ? [e.step.id] : []))
    expect(ids.indexOf('workloads')).toBeGreaterThan(ids.indexOf('resume-workload-updates'))
    expect(ended.documents[0]).toMatchObject({ workloads: { instances: 3, outdated: 1 } })
  })
})
