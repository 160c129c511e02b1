import { expect, test } from 'vitest'
import { isWrite } from '../../src/simulator/api/api-request.ts'
import type { Clock } from '../../src/lib/kube/clock.ts'
import { Leases } from '../../src/lib/kube/kinds/core-kinds.ts'
import { Killed, mortal } from './mortal-cluster.ts'
import { byManifest, byTag, briefly as play, second, type Stage } from './stage.ts'

const lease = { name: 'kvup', namespace: 'kubevirt' }

/** Both ask the API server as somebody of their own, so that the audit log tells them apart. */
const as = ({ simulated }: Stage, user: string) => simulated.cluster({ user, groups: ['system:masters'] })
const writesBy = ({ simulated }: Stage, by: string, since = 0) =>
  simulated.store.audit.slice(since).filter((record) => record.user === by && isWrite(record))

test('contract: beside one that runs another exits 6, names it, asks nothing and writes nothing, and neither does a pause', async () => {
  await play(byTag, async (stage) => {
    const first = stage.upgrade('v1.8.4', {}, { cluster: as(stage, 'first'), host: 'one' })
    await stage.until(12 * second)
    const asked: string[] = []
    const answer = async (question: string) => asked.push(question) > 0
    const beside = { cluster: as(stage, 'second'), host: 'two', yes: false, answer }
    const late = await stage.upgrade('v1.8.4', {}, beside)
    expect(late).toMatchObject({ code: 6, error: { reason: 'locked' } })
    expect(late.text).toMatch(/kvup upgrade --to .* --take-over=jane@one/u)
    expect(late.took).toBeLessThanOrEqual(15 * second)
    const held = await stage.hold({}, beside)
    expect(held).toMatchObject({ code: 6, error: { reason: 'locked' } })
    expect(held.text).toMatch(
      /another kvup is running: jane@one\S*\. Its upgrade to v1\.8\.4 has paused automatic VM updates, and resumes them at its end/u,
    )
    expect(asked).toEqual([])
    expect(writesBy(stage, 'second')).toEqual([])
    expect(await first).toMatchObject({ code: 0 })
    expect(await stage.hold()).toMatchObject({ code: 0, documents: [{ outcome: 'paused' }] })
  })
})

test('contract: two that start in the same moment, one wins and the other is told', async () => {
  await play(byManifest, async (stage) => {
    const codes = await Promise.all(
      ['one', 'two'].map(async (host) => (await stage.upgrade('v1.9.0', {}, { host })).code),
    )
    expect(codes.toSorted((a, b) => a - b)).toEqual([0, 6])
    expect(stage.methods).toEqual(['LiveMigrate'])
  })
})

test('contract: --take-over=HOLDER takes it at once, and the former holder writes nothing any more: exit 6', async () => {
  await play(byTag, async (stage) => {
    const first = stage.upgrade('v1.8.4', {}, { cluster: as(stage, 'first'), host: 'one' })
    await stage.until(12 * second)
    const mark = stage.mark
    const takeOver = stage.holder ?? ''
    expect(takeOver).toContain('jane@one')
    const other = await stage.upgrade('v1.8.4', { takeOver }, { cluster: as(stage, 'other'), host: 'two' })
    expect(other).toMatchObject({ code: 0 })
    expect(await first).toMatchObject({ code: 6, error: { reason: 'lock-lost' } })
    expect(writesBy(stage, 'first', mark)).toEqual([])
  })
})

test('contract: a dead process of this very machine stops nobody at all', async () => {
  await play(byTag, async (stage) => {
    await killAt(stage, 250)
    const next = await stage.upgrade('v1.8.4')
    expect(next).toMatchObject({ code: 0 })
    expect(next.events[0]?.after).toBe(0)
  })
})

test('contract: one of another machine stops nobody for more than 15 s', async () => {
  await play(byTag, async (stage) => {
    await killAt(stage, 250)
    const next = await stage.upgrade('v1.8.4', {}, { host: 'other' })
    expect(next).toMatchObject({ code: 0 })
    const began = next.events.find(({ kind }) => kind === 'run-started')
    expect(began?.after).toBe(15 * second)
    expect(next.text).toContain('another kvup has the lock')
  })
})

async function killAt(stage: Stage, call: number): Promise<void> {
  const cluster = mortal(stage.cluster, { afterCall: call })
  const killed = stage.upgrade('v1.8.4', {}, { cluster }).catch((error: unknown) => error)
  await cluster.death
  expect(stage.holder).not.toBe('')
  expect(stage.holder).toBeDefined()
  expect(await killed).toBeInstanceOf(Killed)
}

/** A process whose machine can be put to sleep: its clock stands still, and whatever it waits for comes later. */
class Laptop implements Clock {
  readonly #clock: Clock
  #awake: Promise<void> = Promise.resolve()

  constructor(clock: Clock) {
    this.#clock = clock
  }

  now(): Date {
    return this.#clock.now()
  }

  async sleep(ms: number, signal?: AbortSignal): Promise<void> {
    await this.#clock.sleep(ms, signal)
    await this.#awake
    signal?.throwIfAborted()
  }

  /** From now on, for so long. */
  suspend(ms: number): void {
    this.#awake = this.#clock.sleep(ms)
  }
}

test('contract: a holder that was suspended while somebody took over writes nothing when it wakes', async () => {
  await play(byTag, async (stage) => {
    const laptop = new Laptop(stage.clock)
    const cluster = as(stage, 'sleeper')
    const sleeper = stage.upgrade('v1.8.4', {}, { cluster, clock: laptop, host: 'laptop' })
    await stage.until(6 * second)
    laptop.suspend(16 * second)
    const mark = stage.mark
    const other = stage.upgrade('v1.8.4', {}, { host: 'other' })
    expect(await sleeper).toMatchObject({ code: 6, error: { reason: 'lock-lost' } })
    expect(writesBy(stage, 'sleeper', mark)).toEqual([])
    expect(await other).toMatchObject({ code: 0 })
    expect(await stage.journal.overrides()).toEqual([])
    expect(stage.methods).toEqual(['LiveMigrate'])
  })
})

test('contract: the lock is renewed every 5 s, in one Lease of 15 s, read before every write, and given back at the end', async () => {
  await play(byTag, async (stage) => {
    const renewals: number[] = []
    const stop = stage.simulated.store.watch(Leases, ({ object }) => {
      if (object.metadata.name === lease.name) renewals.push(stage.now)
    })
    await stage.upgrade('v1.8.4')
    stop()
    const gaps = renewals.slice(1, -1).map((at, i) => at - (renewals[i] ?? 0))
    expect(Math.max(...gaps)).toBeLessThanOrEqual(5 * second)
    expect(stage.simulated.store.read(Leases, lease)).toMatchObject({
      spec: { holderIdentity: '', leaseDurationSeconds: 15 },
    })
    const requests = stage.requests()
    const guarded = requests.flatMap((record, i) =>
      isWrite(record) && record.resource !== 'leases' ? [requests.slice(Math.max(0, i - 4), i)] : [],
    )
    expect(guarded.length).toBeGreaterThan(5)
    for (const before of guarded)
      expect(before.some(({ verb, resource }) => verb === 'get' && resource === 'leases')).toBe(true)
  })
})

test('contract: a Lease that somebody deletes means no more writes, exit 6', async () => {
  await play(byTag, async (stage) => {
    stage.later(8 * second, () => stage.simulated.store.remove(Leases, lease))
    const mark = stage.mark
    const ended = await stage.upgrade('v1.8.4')
    expect(ended).toMatchObject({ code: 6, error: { reason: 'lock-lost' } })
    expect(stage.writes(mark).some(({ at }) => at.getTime() > stage.film[0]!.at + 9 * second)).toBe(false)
  })
})
