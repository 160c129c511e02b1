import { describe, expect, test } from 'vitest'
import type { Pod } from '../../../src/lib/kube/kinds/workload-kinds.ts'
import type { Condition } from '../../../src/lib/kube/object.ts'
import { rolloutTimes } from '../../../src/lib/kubevirt/rollout-times.ts'
import { parseVersion } from '../../../src/lib/releases/release-versions.ts'
import { moments, transcript } from '../../transcripts/to-snapshots.ts'
import { podOf, settled } from './settled.ts'

const second = 1000
const minute = 60 * second
const hour = 60 * minute
const day = 24 * hour

/** One virt-handler pod: created and ready so long after a common beginning. */
interface Start {
  at: number
  took: number
  restarts?: number
  revision?: string
  /** Lost its readiness, and got it back so long after the beginning. */
  backAt?: number
}

/** What is told of virt-handler with these pods, on as many nodes. */
function handler(starts: readonly Start[], desired = starts.length) {
  const { snapshot, handler: set, pods } = settled()
  const like = podOf(pods, 'virt-handler')
  set.status = { ...set.status, desiredNumberScheduled: desired }
  const made = starts.map((start, index) => podLike(like, start, index))
  snapshot.pods = { known: true, items: made }
  return rolloutTimes(snapshot).get('virt-handler')
}

const time = (ms: number) => new Date(Date.parse('2026-11-01T00:00:00Z') + ms).toISOString()

function podLike(like: Pod, { at, took, restarts = 0, revision = 'one', backAt }: Start, index: number): Pod {
  const pod = structuredClone(like)
  pod.metadata = {
    ...pod.metadata,
    name: `virt-handler-${index}`,
    creationTimestamp: time(at),
    labels: { ...pod.metadata.labels, 'controller-revision-hash': revision },
  }
  const condition = (type: string, ms: number): Condition => ({
    type,
    status: 'True',
    lastTransitionTime: time(ms),
  })
  pod.status = {
    phase: 'Running',
    containerStatuses: [{ name: 'virt-handler', ready: true, restartCount: restarts }],
    conditions: [condition('ContainersReady', at + took), condition('Ready', backAt ?? at + took)],
  }
  return pod
}

/** As the operator rolls: the next one is created a second after the one before is ready. */
const inTurn = (count: number, took = 20 * second): Start[] =>
  Array.from({ length: count }, (_, i) => ({ at: i * (took + second), took }))

describe('what the pods of virt-handler tell', () => {
  test('pods that came one after the other were rolled: the length of that roll', () => {
    expect(handler(inTurn(5))).toMatchObject({
      desired: 5,
      atOnce: 1,
      podMs: { low: 20 * second, high: 20 * second },
      pulled: true,
      lastMs: 104 * second,
    })
  })

  test('pods that came all at once were installed: they tell how long one takes, and nothing of a roll', () => {
    const told = handler(Array.from({ length: 5 }, (_, i) => ({ at: 0, took: (30 + i) * second })))
    expect(told).toMatchObject({ podMs: { low: 30 * second, high: 34 * second }, pulled: true })
    expect(told?.lastMs).toBeUndefined()
  })

  test('on 40 nodes four at a time are a roll, five are none', () => {
    const waves = (atOnce: number) =>
      Array.from({ length: 40 }, (_, i) => ({ at: Math.floor(i / atOnce) * 21 * second, took: 20 * second }))
    expect(handler(waves(4))).toMatchObject({ atOnce: 4, lastMs: 209 * second })
    expect(handler(waves(5))?.lastMs).toBeUndefined()
  })

  test('a node that joined a week later is no part of the roll', () => {
    const told = handler([...inTurn(9), { at: 7 * day, took: 3 * minute }])
    expect(told).toMatchObject({ lastMs: 188 * second, podMs: { high: 20 * second }, pulled: true })
  })

  test('pods that were replaced one by one over days tell no roll, and may have found their images there', () => {
    const told = handler(Array.from({ length: 5 }, (_, i) => ({ at: i * day, took: 20 * second })))
    expect(told).toMatchObject({ pulled: false, podMs: { low: 20 * second, high: 20 * second } })
    expect(told?.lastMs).toBeUndefined()
  })

  test('nodes that were rebooted one after the other, four minutes each, are no roll', () => {
    const told = handler(Array.from({ length: 5 }, (_, i) => ({ at: i * 4 * minute, took: 20 * second })))
    expect(told?.pulled).toBe(false)
    expect(told?.lastMs).toBeUndefined()
  })

  test('a pod whose container was restarted does not tell when it first served', () => {
    const restarted = { at: 0, took: 3 * hour, restarts: 1 }
    expect(handler([restarted, { at: 0, took: 30 * second }])?.podMs?.high).toBe(30 * second)
    expect(handler([restarted])?.podMs).toBeUndefined()
  })

  test('a node that was away for a moment does not make its pod a slow one', () => {
    const away = { at: 0, took: 30 * second, backAt: 5 * day }
    expect(handler([away])?.podMs).toEqual({ low: 30 * second, high: 30 * second })
  })

  test('one in ten may be slow without counting', () => {
    const slow = { at: 10 * 21 * second, took: 5 * minute }
    expect(handler([...inTurn(10), slow])?.podMs).toEqual({ low: 20 * second, high: 20 * second })
  })

  test('in the middle of a roll the revision that most pods are of tells how they start, and no length', () => {
    const fresh: Start[] = [9 * day, 9 * day + minute].map((at) => ({
      at,
      took: 50 * second,
      revision: 'two',
    }))
    const told = handler([...inTurn(3), ...fresh])
    expect(told?.podMs).toEqual({ low: 20 * second, high: 20 * second })
    expect(told?.lastMs).toBeUndefined()
  })

  test('pods that may not be listed tell nothing', () => {
    const { snapshot } = settled()
    snapshot.pods = { known: false, why: 'forbidden' }
    const told = rolloutTimes(snapshot).get('virt-handler')
    expect(told).toEqual({ kind: 'DaemonSet', desired: 3, atOnce: 1, pulled: false })
  })
})

const lengths = (snapshot = settled().snapshot) =>
  Object.fromEntries([...rolloutTimes(snapshot)].map(([name, { lastMs }]) => [name, lastMs]))

test('the recorded update is seen in its pods afterwards, and the installation before it is not one', () => {
  const all = [...moments(transcript('operator-v1.7.0-v1.8.4'), { leases: 'unknown' })]
  const before = all.findLast(({ line }) => line.note?.startsWith('kubectl apply'))
  const after = all.at(-1)
  expect(lengths(before?.snapshot)).toEqual({
    'virt-operator': undefined,
    'virt-handler': undefined,
    'virt-controller': undefined,
    'virt-api': undefined,
  })
  const observed = lengths(after?.snapshot)
  // Canary, second and third pod: 10.3 s in the recording from the first write to maxUnavailable 1 again.
  expect(observed['virt-handler']).toBeGreaterThanOrEqual(6 * second)
  expect(observed['virt-handler']).toBeLessThanOrEqual(10 * second)
  expect(observed['virt-operator']).toBe(6 * second)
})

test('by 10 % on 200 nodes, and Deployments by their strategy', () => {
  const { snapshot, handler: set, api } = settled()
  set.status = { ...set.status, desiredNumberScheduled: 195 }
  api.spec = {
    ...api.spec,
    replicas: 20,
    strategy: { rollingUpdate: { maxSurge: 1, maxUnavailable: '10%' } },
  }
  const times = rolloutTimes(snapshot)
  expect(times.get('virt-handler')).toMatchObject({ desired: 195, atOnce: 20 })
  expect(times.get('virt-api')).toMatchObject({ desired: 20, atOnce: 3 })
  expect(times.get('virt-controller')).toMatchObject({ desired: 2, atOnce: 1 })
})

test('lab Seen 6: v1.9 brings Deployments by itself, once', () => {
  const { snapshot, kubevirt } = settled()
  const fresh = (target: string) =>
    [...rolloutTimes(snapshot, parseVersion(target))].filter(([, { isNew }]) => isNew).map(([name]) => name)
  expect(fresh('v1.9.0')).toEqual(['virt-exportproxy', 'virt-template-apiserver', 'virt-template-controller'])
  expect(fresh('v1.8.5')).toEqual([])
  kubevirt.status = { ...kubevirt.status, observedKubeVirtVersion: 'v1.9.0' }
  expect(fresh('v1.9.1')).toEqual([])
})
