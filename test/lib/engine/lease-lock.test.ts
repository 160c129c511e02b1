import { expect, test } from 'vitest'
import { ConfigMaps, type Lease, Leases, Namespaces } from '../../../src/lib/kube/kinds/core-kinds.ts'
import type { Cluster } from '../../../src/lib/kube/cluster.ts'
import { ClusterClock } from '../../../src/lib/kube/http/cluster-clock.ts'
import { guardedWriter } from '../../../src/lib/engine/run-session.ts'
import { lockHolder } from '../../../src/lib/kubevirt/lease-holders.ts'
import { leaseLock } from '../../../src/lib/engine/lease.ts'
import { storeCluster } from '../../../src/simulator/api/store-client.ts'
import { Store } from '../../../src/simulator/api/store.ts'
import type { SimClock } from '../../../src/simulator/simulated-clock.ts'
import type { Clock } from '../../../src/lib/kube/clock.ts'
import { ApiError, interrupted } from '../../../src/lib/kube/errors.ts'
import { Engine, minute, namespace, second, setting } from './engine.ts'

const ref = { name: 'kvup', namespace }
const leaseOf = (engine: Engine): Lease['spec'] => engine.fake.peek(Leases, ref)?.spec
/** Begun now, looked at later. */
const failureOf = (work: Promise<unknown>): Promise<unknown> =>
  work.then(
    () => undefined,
    (error: unknown) => error,
  )
const never = new Promise<never>(() => undefined)

/** A process that can be stopped and continued, as by SIGSTOP: while it is, none of its timers fires. */
class Suspendable implements Clock {
  readonly #clock: Clock
  #running: Promise<void> = Promise.resolve()
  #continue: () => void = () => undefined

  constructor(clock: Clock) {
    this.#clock = clock
  }

  now(): Date {
    return this.#clock.now()
  }

  async sleep(ms: number, signal?: AbortSignal): Promise<void> {
    await this.#clock.sleep(ms, signal)
    await this.#running
    signal?.throwIfAborted()
  }

  suspend(): void {
    this.#running = new Promise((resolve) => (this.#continue = resolve))
  }

  resume(): void {
    this.#continue()
  }
}

/** A run on another machine that was killed: its Lease stays, and nobody renews it. */
function killed(engine: Engine, holderIdentity = 'joe@there/7/abcd'): void {
  const time = '2026-01-01T00:00:00.000000Z'
  const spec = { holderIdentity, leaseDurationSeconds: 15, acquireTime: time, renewTime: time }
  engine.fake.put(Leases, { metadata: { ...ref }, spec })
}

test('takes the lock, renews it every 5 s and empties it in the end', async () => {
  const engine = new Engine()
  const outcome = await engine.lock().hold(async (held) => {
    expect(leaseOf(engine)?.holderIdentity).toMatch(/^jane@here\/1\/[0-9a-f]{8}-here$/)
    expect(leaseOf(engine)?.renewTime).toMatch(/\.\d{6}Z$/)
    await engine.clock.sleep(62 * second)
    await held.confirm()
    return 'worked'
  })
  expect(outcome).toBe('worked')
  expect(engine.fake.count('patch')).toBe(12 + 1)
  expect(leaseOf(engine)?.holderIdentity).toBe('')
  await engine.lock().hold(async () => undefined)
  expect(engine.elapsed).toBe(62 * second)
  expect(leaseOf(engine)?.leaseTransitions).toBe(1)
})

test('the lock is given back when the work fails', async () => {
  const engine = new Engine()
  await expect(engine.lock().hold(() => Promise.reject(new Error('broken')))).rejects.toThrow('broken')
  expect(leaseOf(engine)?.holderIdentity).toBe('')
})

test('a second run is told who is at work, exit 6, within one renewal', async () => {
  const engine = new Engine()
  const first = engine.lock({ host: 'there', pid: 7 }).hold(() => engine.clock.sleep(minute))
  await engine.clock.sleep(second)
  await expect(engine.lock().hold(() => never)).rejects.toMatchObject({
    exitCode: 6,
    reason: 'locked',
    message: expect.stringMatching(
      /^another kvup is running: jane@there\/7\/\w+-there since 2026-01-01T00:00:00Z$/,
    ),
  })
  expect(engine.elapsed).toBeLessThan(8 * second)
  await first
})

test('a dead holder elsewhere stops nobody for more than 15 s', async () => {
  const engine = new Engine()
  killed(engine)
  const remarks: string[] = []
  await engine.lock().hold(async () => undefined, { remark: (text) => remarks.push(text) })
  expect(engine.elapsed).toBe(15 * second)
  expect(remarks).toEqual([expect.stringContaining('another kvup has the lock: joe@there/7/abcd')])
})

test('whether it is free is known before it is taken: nothing is written, and a dead holder is watched once', async () => {
  const engine = new Engine()
  killed(engine)
  const writes = engine.fake.count('patch')
  const lock = engine.lock()
  await lock.ensureFree?.()
  expect([engine.elapsed, engine.fake.count('patch')]).toEqual([15 * second, writes])
  await lock.hold(async () => undefined)
  expect(engine.elapsed).toBe(15 * second)
})

test('whether it is free: a live holder is told within one renewal', async () => {
  const engine = new Engine()
  const first = engine.lock({ host: 'there', pid: 7 }).hold(() => engine.clock.sleep(minute))
  await engine.clock.sleep(second)
  await expect(engine.lock().ensureFree?.()).rejects.toMatchObject({ exitCode: 6, reason: 'locked' })
  expect(engine.elapsed).toBeLessThan(8 * second)
  await first
})

test('a clock that is wrong on the other machine changes nothing', async () => {
  const engine = new Engine()
  const spec = {
    holderIdentity: 'joe@there/7/abcd',
    leaseDurationSeconds: 15,
    renewTime: '2031-01-01T00:00:00.000000Z',
  }
  engine.fake.put(Leases, { metadata: { ...ref }, spec })
  await engine.lock().hold(async () => undefined)
  expect(engine.elapsed).toBe(15 * second)
})

test('a dead process of this machine is replaced at once; a living one is not', async () => {
  const engine = new Engine()
  killed(engine, 'joe@here/7/abcd-here')
  await engine.lock({ alive: [1] }).hold(async () => undefined)
  expect(engine.elapsed).toBe(0)
  killed(engine, 'joe@here/7/abcd-here')
  await engine.lock({ alive: [1, 7] }).hold(async () => undefined)
  expect(engine.elapsed).toBe(15 * second)
})

test('--take-over replaces exactly that holder, who then writes nothing more', async () => {
  const engine = new Engine()
  let theirs: AbortSignal | undefined
  const first = engine.lock({ host: 'there', pid: 7 }).hold(async (held) => {
    theirs = held.signal
    await engine.clock.sleep(20 * second)
    const { writer } = engine.fake.cluster()
    await guardedWriter(writer, held).mergePatch(ConfigMaps, setting, { data: { a: 'theirs' } })
  })
  const failure = failureOf(first)
  await engine.clock.sleep(second)
  const holder = leaseOf(engine)?.holderIdentity ?? ''
  await expect(
    engine.lock({ takeOver: 'joe@there/7/abcd' }).hold(async () => undefined),
  ).rejects.toMatchObject({
    exitCode: 6,
  })
  await engine.lock({ takeOver: holder }).hold(() => engine.clock.sleep(30 * second))
  expect(await failure).toMatchObject({ exitCode: 6, reason: 'lock-lost' })
  expect(theirs?.aborted).toBe(true)
  expect(engine.value('a')).toBeUndefined()
})

test('a holder that was suspended past its term writes nothing when it wakes, even when nobody took the lock', async () => {
  const engine = new Engine()
  const process = new Suspendable(engine.clock)
  const work = engine.lock({ clock: process }).hold(async (held) => {
    await process.sleep(6 * second)
    process.suspend()
    await process.sleep(second)
    const { writer } = engine.fake.cluster()
    await guardedWriter(writer, held).mergePatch(ConfigMaps, setting, { data: { a: 'late' } })
  })
  const failure = failureOf(work)
  await engine.clock.sleep(40 * second)
  process.resume()
  expect(await failure).toMatchObject({ exitCode: 6, reason: 'lock-lost' })
  expect(engine.value('a')).toBeUndefined()
  expect(engine.fake.count('patch')).toBe(1)
})

/** An answer of a cluster that is so far ahead of this machine. */
const answer = (engine: Engine, ahead: number) => {
  const at = engine.clock.now().getTime()
  return { date: at + ahead, sent: at, received: at }
}

test('a cluster whose time is put right in the middle has suspended nobody', async () => {
  const engine = new Engine()
  const clock = new ClusterClock(engine.clock)
  clock.hear(answer(engine, 10 * minute))
  expect(clock.now().toISOString()).toMatch(/^2026-01-01T00:10:00/u)
  const ended = await engine.lock({ clock }).hold(async (held) => {
    await engine.clock.sleep(6 * second)
    expect(clock.hear(answer(engine, 0))).toBe(true)
    await held.confirm()
    await engine.clock.sleep(12 * second)
    await held.confirm()
    return leaseOf(engine)?.renewTime
  })
  expect(ended).toMatch(/^2026-01-01T00:00:15/u)
})

test('where the time of a cluster runs faster, a term is as long as ever: the other programs are not faster', async () => {
  const engine = new Engine()
  const clock = new ClusterClock(engine.clock)
  clock.runAt(60)
  await engine.lock({ clock, host: 'there' }).hold(async () => {
    await engine.clock.sleep(62 * second)
    expect(engine.fake.count('patch')).toBe(12)
    await engine.clock.sleep(4 * second)
    expect(lockHolder({ metadata: ref, spec: leaseOf(engine) } as Lease, clock.now())?.holder).toMatch(
      /^jane@there/,
    )
    await expect(engine.lock({ clock }).hold(() => never)).rejects.toMatchObject({ exitCode: 6 })
  })
})

test('a sleeper that writes before its renewal timer fires does not renew its way back in', async () => {
  const engine = new Engine()
  const process = new Suspendable(engine.clock)
  const work = engine.lock({ clock: process }).hold(async (held) => {
    process.suspend()
    await engine.clock.sleep(40 * second)
    await held.confirm()
  })
  expect(await failureOf(work)).toMatchObject({ exitCode: 6, reason: 'lock-lost' })
  expect(engine.fake.count('patch')).toBe(0)
})

test('a renewal that is seen only at the last look counts', async () => {
  const engine = new Engine()
  killed(engine)
  engine.later(14.5 * second, () => killed(engine))
  expect(await failureOf(engine.lock().hold(() => never))).toMatchObject({ exitCode: 6, reason: 'locked' })
})

test('a suspended holder is replaced, and does not write over its successor', async () => {
  const engine = new Engine()
  const process = new Suspendable(engine.clock)
  const first = engine.lock({ clock: process, pid: 7, host: 'there' }).hold(async (held) => {
    process.suspend()
    await process.sleep(second)
    await held.confirm()
  })
  const failure = failureOf(first)
  await engine.clock.sleep(2 * second)
  await engine.lock().hold(async () => {
    process.resume()
    await engine.clock.sleep(10 * second)
    expect(leaseOf(engine)?.holderIdentity).toMatch(/^jane@here/)
  })
  expect(await failure).toMatchObject({ exitCode: 6, reason: 'lock-lost' })
})

test('renewing survives an API server that is away for 9 s', async () => {
  const engine = new Engine()
  engine.later(4 * second, () => {
    engine.fake.before = () => {
      throw new ApiError(503, 'ServiceUnavailable', 'away')
    }
  })
  engine.later(13 * second, () => (engine.fake.before = () => undefined))
  await engine.lock().hold(async (held) => {
    await engine.clock.sleep(minute)
    await held.confirm()
    expect(held.signal.aborted).toBe(false)
  })
})

test.each(['fails', 'hangs'])(
  'an API server that %s for a minute: no write in doubt, and on when nobody took the lock',
  async (how) => {
    const engine = new Engine()
    engine.later(4 * second, () => {
      engine.fake.before = () =>
        how === 'hangs' ? never : Promise.reject(new ApiError(0, '', 'no route to host'))
    })
    await engine.lock().hold(async (held) => {
      await engine.clock.sleep(minute)
      engine.fake.before = ({ verb }) => {
        if (verb === 'patch') throw new ApiError(503, 'ServiceUnavailable', 'away')
      }
      await expect(held.confirm()).rejects.toMatchObject({ exitCode: 8, reason: 'lock-in-doubt' })
      engine.fake.before = () => undefined
      await held.confirm()
      expect(held.signal.aborted).toBe(false)
    })
  },
)

test('a lock that was taken while the API server was away is lost', async () => {
  const engine = new Engine()
  engine.later(4 * second, () => {
    engine.fake.before = () => Promise.reject(new ApiError(0, '', 'no route to host'))
  })
  engine.later(40 * second, () => {
    killed(engine)
    engine.fake.before = () => undefined
  })
  const lostAt = await engine
    .lock()
    .hold(
      (held) =>
        new Promise((resolve) => held.signal.addEventListener('abort', () => resolve(engine.elapsed))),
    )
  expect(lostAt).toBeLessThanOrEqual(41 * second)
})

test('a Lease that somebody deleted is a lost lock', async () => {
  const engine = new Engine()
  await expect(
    engine.lock().hold(async (held) => {
      engine.fake.remove(Leases, ref)
      await held.confirm()
    }),
  ).rejects.toMatchObject({ reason: 'lock-lost', message: expect.stringContaining('deleted') })
})

test('Ctrl-C ends the wait for the lock', async () => {
  const engine = new Engine()
  killed(engine)
  const reason = interrupted('SIGINT')
  engine.later(3 * second, () => engine.stop.abort(reason))
  await expect(engine.lock().hold(() => never, { signal: engine.stop.signal })).rejects.toBe(reason)
  expect(engine.elapsed).toBeLessThan(4 * second)
})

test('a server that hangs does not keep us from leaving', async () => {
  const engine = new Engine()
  await engine.lock().hold(async () => {
    engine.fake.before = () => never
  })
  expect(engine.elapsed).toBeLessThan(second)
})

test('of many at once exactly one gets the lock', async () => {
  const engine = new Engine()
  let inside = 0
  const runs = ['a', 'b', 'c', 'd', 'e'].map((host) =>
    engine.lock({ host }).hold(async () => {
      expect(++inside).toBe(1)
      await engine.clock.sleep(minute)
      inside--
    }),
  )
  const ends = await Promise.allSettled(runs)
  expect(ends.map(({ status }) => status).toSorted()).toEqual(['fulfilled', ...Array(4).fill('rejected')])
})

test('the same on the simulator: taken, refused, released', async () => {
  const engine = new Engine()
  const cluster = await simulated(engine.clock)
  const lock = (host: string) =>
    leaseLock(cluster, {
      namespace,
      clock: engine.clock,
      holder: { who: `jane@${host}`, host, pid: 1, isAlive: () => true },
    })
  await lock('here').hold(async (held) => {
    await engine.clock.sleep(20 * second)
    await held.confirm()
    await expect(lock('there').hold(() => never)).rejects.toMatchObject({ exitCode: 6 })
  })
  expect(await lock('there').hold(async () => 'free')).toBe('free')
})

async function simulated(clock: SimClock): Promise<Cluster> {
  const cluster = storeCluster(new Store(clock))
  await cluster.writer.create(Namespaces, {
    apiVersion: 'v1',
    kind: 'Namespace',
    metadata: { name: namespace },
  })
  return cluster
}
