import fs from 'node:fs'
import path from 'node:path'
import { describe, expect, test } from 'vitest'
import { assessRollout } from '../../src/lib/kubevirt/rollout-status.ts'
import { judge } from './judge.ts'
import { type Line, moments, transcript } from './to-snapshots.ts'

/**
 * Every recorded update of the real virt-operator, and when it was done by the conditions of its resource, in seconds since the start:
 * after the installation, and after each change. Two of v1.8.4 fall back for some seconds (lab "Seen" 2, 3).
 */
const recorded: Readonly<Record<string, { dones: readonly number[]; doubts?: readonly string[] }>> = {
  'badtag-v1.8.4-v1.8.5': { dones: [46.1, 129.8] },
  'badtag-v1.9.0-v1.9.1': { dones: [129.4, 164.6, 331.5, 398.8] },
  'chain-v1.6.0-v1.7.0-v1.8.4': { dones: [82.5, 200.3, 325.5], doubts: ['handler-roll-to-come'] },
  'imagetag-v1.7.0-v1.8.4': { dones: [42.4, 95.4] },
  'imagetag-v1.8.4-v1.9.0': { dones: [45.4, 98.9] },
  'oldop-v1.7.0-v1.8.4': { dones: [79, 202.2] },
  'operator-v1.5.2-v1.6.0': { dones: [74.1, 192.1] },
  'operator-v1.6.0-v1.7.0': { dones: [64.8, 169.1], doubts: ['handler-roll-to-come'] },
  'operator-v1.6.0-v1.7.0-1w': { dones: [76.4, 170.8] },
  'operator-v1.7.0-v1.8.4': { dones: [70.6, 146.9] },
  'operator-v1.8.4-v1.9.0-slow-webhook': { dones: [52.5, 307.9] },
  'operator-v1.8.4-v1.9.0': { dones: [39.9, 49.2, 111.2] },
  'workloads-v1.7.0-v1.8.4': { dones: [74.4, 152.6, 175.5, 267.2] },
}

test('every recording is judged', () => {
  const files = fs.readdirSync(path.join(import.meta.dirname, 'recorded'))
  expect(files.toSorted()).toEqual(
    Object.keys(recorded)
      .map((name) => `${name}.ndjson.gz`)
      .toSorted(),
  )
})

const rounded = (ms: number | undefined) => Math.round((ms ?? Number.NaN) / 100) / 10

describe.each(['from events', 'unknown'] as const)('with Leases %s', (leases) => {
  describe.each(Object.entries(recorded))('%s', (name, { dones, doubts = [] }) => {
    const judged = judge(transcript(name), { leases })

    test('the real operator was done when it says so itself', () => {
      expect(judged.dones.map(({ at }) => rounded(at))).toEqual(dones)
      expect(judged.said.length).toBeGreaterThan(80)
    })

    test('is never Settled before the real operator is done, nor while virt-handler is being rolled', () => {
      expect(judged.early.map(({ line }) => `${line.t} ${line.object?.kind}`)).toEqual([])
    })

    test('is Settled at the very line at which it is', () => {
      expect(judged.late).toEqual([])
      expect(judged.dones.map(({ settledAt }) => rounded(settledAt))).toEqual(dones)
    })

    test('and says Settled for as long as it lasts', () => {
      const during = judged.said.filter(({ own, rolling }) => own && !rolling)
      expect(during.filter(({ verdict }) => verdict !== 'Healthy')).toEqual([])
      expect(during.length).toBeGreaterThan(dones.length)
    })

    test('names no doubt but those that are known of it', () => {
      expect([...new Set(judged.dones.flatMap((done) => done.doubts))]).toEqual(doubts)
    })
  })
})

test('lab 9: at 299 s of the chain virt-handler is ready everywhere and 1 of 3 is new: a roll that has begun', () => {
  const said = judge(transcript('chain-v1.6.0-v1.7.0-v1.8.4'), { leases: 'from events' }).said
  const found = said.find(({ line }) => line.t >= 299_400 && line.object?.kind === 'DaemonSet')
  expect(found).toMatchObject({ verdict: 'Updating', rolling: true })
})

/** What a person would see of a roll that begins after KubeVirt was done, whatever it says meanwhile. */
test('the same moment with KubeVirt saying that it is done: it is waited for all the same', () => {
  const all = [...moments(transcript('chain-v1.6.0-v1.7.0-v1.8.4'), { leases: 'from events' })]
  const last = all.at(-1)
  const rolling = all.find(({ line }) => line.t >= 299_400 && line.object?.kind === 'DaemonSet')
  if (!last || !rolling) throw new Error('the recording lacks it')
  const snapshot = { ...last.snapshot, daemonsets: rolling.snapshot.daemonsets }
  const { verdict, waitingFor } = assessRollout(snapshot, new Date(last.line.at))
  expect(assessRollout(last.snapshot, new Date(last.line.at)).verdict).toBe('Healthy')
  expect(verdict).not.toBe('Healthy')
  expect(waitingFor).toMatch(/^virt-handler: 1\/3 updated/)
})

const again = (t: number, line: Line): Line => ({
  ...line,
  t,
  at: new Date(Date.parse(line.at) + t - line.t).toISOString(),
})

describe('a recording that is judged wrongly by whoever judges it', () => {
  const lines = transcript('operator-v1.7.0-v1.8.4')
  const ends = lines.findIndex(({ t }) => t >= 146_890)

  test('a roll that goes on for 20 s behind KubeVirt being done is not late: it is waited for', () => {
    const handler = lines.findLast(({ object }) => object?.kind === 'DaemonSet')
    if (!handler?.object) throw new Error('no virt-handler in it')
    const rolling = structuredClone(handler)
    const status = (rolling.object as { status?: Record<string, number> }).status ?? {}
    status['updatedNumberScheduled'] = 1
    const judged = judge(
      [
        ...lines.slice(0, ends - 1),
        again(146_800, rolling),
        ...lines.slice(ends - 1),
        again(177_500, handler),
      ],
      { leases: 'unknown' },
    )
    expect(judged.dones.at(-1)).toMatchObject({ at: 177_500, settledAt: 177_500 })
    expect({ early: judged.early, late: judged.late }).toEqual({ early: [], late: [] })
  })

  test('a pod of an operator that never spoke again keeps nobody from seeing that it was done', () => {
    const judged = judge(lines.slice(0, ends - 40), { leases: 'unknown' })
    expect(judged.dones.map(({ at }) => at)).toEqual([70_610])
  })
})

test('lab Seen 3, 16: an edit of the methods alone is Updating for its seconds of Available=False, never Degraded', () => {
  const lines = judge(transcript('workloads-v1.7.0-v1.8.4'), { leases: 'from events' }).said
  const from = lines.findIndex(({ line }) => line.note === 'methods [LiveMigrate]')
  const until = lines.findIndex(({ line }) => line.note?.startsWith('methods [LiveMigrate, Evict]'))
  const observed = lines.slice(from, until).map(({ verdict }) => verdict)
  expect(new Set(observed)).toEqual(new Set(['Healthy', 'Updating']))
  expect(observed.at(-1)).toBe('Healthy')
})

test('lab Seen 5: a wrong tag is Stalled within 30 s of the failing pull, and names pod and image', () => {
  const all = [...moments(transcript('badtag-v1.8.4-v1.8.5'), { leases: 'from events' })]
  const pull = all.find(({ line }) => JSON.stringify(line.object ?? '').includes('ErrImagePull'))
  if (!pull) throw new Error('no failing pull in the transcript')
  const at = (seconds: number) =>
    assessRollout(pull.snapshot, new Date(Date.parse(pull.line.at) + seconds * 1000))
  expect(at(0).verdict).toBe('Updating')
  expect(at(30).verdict).toBe('Stalled')
  expect(at(30).why.map((cause) => cause.sentence)).toEqual([
    expect.stringMatching(
      /^pod kubevirt-f7d28d\S+ of the install strategy cannot pull quay.io\/kubevirt\/virt-operator:v1.8.5: not found$/,
    ),
  ])
})

test('lab Seen 13: an operator that may not grant the new rights is Degraded after a minute, and the rights are named', () => {
  const all = [...moments(transcript('oldop-v1.7.0-v1.8.4'), { leases: 'from events' })]
  const failed = all.find(({ line }) => JSON.stringify(line.object ?? '').includes('DeploymentFailed'))
  if (!failed) throw new Error('no DeploymentFailed in the transcript')
  const at = (seconds: number) =>
    assessRollout(failed.snapshot, new Date(Date.parse(failed.line.at) + seconds * 1000))
  expect(at(30).verdict).toBe('Updating')
  expect(at(61).verdict).toBe('Degraded')
  const [cause] = at(61).why
  expect(cause?.kind).toBe('forbidden')
  expect(cause?.sentence).toContain(
    'needs (backup.kubevirt.io): it may not grant clusterroles kubevirt.io:admin',
  )
  expect(cause?.commands).toContain('kvup upgrade --to v1.8.4 --method operator-manifest')
})
