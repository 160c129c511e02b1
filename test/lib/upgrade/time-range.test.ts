import { describe, expect, test } from 'vitest'
import type { RolloutTimes } from '../../../src/lib/kubevirt/rollout-times.ts'
import {
  type JournalTimes,
  rangeWords,
  type TimedStep,
  timeRange,
} from '../../../src/lib/upgrade/upgrade-duration.ts'

const second = 1000
const minute = 60 * second
const step = (id: string, { estimate = 2 * second, atMost = 5 * minute } = {}): TimedStep => ({
  id,
  title: id,
  estimate,
  patience: { every: second, atMost },
})
const roll = [
  step('set-image-tag'),
  step('install-strategy', { estimate: 15 * second, atMost: 30 * minute }),
  step('virt-handler', { estimate: 19 * second, atMost: 720 * minute }),
  step('virt-controller', { estimate: 16 * second }),
  step('virt-api', { estimate: 16 * second }),
  step('healthy', { estimate: 35 * second }),
]
const handler: RolloutTimes = { kind: 'DaemonSet', desired: 20, atOnce: 2, pulled: true }
const deployment: RolloutTimes = { kind: 'Deployment', desired: 2, atOnce: 1, pulled: true }
const components = (more: Partial<RolloutTimes>, ofHandler: Partial<RolloutTimes> = more) =>
  new Map<string, RolloutTimes>([
    ['virt-handler', { ...handler, ...ofHandler }],
    ['virt-controller', { ...deployment, ...more }],
    ['virt-api', { ...deployment, ...more }],
  ])
const never: JournalTimes = { whole: [], spans: [] }
const pod = { low: 20 * second, high: 30 * second }
const ownPods = components({ podMs: pod })

const of = (times: ReadonlyMap<string, RolloutTimes>, id = 'virt-handler') =>
  timeRange(roll, times, never).steps.get(id)

describe('one component', () => {
  test('virt-handler is a canary and then two pods at a time, each between the fastest and slower than the slowest', () => {
    // 1 + 19/2 pods in turn of 20 s × 0.7; 1 + 10 of 30 s × 1.5 + 10 s, and 10 s of the operator's.
    expect(of(ownPods)).toEqual({
      lowSeconds: 120,
      highSeconds: 660,
      atMostSeconds: 43_200,
      basis: 'own-pods',
    })
  })

  test('a Deployment of two: one after the other', () => {
    expect(of(ownPods, 'virt-api')).toEqual({
      lowSeconds: 25,
      highSeconds: 120,
      atMostSeconds: 300,
      basis: 'own-pods',
    })
  })

  test('one node: only the canary', () => {
    const single = components({ podMs: pod }, { podMs: pod, desired: 1, atOnce: 1 })
    expect(of(single)).toMatchObject({ lowSeconds: 10, highSeconds: 90 })
  })

  test('pods that may have found their images on the node leave a minute each for pulling', () => {
    const cached = components({ podMs: pod, pulled: false })
    expect(of(cached, 'virt-api')?.highSeconds).toBe(240)
  })

  test('the length of an earlier roll counts more than the pods', () => {
    const observed = components({ podMs: pod, lastMs: 100 * second })
    expect(of(observed)).toMatchObject({ lowSeconds: 60, highSeconds: 240, basis: 'own-rollouts' })
  })

  test('whose pods tell nothing is taken to be as the others', () => {
    const mute = components({ podMs: pod }, {})
    expect(of(mute)).toMatchObject({ lowSeconds: 120, highSeconds: 660, basis: 'own-pods' })
  })

  test('virt-api waits for what comes with the target, if it comes', () => {
    const times = new Map([...ownPods, ['virt-new', { ...deployment, atOnce: 2, isNew: true as const }]])
    expect(of(times, 'virt-api')).toMatchObject({ lowSeconds: 25, highSeconds: 180 })
  })

  test('virt-operator has the Lease of the old one to wait for', () => {
    const times = new Map([...ownPods, ['virt-operator', { ...deployment, podMs: pod }]])
    const range = timeRange([step('virt-operator')], times, never)
    expect(range.steps.get('virt-operator')).toMatchObject({ lowSeconds: 25, highSeconds: 150 })
  })
})

test('nothing is known: it says that it guesses, from the readiness probes', () => {
  const range = timeRange(roll, components({}), never)
  expect(range).toMatchObject({ basis: 'guess', lowSeconds: 240, highSeconds: 1200 })
  expect(range.says).toMatch(/^4 to 20 min, a guess: kvup does not know how long pods take to start here; /)
})

test('it says what it is made from, and that images have to be pulled', () => {
  expect(timeRange(roll, ownPods, never).says).toBe(
    "3 to 16 min, from the start times of this cluster's pods; the upper limit includes the time to pull the new images",
  )
})

test('the worst of what the components are known from is said of all', () => {
  const mixed = components({ podMs: pod }, { lastMs: 100 * second })
  expect(timeRange(roll, mixed, never).basis).toBe('own-pods')
})

test('steps that roll nothing add up to little, and nothing is said of images', () => {
  const range = timeRange([step('resume-workload-updates'), step('healthy-again')], ownPods, never)
  expect(range).toMatchObject({ lowSeconds: 0, highSeconds: 30 })
  expect(range.says).toMatch(/^less than 1 min, /)
  expect(range.says).not.toContain('images')
})

test('a step that nobody has timed is taken from its estimate, and a guess', () => {
  const range = timeRange([step('something-new', { estimate: 40 * second })], ownPods, never)
  expect(range.steps.get('something-new')).toMatchObject({ lowSeconds: 20, highSeconds: 120, basis: 'guess' })
})

test('the pinned version under the new operator is a roll of its own (night U2)', () => {
  const pinned = step('healthy-at-old-version', { estimate: 35 * second })
  const range = timeRange([pinned], ownPods, never)
  const once = timeRange(roll.slice(1), ownPods, never)
  expect(range).toMatchObject({ highSeconds: once.highSeconds, basis: 'own-pods' })
  expect(range.lowSeconds).toBeLessThan(once.lowSeconds)
})

describe('steps whose end is up to others', () => {
  const waits = [
    step('migrations-in-flight', { estimate: 30 * second, atMost: 30 * minute }),
    ...roll,
    step('workloads', { estimate: 600 * second, atMost: 1440 * minute }),
  ]

  test('are not counted, and that is said', () => {
    const range = timeRange(waits, ownPods, never)
    const without = timeRange(roll, ownPods, never)
    expect([range.lowSeconds, range.highSeconds]).toEqual([without.lowSeconds, without.highSeconds])
    expect(range.steps.get('workloads')).toEqual({
      lowSeconds: 0,
      highSeconds: 0,
      atMostSeconds: 86_400,
      basis: 'guess',
    })
    expect(range.says).toMatch(/; plus, of unknown duration: migrations-in-flight, workloads$/)
  })

  test('so is a commit that somebody else has to make', () => {
    const commit = { estimate: 300 * second, atMost: 1440 * minute }
    const range = timeRange(
      [step('pause-workload-updates', commit), step('version-committed', commit)],
      ownPods,
      never,
    )
    expect(range.highSeconds).toBe(0)
    expect(range.says).toContain('plus, of unknown duration: pause-workload-updates, version-committed')
  })

  test('are counted as long as they took before', () => {
    const steps = [step('pause-workload-updates'), ...waits.slice(0, -1)]
    const spans = [{ after: 'pause-workload-updates', before: 'set-image-tag', ms: 5 * minute }]
    const range = timeRange(steps, ownPods, { whole: [], spans })
    expect(range.steps.get('migrations-in-flight')).toMatchObject({
      lowSeconds: 0,
      highSeconds: 480,
      basis: 'own-rollouts',
    })
    expect(range.highSeconds - timeRange(roll, ownPods, never).highSeconds).toBeGreaterThanOrEqual(480)
    expect(range.says).not.toContain('not counted')
  })
})

const after = (ms: number) => ({ after: 'set-image-tag', before: 'resume-workload-updates', ms })

describe('earlier upgrades by kvup', () => {
  const steps = [...roll, step('resume-workload-updates'), step('healthy-again')]
  const ranged = (...took: number[]) =>
    timeRange(steps, ownPods, { whole: took.map((ms) => ms + minute), spans: took.map(after) })
  const plain = timeRange(steps, ownPods, never)

  test('narrow the whole to what the roll took, and count as earlier roll-outs', () => {
    const range = ranged(8 * minute)
    // 0.6 and 1.6 times 8 min, and half a minute for giving back.
    expect(range).toMatchObject({ lowSeconds: 270, highSeconds: 840, basis: 'own-rollouts' })
    expect(range.lowSeconds).toBeGreaterThan(plain.lowSeconds)
    expect(range.highSeconds).toBeLessThan(plain.highSeconds)
    expect(range.says).toMatch(
      /^4 to 14 min, from this cluster's own rollouts; .*; the last upgrade with kvup took about 9 min$/,
    )
  })

  test('widen it where the cluster did not do as its pods let expect', () => {
    expect(ranged(40 * minute)).toMatchObject({ lowSeconds: plain.lowSeconds, highSeconds: 3900 })
    expect(ranged(minute).lowSeconds).toBe(35)
  })

  test('several: from the fastest to the slowest', () => {
    const [one, two] = [ranged(6 * minute), ranged(6 * minute, 9 * minute)]
    expect(two.lowSeconds).toBe(one.lowSeconds)
    expect(two.highSeconds).toBeGreaterThan(one.highSeconds)
  })

  test('leave the steps as they are: the journal does not tell how a span was spread over them', () => {
    expect(ranged(8 * minute).steps).toEqual(plain.steps)
  })

  test('by another method say nothing of this one', () => {
    const spans = [{ after: 'apply-operator-manifest', before: 'resume-workload-updates', ms: 40 * minute }]
    expect(timeRange(steps, ownPods, { whole: [], spans })).toEqual(plain)
  })
})

test.each([
  [0, 40, 'less than 1 min'],
  [0, 90, 'up to 2 min'],
  [31, 271, '30 s to 5 min'],
  [64, 236, '1 to 4 min'],
  [245, 260, '4 to 5 min'],
  [300, 300, 'about 5 min'],
  [1000, 3200, '16 to 55 min'],
  [4000, 9000, '1 to 3 h'],
])('%i to %i s is said as %s', (low, high, words) => {
  expect(rangeWords({ low: low * second, high: high * second })).toBe(words)
})
