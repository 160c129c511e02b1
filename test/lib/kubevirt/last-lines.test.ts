import { expect, test } from 'vitest'
import type { LogOptions } from '../../../src/lib/kube/cluster.ts'
import type { Pod } from '../../../src/lib/kube/kinds/workload-kinds.ts'
import { type Cause, LastLines } from '../../../src/lib/kubevirt/diagnosis/pod-trouble.ts'
import type { Snapshot } from '../../../src/lib/kubevirt/snapshot.ts'
import { SimClock } from '../../../src/simulator/simulated-clock.ts'
import { ApiError } from '../../../src/lib/kube/errors.ts'
import { podOf, settled } from './settled.ts'

function crashing(restartCount: number, again = true): { snapshot: Snapshot; why: Cause[]; pod: Pod } {
  const { snapshot, pods } = settled()
  const pod = podOf(pods, 'virt-handler')
  const lastState = again ? { terminated: { exitCode: 1 } } : {}
  pod.status = { ...pod.status, containerStatuses: [{ name: 'virt-handler', restartCount, lastState }] }
  const why: Cause[] = [cause({ kind: 'crash', pods: [pod.metadata.name], container: 'virt-handler' })]
  return { snapshot, why, pod }
}

function cause(more: Partial<Cause>): Cause {
  return {
    kind: 'crash',
    component: 'virt-handler',
    reason: 'CrashLoopBackOff',
    terminal: true,
    namespace: 'kubevirt',
    pods: [],
    nodes: [],
    sentence: '',
    commands: [],
    ...more,
  }
}

function logs(answer: (options: LogOptions) => string | Promise<string>) {
  const asked: LogOptions[] = []
  const clock = new SimClock()
  const log = async (_: unknown, options: LogOptions = {}) => {
    asked.push(options)
    return answer(options)
  }
  return { asked, clock, from: { reader: { log }, clock } }
}

test('once per restart, however often it is looked', async () => {
  const { asked, from } = logs(() => 'no kvm\n')
  const lines = new LastLines()
  for (const restarts of [3, 3, 3, 4]) {
    const { snapshot, why, pod } = crashing(restarts)
    expect(await lines.of(from, snapshot, why)).toEqual([
      { pod: pod.metadata.name, container: 'virt-handler', text: 'no kvm' },
    ])
  }
  expect(asked).toHaveLength(2)
  expect(asked[0]).toMatchObject({ container: 'virt-handler', previous: true })
})

test('a container that was never started again has no previous log to ask for', async () => {
  const { asked, from } = logs(() => 'x')
  const { snapshot, why } = crashing(0, false)
  await new LastLines().of(from, snapshot, why)
  expect(asked[0]).toMatchObject({ previous: false })
})

test.each([403, 404, 400, 500, 0])('a %i is silence, and is not asked again', async (status) => {
  const { asked, from } = logs(() => {
    throw new ApiError(status, 'Refused', 'no')
  })
  const lines = new LastLines()
  const { snapshot, why } = crashing(1)
  expect(await lines.of(from, snapshot, why)).toEqual([])
  expect(await lines.of(from, snapshot, why)).toEqual([])
  expect(asked).toHaveLength(1)
})

test('a node that does not answer costs three seconds, once', async () => {
  const { clock, from } = logs(
    ({ signal }) =>
      new Promise((_, reject) =>
        signal?.addEventListener('abort', () => reject(signal.reason), { once: true }),
      ),
  )
  const began = clock.now().getTime()
  const { snapshot, why } = crashing(1)
  const lines = new LastLines()
  expect(await lines.of(from, snapshot, why)).toEqual([])
  expect(await lines.of(from, snapshot, why)).toEqual([])
  expect(clock.now().getTime() - began).toBe(3000)
})

test('a bug of ours is no silence', async () => {
  const { from } = logs(() => {
    throw new TypeError('bug')
  })
  const { snapshot, why } = crashing(1)
  await expect(new LastLines().of(from, snapshot, why)).rejects.toThrow('bug')
})

test('nothing is read where nothing ends: not for an image, nor for a Lease that nobody renews', async () => {
  const { asked, from } = logs(() => 'x')
  const { snapshot, pod } = crashing(1)
  const why = [
    cause({ kind: 'image', pods: [pod.metadata.name] }),
    cause({ kind: 'quiet', reason: 'LeaseNotRenewed' }),
  ]
  expect(await new LastLines().of(from, snapshot, why)).toEqual([])
  expect(asked).toEqual([])
})

test('of many causes three are read', async () => {
  const { asked, from } = logs(() => 'x')
  const { snapshot, pods } = settled()
  const why = pods.slice(0, 5).map(({ metadata }) => cause({ pods: [metadata.name] }))
  await new LastLines().of(from, snapshot, why)
  expect(asked).toHaveLength(3)
})
