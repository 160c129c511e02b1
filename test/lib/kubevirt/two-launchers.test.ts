import { expect, test } from 'vitest'
import type { Reader } from '../../../src/lib/kube/cluster.ts'
import { ApiError } from '../../../src/lib/kube/errors.ts'
import { VirtualMachineInstanceMigrations } from '../../../src/lib/kube/kinds/kubevirt-kinds.ts'
import type { Kind } from '../../../src/lib/kube/object.ts'
import { foldInstances } from '../../../src/lib/kubevirt/snapshot.ts'

const vmi = (name: string) => ({
  metadata: { name, namespace: 'demo' },
  status: { phase: 'Running', activePods: { one: 'node-1', two: '' } },
})
const migration = (vmiName: string, phase: string) => ({
  metadata: { name: `move-${vmiName}`, namespace: 'demo' },
  spec: { vmiName },
  status: { phase },
})

/** Three VMs that have two launchers each. */
function readerOf(migrations: readonly object[] | ApiError): Reader {
  async function* pages(kind: Kind) {
    const isMove = kind.plural === VirtualMachineInstanceMigrations.plural
    if (isMove && migrations instanceof ApiError) throw migrations
    yield { items: isMove ? migrations : ['web', 'db', 'cache'].map(vmi), resourceVersion: '' }
  }
  return { pages } as unknown as Reader
}

const namesOf = async (migrations: readonly object[] | ApiError) =>
  (await foldInstances(readerOf(migrations))).tally.twoLaunchers

test('a VM whose migration waits for a node runs once: the VMI says nothing of it, only the migration does', async () => {
  expect(await namesOf([migration('web', 'Scheduling'), migration('db', 'Failed')])).toEqual({
    count: 2,
    names: ['demo/db', 'demo/cache'],
  })
})

test('where migrations may not be read nobody is left out', async () => {
  expect(await namesOf(new ApiError(403, 'Forbidden', 'may not list'))).toMatchObject({ count: 3 })
})
