import { expect, test } from 'vitest'
import { type Pod, Pods } from '../../src/lib/kube/kinds/workload-kinds.ts'
import type { OwnerReference } from '../../src/lib/kube/object.ts'
import { instance } from './machines.ts'
import { byTag, play, type Stage } from './stage.ts'
import { documentOf, migrationsIn, outdated } from './updates.ts'

interface Forged {
  namespace?: string
  owner?: 'none' | 'web-1' | 'web-1 as a ReplicaSet' | 'web-1, not its controller'
}

/** A pod of another tenant that says of itself that it is a launcher of demo/web-1. */
function forge(stage: Stage, { namespace = 'tenant-b', owner = 'none' }: Forged): void {
  const { metadata } = instance(stage, 'web-1') ?? {}
  const uid = metadata?.uid ?? ''
  const reference: OwnerReference = {
    apiVersion: 'kubevirt.io/v1',
    kind: owner === 'web-1 as a ReplicaSet' ? 'ReplicaSet' : 'VirtualMachineInstance',
    name: 'web-1',
    uid,
    ...(owner !== 'web-1, not its controller' && { controller: true }),
  }
  const pod: Pod = {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      name: 'not-a-launcher',
      namespace,
      uid: 'forged',
      labels: { 'kubevirt.io': 'virt-launcher', 'kubevirt.io/created-by': uid },
      ...(owner !== 'none' && { ownerReferences: [reference] }),
    },
    spec: { nodeName: 'nowhere', containers: [{ name: 'compute', image: 'evil.example/pause' }] },
    status: { phase: 'Pending' },
  }
  stage.simulated.store.put(Pods, pod)
}

const forgeries: readonly Forged[] = [
  { owner: 'web-1' },
  { namespace: 'demo', owner: 'web-1 as a ReplicaSet' },
  { namespace: 'demo', owner: 'web-1, not its controller' },
]

const vms = [{ name: 'web-1' }, { name: 'web-2' }]

test.each(forgeries)('M2 a pod that only says it is a launcher stops no update: %o', async (forged) => {
  await outdated(vms, async (stage) => {
    forge(stage, forged)
    const ended = await stage.update()
    expect(ended).toMatchObject({ code: 0 })
    expect(documentOf(ended)).toMatchObject({ totals: { migrated: 2, failed: 0 } })
    expect(migrationsIn(stage)).toHaveLength(2)
  })
})

test('M2 it makes kvup hold nobody’s updates: upgrade --wait-workloads', async () => {
  await play({ ...byTag, workers: 3, vms }, async (stage) => {
    forge(stage, {})
    const ended = await stage.upgrade('v1.8.4', { waitWorkloads: true })
    expect(ended).toMatchObject({ code: 0 })
    expect(stage.methods).toEqual(['LiveMigrate'])
    expect(await stage.journal.overrides()).toEqual([])
  })
})
