import { expect, test } from 'vitest'
import { assessRollout } from '../../../src/lib/kubevirt/rollout-status.ts'
import { podOf, type Settled, settled } from './settled.ts'

const stamp = 'kubevirt.io/install-strategy-identifier'

/** A virt-handler pod of the present template lost its stamp, and virt-operator says that it deploys. */
function unstamped(change: (world: Settled) => void = () => undefined): Settled {
  const world = settled()
  const pod = podOf(world.pods, 'virt-handler')
  delete pod.metadata.annotations?.[stamp]
  const from = world.at(-3600).toISOString()
  for (const found of world.kubevirt.status?.conditions ?? []) {
    if (found.type === 'Available') Object.assign(found, { status: 'False', lastTransitionTime: from })
    if (found.type === 'Progressing') Object.assign(found, { status: 'True', lastTransitionTime: from })
  }
  change(world)
  return world
}

const judged = (world: Settled, seconds = 600) => assessRollout(world.snapshot, world.at(seconds))

test('a ready pod without annotations, while its DaemonSet is rolled, is why KubeVirt is not done', () => {
  const world = unstamped()
  const { name } = podOf(world.pods, 'virt-handler').metadata
  const { verdict, why, waitingFor } = judged(world)
  expect(verdict).toBe('Stalled')
  expect(why).toMatchObject([{ kind: 'unstamped', pods: [name], terminal: true }])
  expect(why[0]?.sentence).toMatch(/never counts it as updated.*fixed in v1\.8\.4/u)
  expect(why[0]?.commands).toEqual([
    `kubectl -n kubevirt delete pod ${name}     its DaemonSet creates a new one; VMs keep running`,
  ])
  expect(waitingFor).toMatch(/lacks virt-operator's annotations/u)
})

test.each<[string, (world: Settled) => void]>([
  [
    'the DaemonSet rolls still',
    ({ handler }) => Object.assign(handler.status ?? {}, { updatedNumberScheduled: 1 }),
  ],
  ['it was not seen yet', ({ handler }) => Object.assign(handler.status ?? {}, { observedGeneration: -1 })],
  [
    'the template has no stamp either',
    ({ handler }) => delete handler.spec?.template?.metadata?.annotations?.[stamp],
  ],
  [
    'the pod is going',
    (world) => (podOf(world.pods, 'virt-handler').metadata.deletionTimestamp = world.at(590).toISOString()),
  ],
  [
    'the pod is new',
    (world) => (podOf(world.pods, 'virt-handler').metadata.creationTimestamp = world.at(550).toISOString()),
  ],
])('no cause where %s', (_, change) => {
  expect(judged(unstamped(change)).why.filter(({ kind }) => kind === 'unstamped')).toEqual([])
})

test('a KubeVirt that is done is Healthy, whatever its pods lack: it is a doubt', () => {
  const world = settled()
  delete podOf(world.pods, 'virt-handler').metadata.annotations?.[stamp]
  const { verdict, why, doubts } = judged(world)
  expect([verdict, why]).toEqual(['Healthy', []])
  expect(doubts.map(({ id }) => id)).toContain('pods-not-seen')
})
