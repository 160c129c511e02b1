// An upgrade under each fault of an API server: more than 3 s of processor time.
import { describe, expect, test } from 'vitest'
import { ApiError } from '../../src/lib/kube/errors.ts'
import type { ApiFault } from './api-faults.ts'
import { withBadWatches } from './bad-watches.ts'
import { expectEnd, isEvery, shuffled } from './killed.ts'
import { byManifest, byTag, minute, briefly as play, second, type Stage } from './stage.ts'

/** After `from`, for `length` ms: the server as `fault` has it. */
function during(stage: Stage, fault: ApiFault, from: number, length: number): void {
  stage.later(from, () => {
    const lift = stage.api.add(fault)
    stage.later(length, lift)
  })
}

const user = 'kubernetes-admin'
const passing: readonly { name: string; fault: ApiFault; said?: RegExp }[] = [
  {
    name: '429',
    fault: { is: 'refused', status: 429, on: { user } },
    said: /kvup retries: .*\nthe cluster answers again/u,
  },
  {
    name: '500',
    fault: { is: 'refused', status: 500, on: { user } },
    said: /kvup retries: .*\nthe cluster answers again/u,
  },
  { name: '503 while the API server restarts', fault: { is: 'refused', status: 503, on: { user } } },
  { name: '500 to every write', fault: { is: 'refused', status: 500, on: { user, verb: 'patch' } } },
  { name: 'answers that take two seconds', fault: { is: 'slow', ms: 2000, on: { user } } },
  { name: '401', fault: { is: 'unauthorized', on: { user } }, said: /log in/ },
]

/** By the manifest, which asks for more, a fault that is drawn by the seed. */
const cases = [
  { method: 'image tag', shape: byTag, to: 'v1.8.4', faults: passing },
  {
    method: 'operator manifest',
    shape: byManifest,
    to: 'v1.9.0',
    faults: shuffled(passing, ({ name }) => name).slice(0, isEvery ? undefined : 1),
  },
] as const

describe.for(cases)('faults of the API server, $method', ({ shape, to, faults }) => {
  test.for(faults)('$name for a minute, again and again: the run goes on', async ({ fault, said }) => {
    await play(shape, async (stage) => {
      for (const from of [1, 75, 150]) during(stage, fault, from * second, minute)
      const ended = await stage.upgrade(to, {}, { cluster: stage.shaky })
      expect(ended.code).toBe(0)
      expect(ended.text).toMatch(said ?? /./)
      expect(stage.methods).toEqual(['LiveMigrate'])
      expect(await stage.journal.overrides()).toEqual([])
    })
  })
})

test('a watch that is dying, or silent, costs time, not the run', async () => {
  let normal = 0
  await play(byManifest, async (stage) => {
    normal = (await stage.upgrade('v1.9.0')).took
  })
  for (const badness of [{ is: 'dying', after: 3 }, { is: 'silent' }] as const)
    await play(byManifest, async (stage) => {
      const cluster = withBadWatches(stage.cluster, badness)
      const ended = await stage.upgrade('v1.9.0', {}, { cluster })
      expect(ended.code).toBe(0)
      expect(ended.took).toBeLessThan(10 * normal)
      await expectEnd(stage, stage.kubevirt.spec)
    })
})

test('a server that is gone for good: exit 4 at --timeout, what it was like is said', async () => {
  await play(byTag, async (stage) => {
    stage.later(10 * second, () => stage.api.add({ is: 'refused', status: 503, on: { user } }))
    const ended = await stage.upgrade('v1.8.4', { timeout: '5m' }, { cluster: stage.shaky })
    expect(ended).toMatchObject({ code: 4 })
    expect(ended.text).toContain('unable to handle the request')
    expect(ended.text).toContain('kvup workloads resume-updates')
  })
})

test('401 for good: it waits, says how to go on, and ends in exit 4 at --timeout; nothing is given up before', async () => {
  await play(byTag, async (stage) => {
    stage.later(10 * second, () => stage.api.add({ is: 'unauthorized', on: { user } }))
    const ended = await stage.upgrade('v1.8.4', { timeout: '5m' }, { cluster: stage.shaky })
    expect(ended.code).toBe(4)
    expect(ended.text).toContain('log in again')
    expect(Math.round(ended.took / minute)).toBe(5)
    stage.api.clear()
    expect(await stage.upgrade('v1.8.4')).toMatchObject({ code: 0 })
  })
})

test('403 in the middle is told at once: exit 7', async () => {
  await play(byTag, async (stage) => {
    const { reader, reviewer, writer } = stage.cluster
    const cluster = {
      reader,
      reviewer,
      writer: {
        ...writer,
        mergePatch: async (...call: Parameters<typeof writer.mergePatch>) => {
          if (call[0].plural === 'kubevirts') throw new ApiError(403, 'Forbidden', 'kubevirts is forbidden')
          return writer.mergePatch(...call)
        },
      },
    }
    const ended = await stage.upgrade('v1.8.4', {}, { cluster: cluster as typeof stage.cluster })
    expect(ended.code).toBe(7)
    expect(stage.methods).toEqual(['LiveMigrate'])
  })
})
