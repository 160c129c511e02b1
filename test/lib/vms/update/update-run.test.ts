import { expect, test } from 'vitest'
import type { Kind } from '../../../../src/lib/kube/object.ts'
import {
  KubeVirts,
  VirtualMachineInstances,
  VirtualMachines,
} from '../../../../src/lib/kube/kinds/kubevirt-kinds.ts'
import { SimClock } from '../../../../src/simulator/simulated-clock.ts'
import { ApiError } from '../../../../src/lib/kube/errors.ts'
import { UpdateRun } from '../../../../src/lib/vms/waves/update-run.ts'
import { aVmi } from '../outdated/a-vmi.ts'

const kubevirt = {
  metadata: { name: 'kubevirt', namespace: 'kubevirt', uid: 'kv' },
  spec: {},
  status: { phase: 'Deployed' },
}
const wanted = {
  selection: {},
  exclude: new Set(),
  include: new Set(),
  waves: { order: 'name', first: [], canaries: 0 },
  waveBy: { is: 'one' },
  restart: false,
  pacing: { soak: 0 },
}

/** Of a cluster with one KubeVirt and one VM that cannot be migrated; `reads` counts what is asked of VMs. */
function scene(kubevirts: () => object[] = () => [kubevirt]) {
  const reads: string[] = []
  const itemsOf = ({ plural }: Kind): object[] => {
    if (plural === KubeVirts.plural) return kubevirts()
    return plural === VirtualMachineInstances.plural ? [aVmi({ migratable: 'False' })] : []
  }
  const reader = {
    list: async (kind: Kind) => itemsOf(kind),
    async *pages(kind: Kind) {
      yield { items: itemsOf(kind) }
    },
    get: async ({ plural }: Kind, { name }: { name: string }) => {
      if (plural === VirtualMachines.plural) reads.push(name)
      return { is: 'object', object: { metadata: { name }, spec: { runStrategy: 'Always' } } }
    },
  }
  const clock = new SimClock()
  const run = new UpdateRun(wanted as never, { began: 0, releases: { minors: {} } as never })
  const cx = { reader, clock, journal: { entries: async () => [] } } as never
  return { reads, snapshot: () => run.read(cx), run, cx, clock }
}

test('what a look needs to know of a VM behind a VMI is read once, however often is looked within a minute', async () => {
  const { reads, snapshot } = scene()
  for (let times = 0; times < 3; times++) expect((await snapshot()).fleet.left.size).toBe(1)
  expect(reads).toHaveLength(1)
})

test('a KubeVirt that may not be read any more ends an update as forbidden, and is no bug', async () => {
  const { snapshot } = scene(() => {
    throw new ApiError(403, 'Forbidden', 'kubevirts is forbidden')
  })
  await expect(snapshot()).rejects.toMatchObject({
    exitCode: 7,
    reason: 'kubevirts-not-readable',
    message: expect.stringContaining('kubevirts is forbidden') as string,
  })
})

test('a VM whose turn was for nothing waits a moment, lest it be its turn without end', async () => {
  const { run, cx, clock } = scene()
  const another = { vm: 'demo/a', uid: 'of an instance that is gone', by: 'migration' }
  expect(await run.begin(cx, another as never, false)).toMatchObject({ is: 'not-needed' })
  const { traffic } = await run.readWave(cx)
  expect(traffic.notBefore.get('demo/a')).toBeGreaterThan(clock.now().getTime())
})
