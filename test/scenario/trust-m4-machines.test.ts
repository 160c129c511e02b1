import { expect, test } from 'vitest'
import { identityOf, isDead, leaseLock, processOf } from '../../src/lib/engine/lease.ts'
import { minute, second } from './stage.ts'
import { Engine, namespace } from '../lib/engine/engine.ts'
import { Leases } from '../../src/lib/kube/kinds/core-kinds.ts'

/** A run on a machine called localhost, which sees none of the processes of any other. */
function lockOf(engine: Engine, vm: string | undefined, pid: number) {
  const holder = {
    who: 'root@localhost',
    host: 'localhost',
    machine: vm,
    pid,
    isAlive: (it: number) => it === pid,
  }
  return leaseLock(engine.fake.cluster(), { namespace, holder, clock: engine.clock })
}

test.each([
  ['two machines or containers', 'a1', 'b2'],
  ['one of which cannot tell', 'a1', undefined],
  ['neither of which can tell', undefined, undefined],
])('M4 a live lock is watched and not taken by %s with one host name', async (_, first, second_) => {
  const engine = new Engine()
  let lost = false
  const running = lockOf(engine, first, 7).hold(async (held) => {
    held.signal.addEventListener('abort', () => (lost = true))
    await engine.clock.sleep(minute)
    await held.confirm()
  })
  await engine.clock.sleep(second)
  await expect(lockOf(engine, second_, 8).hold(async () => undefined)).rejects.toMatchObject({
    exitCode: 6,
    reason: 'locked',
  })
  await running
  expect(lost).toBe(false)
})

test.each([
  ['this very machine', 'root@localhost/7/abcd-a1', 0],
  ['another machine of that name', 'root@localhost/7/abcd-b2', 15],
  ['a release that named no machine', 'root@localhost/7/abcd', 15],
])('M4 a dead run of %s is waited for as long as it may live', async (_, holderIdentity, seconds) => {
  const engine = new Engine()
  const time = '2026-01-01T00:00:00.000000Z'
  const spec = { holderIdentity, leaseDurationSeconds: 15, acquireTime: time, renewTime: time }
  engine.fake.put(Leases, { metadata: { name: 'kvup', namespace }, spec })
  await lockOf(engine, 'a1', 8).hold(async () => undefined)
  expect(engine.elapsed).toBe(seconds * second)
})

test('M4 identities of all releases are read, and nothing else is', () => {
  const own = { who: 'ops@jump', host: 'jump', machine: 'a1', pid: 77, isAlive: () => false }
  expect(processOf(identityOf(own, 'ab12'))).toEqual({ user: 'ops', host: 'jump', pid: 77, machine: 'a1' })
  expect(processOf('ops@jump/77/ab12')).toEqual({ user: 'ops', host: 'jump', pid: 77 })
  for (const other of ['somebody', 'ops@jump/77/ab-a1-b2', 'ops@jump/77/ab\n-a1', '']) {
    expect(processOf(other)).toBeUndefined()
    expect(isDead(other, own)).toBe(false)
  }
})
