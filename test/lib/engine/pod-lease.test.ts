import { expect, test } from 'vitest'
import { leaseLock } from '../../../src/lib/engine/lease.ts'
import { Leases } from '../../../src/lib/kube/kinds/core-kinds.ts'
import { Pods } from '../../../src/lib/kube/kinds/workload-kinds.ts'
import { Engine, namespace, second } from './engine.ts'

const home = 'kvup-run'
const dead = { namespace: home, name: 'kvup-upgrade-1', uid: 'uid-1' }

/** How long a pod of this namespace waits for the lock that this identity has; Infinity where it is told that somebody has it. */
async function waits(engine: Engine, holderIdentity: string, own?: string): Promise<number> {
  const time = '2026-01-01T00:00:00.000000Z'
  const spec = { holderIdentity, leaseDurationSeconds: 15, acquireTime: time, renewTime: time }
  engine.fake.put(Leases, { metadata: { name: 'kvup', namespace }, spec })
  const holder = {
    who: 'kvup-run@kvup-upgrade-2',
    host: 'kvup-upgrade-2',
    pid: 1,
    isAlive: () => true,
    ...(own !== undefined && { pod: { namespace: own, name: 'kvup-upgrade-2', uid: 'uid-2' } }),
  }
  await leaseLock(engine.fake.cluster(), { namespace, holder, clock: engine.clock }).hold(
    async () => undefined,
  )
  return engine.elapsed / second
}

const identity = `pod:${dead.namespace}/${dead.name}/${dead.uid}/ab12`

test.each([
  ['is gone', undefined, 0],
  ['has failed', 'Failed', 0],
  ['is done', 'Succeeded', 0],
  ['runs', 'Running', 15],
  ['is pending', 'Pending', 15],
])('the lock of a pod that %s', async (_, phase, seconds) => {
  const engine = new Engine()
  if (phase !== undefined) engine.fake.put(Pods, { metadata: { ...dead }, status: { phase } })
  expect(await waits(engine, identity, home)).toBe(seconds)
})

test('a pod of the same name that is another one says that the first is gone', async () => {
  const engine = new Engine()
  engine.fake.put(Pods, { metadata: { ...dead, uid: 'uid-9' }, status: { phase: 'Running' } })
  expect(await waits(engine, identity, home)).toBe(0)
})

test.each([
  ['a pod of another namespace', identity, 'elsewhere'],
  ['a process that is in no pod', identity, undefined],
  ['who reads what is no identity of a pod', 'pod:kvup-run/../../x/1', home],
  ['who reads the name of a person', 'ops@kvup-upgrade-1/1/ab', home],
])('%s waits for the term', async (_, holder, own) => {
  expect(await waits(new Engine(), holder, own)).toBe(15)
})
