// Each play is over sockets, once from a clock that is ahead and once from one that is behind: more than 3 s of processor time.
import { describe, expect, test } from 'vitest'
import { microTime } from '../../src/lib/engine/lease.ts'
import { type Lease, Leases } from '../../src/lib/kube/kinds/core-kinds.ts'
import { runText } from '../lib/run-text.ts'
import { overHttp } from './laptop.ts'
import { byTag, minute, play, second, type Stage } from './stage.ts'
import { documentOf, madeAt, migrationsIn, outdated } from './updates.ts'

const hour = 60 * minute
const wrong = [
  ['an hour ahead', hour],
  ['an hour behind', -hour],
] as const

/** Whole seconds of the cluster's time are what a laptop can know of it. */
const about = (time: number) => ({ from: time - 2 * second, to: time + 2 * second })

/** Every time that is written in a text, ms since the epoch. */
const timesIn = (value: unknown) =>
  [...JSON.stringify(value).matchAll(/\d{4}-\d\d-\d\dT[\d:.]+Z/gu)].map(([time]) => Date.parse(time))

function expectWithin(times: readonly number[], from: number, to: number): void {
  expect(times.length).toBeGreaterThan(0)
  expect(times.filter((time) => time < about(from).from || time > about(to).to)).toEqual([])
}

const waiting = (version: string) => ['wait', '--for', `version=${version}`, '-o', 'json']

function leaseOf({ simulated }: Stage): Lease['spec'] {
  const lease: Lease | undefined = simulated.store.read(Leases, { name: 'kvup', namespace: 'kubevirt' })
  return lease?.spec
}

describe.each(wrong)('from a laptop whose clock is %s', (_, ahead) => {
  test('an upgrade takes as long as it does, and writes the times of the cluster', async () => {
    await play(byTag, async (stage) => {
      await overHttp(stage, async (laptop) => {
        const began = stage.now
        const ended = await stage.upgrade('v1.8.4', {}, await laptop(ahead))
        expect(ended).toMatchObject({ code: 0 })
        expect(ended.took).toBeLessThan(5 * minute)
        expect(
          ended.events.filter((one) => one.kind === 'step-waiting' && one.state.is === 'stalled'),
        ).toEqual([])
        expectWithin(timesIn(await stage.journal.entries()), began, stage.now)
        expectWithin(timesIn(ended.events.map(({ at }) => at)), began, stage.now)
        expect(stage.methods).toEqual(['LiveMigrate'])
      })
    })
  })

  test('back-offs of failed migrations are neither skipped nor waited for twice', async () => {
    await outdated([{ name: 'vm-1', migration: 'fail-once' }], async (stage) => {
      await overHttp(stage, async (laptop) => {
        const ended = await stage.update({ retries: '2' }, await laptop(ahead))
        expect(documentOf(ended)).toMatchObject({ totals: { migrated: 1 } })
        const [first, second_] = migrationsIn(stage).map(madeAt)
        expect(ended.took).toBeLessThan(10 * minute)
        expect((second_ ?? 0) - (first ?? 0)).toBeGreaterThan(20 * second)
      })
    })
  })

  test('waiting for it takes as long as it does', async () => {
    await play({ ...byTag, version: 'v1.8.4' }, async (stage) => {
      await overHttp(stage, async (laptop) => {
        // Its modules are loaded in real time, in which days can pass here.
        const place = await laptop(ahead)
        await stage.clock.during(runText(waiting('v1.8.4'), place))
        stage.edit({ imageTag: 'v1.8.3' })
        const began = stage.now
        const { out } = await runText(waiting('v1.8.3'), await laptop(ahead))
        const { met, tookSeconds } = JSON.parse(out) as { met: boolean; tookSeconds: number }
        expect(met).toBe(true)
        expect(tookSeconds).toBeGreaterThan(0)
        expect(tookSeconds).toBeLessThanOrEqual((stage.now - began) / second)
      })
    })
  })
})

test("a lock that is held is not taken, that of a dead run is after its term; its times are the cluster's", async () => {
  await play(byTag, async (stage) => {
    await overHttp(stage, async (laptop) => {
      const first = stage.upgrade('v1.8.4', {}, { ...(await laptop(hour)), host: 'one' })
      await stage.until(12 * second)
      const { acquireTime, renewTime } = leaseOf(stage) ?? {}
      expectWithin(timesIn([acquireTime, renewTime]), stage.now - 12 * second, stage.now)
      const late = await stage.upgrade('v1.8.4', {}, { ...(await laptop(-hour)), host: 'two' })
      expect(late).toMatchObject({ code: 6, error: { reason: 'locked' } })
      expect(await first).toMatchObject({ code: 0 })
      stage.simulated.store.patch(
        Leases,
        { name: 'kvup', namespace: 'kubevirt' },
        {
          type: 'merge',
          body: { spec: { holderIdentity: 'jane@gone/1/x', renewTime: microTime(new Date(stage.now)) } },
        },
        { manager: 'test' },
      )
      stage.edit({ imageTag: 'v1.8.3' })
      const next = await stage.upgrade('v1.8.4', {}, { ...(await laptop(hour)), host: 'two' })
      expect(next.events.find(({ kind }) => kind === 'run-started')?.after).toBe(15 * second)
    })
  })
})

/** Of the seal of a plan. */
const madeUp = /"(?:uid|digest)": "[^"]+"/gu
/** What lies between whole seconds nobody knows of another clock. */
const toSeconds = (text: string) => text.replaceAll(/(?<=:\d\d)\.\d+(?=Z)/gu, '')

/** What only reads, and compares what it reads with the time. */
const reading = [
  'status -o json',
  'status',
  'check --to v1.8.4 -o json',
  'history -o json',
  'plan --to v1.8.4 -o json',
  'workloads outdated -o json',
  'workloads forecast -o json',
  'workloads migrations',
  'workloads migrations --history -o json',
  'workloads strategy show -o json',
  'workloads live-update show -o json',
  'workloads restart-required',
  'snapshot -o json',
]

/** Without what is said of the clock, which is a test of its own. */
function silentOfClock(out: string): string {
  if (!out.startsWith('{')) return out.replaceAll(/^.*the clock of this computer.*\n\n?/gmu, '')
  const { clock: _, counts: __, items = [], ...rest } = JSON.parse(out) as Record<string, unknown>
  const others = (items as { id?: string }[]).filter(({ id }) => id !== 'clock-skew')
  return JSON.stringify({ ...rest, items: others }, null, 1)
}

test('whatever only reads answers as from a laptop whose clock is right', async () => {
  await outdated(
    [{ name: 'vm-1', migration: 'fail-once' }, { name: 'vm-2' }, { name: 'vm-3', migration: '20s' }],
    async (stage) => {
      await stage.update({ retries: '0' })
      stage.edit({ imageTag: 'v1.8.3' })
      await stage.until(15 * second)
      await overHttp(stage, async (laptop) => {
        const now = await stage.clock.during(runText(['status'], await laptop(0)))
        expect(now.out).toContain('updating')
        for (const line of reading) {
          const told = async (ahead: number) => {
            const { code, out } = await stage.clock.during(
              laptop(ahead).then((place) => runText(line.split(' '), place)),
            )
            return { line, code, out: toSeconds(silentOfClock(out)).replaceAll(madeUp, '') }
          }
          const right = await told(0)
          for (const [, ahead] of wrong) expect.soft(await told(ahead)).toEqual(right)
        }
      })
    },
  )
})

test.each([
  [
    'status',
    "clock           the clock of this computer is 1 h ahead of the cluster's: kvup shows the cluster's times",
  ],
  [
    'check',
    "the clock of this computer is 1 h ahead of the cluster's: kvup shows the cluster's times (clock-skew)",
  ],
])('kvup %s says that the clock is wrong, and nothing where it is right', async (command, words) => {
  await play(byTag, async (stage) => {
    await overHttp(stage, async (laptop) => {
      const told = async (ahead: number) =>
        (await stage.clock.during(laptop(ahead).then((place) => runText([command], place)))).out
      expect(await told(hour)).toContain(words)
      expect(await told(0)).not.toContain('clock')
    })
  })
})
