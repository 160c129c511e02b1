import { expect, test } from 'vitest'
import type { Change, Reader } from '../../../../src/lib/kube/cluster.ts'
import type { VirtualMachineInstanceMigration } from '../../../../src/lib/kube/kinds/kubevirt-kinds.ts'
import { SimClock } from '../../../../src/simulator/simulated-clock.ts'
import { MigrationWatch } from '../../../../src/lib/vms/migrations/migration-watch.ts'

type Told = Change<VirtualMachineInstanceMigration>

function migration(uid: string, phase: string): VirtualMachineInstanceMigration {
  return {
    apiVersion: 'kubevirt.io/v1',
    kind: 'VirtualMachineInstanceMigration',
    metadata: { name: uid, namespace: 'demo', uid },
    spec: { vmiName: `vm-${uid}` },
    status: { phase },
  }
}

const idle = (): void => undefined

/** Watches that say what they are given; `there` is what the cluster has. */
function scene() {
  const streams: { say: (told: Told) => Promise<void>; signal: AbortSignal }[] = []
  const there: VirtualMachineInstanceMigration[] = []
  async function* follow(_kind: unknown, _where: unknown, signal: AbortSignal) {
    const waiting: Told[] = []
    let wake = idle
    const say = async (told: Told) => {
      waiting.push(told)
      wake()
      for (let turns = 0; turns < 10; turns++) await Promise.resolve()
    }
    streams.push({ say, signal })
    for (const object of there) yield { type: 'added', object }
    yield { type: 'synced' }
    for (;;) {
      const next = waiting.shift()
      if (next !== undefined) yield next
      else
        await new Promise<void>((resolve) => {
          wake = resolve
        })
    }
  }
  const list = async (_kind: unknown, { name }: { name: string }) =>
    there.filter(({ metadata }) => metadata.name === name)
  const clock = new SimClock()
  const reader = { watch: follow, list } as unknown as Reader
  const watched = new MigrationWatch({ reader, clock, since: 0 })
  const open = async () => (await watched.read())?.ledger.open.map(({ uid }) => uid)
  return { followed: watched, streams, there, clock, open }
}

test('what was made counts at once, and once, whether the watch tells of it before the answer or after', async () => {
  const { followed: watched, streams, open } = scene()
  expect(await open()).toEqual([])
  watched.expect()
  watched.made(migration('a', ''))
  expect(await open()).toEqual(['a'])
  await streams[0]?.say({ type: 'added', object: migration('a', 'Succeeded') })
  expect(await open()).toEqual([])
  watched.expect()
  await streams[0]?.say({ type: 'added', object: migration('b', 'Pending') })
  await streams[0]?.say({ type: 'modified', object: migration('b', 'Failed') })
  watched.made(migration('b', ''))
  expect(await open()).toEqual([])
  expect((await watched.read())?.ledger.finished()).toEqual({ succeeded: 1, failed: 1 })
  watched.close()
})

test('while changes may be missed nothing is claimed; a look does not change behind whoever decides by it', async () => {
  const { followed: watched, streams, open } = scene()
  const before = await watched.read()
  await streams[0]?.say({ type: 'added', object: migration('a', 'Running') })
  expect(before?.ledger.open).toEqual([])
  expect(await open()).toEqual(['a'])
  await streams[0]?.say({ type: 'lost', why: 'cut' })
  expect(await open()).toBeUndefined()
  await streams[0]?.say({ type: 'synced' })
  expect(await open()).toEqual(['a'])
  watched.close()
})

test('a watch that is silent although the cluster says otherwise is begun anew, one whose event is late is not', async () => {
  const { followed: watched, streams, there, clock, open } = scene()
  there.push(migration('a', 'Running'))
  const [first] = [streams[0]]
  await first?.say({ type: 'added', object: migration('a', 'Running') })
  await clock.sleep(61_000)
  there[0] = migration('a', 'Succeeded')
  expect(await open()).toEqual(['a'])
  await first?.say({ type: 'modified', object: migration('a', 'Succeeded') })
  expect(await open()).toEqual([])
  expect(streams).toHaveLength(1)

  there.push(migration('b', 'Running'))
  await first?.say({ type: 'added', object: migration('b', 'Running') })
  there[1] = migration('b', 'Failed')
  await clock.sleep(61_000)
  expect(await open()).toEqual(['b'])
  expect(await open()).toEqual([])
  expect(streams).toHaveLength(2)
  expect(first?.signal.aborted).toBe(true)
  watched.close()
})
