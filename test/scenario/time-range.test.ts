import { describe, expect, test } from 'vitest'
import { rolloutTimes } from '../../src/lib/kubevirt/rollout-times.ts'
import { statusParts, takeSnapshot } from '../../src/lib/kubevirt/snapshot.ts'
import type { PlanDocument } from '../../src/lib/upgrade/plan/plan-document.ts'
import type { StepSummary } from '../../src/lib/engine/step.ts'
import { parseVersion } from '../../src/lib/releases/release-versions.ts'
import {
  journalTimes,
  type TimedStep,
  type TimeRange,
  timeRange,
} from '../../src/lib/upgrade/upgrade-duration.ts'
import { byManifest, byTag, minute, play, type Stage } from './stage.ts'

interface Upgraded {
  range: TimeRange
  /** s. */
  took: number
  /** What each step took, s; without those that were not known before. */
  steps: ReadonlyMap<string, number>
}

/** What the cluster and the journal tell before an upgrade, and what it took then. */
async function upgraded(stage: Stage, to: string): Promise<Upgraded> {
  const snapshot = await takeSnapshot(stage.cluster.reader, statusParts, stage.clock)
  const times = rolloutTimes(snapshot, parseVersion(to))
  const history = journalTimes(await stage.journal.entries())
  const { code, took, events } = await stage.upgrade(to)
  expect(code).toBe(0)
  const known = events.flatMap((event) => (event.kind === 'run-started' ? event.steps : []))
  const range = timeRange(known.map(asTimed), times, history)
  const done = events.flatMap((event) => (event.kind === 'step-done' ? [event] : []))
  const steps = done.filter(({ step }) => range.steps.has(step.id))
  return {
    range,
    took: took / 1000,
    steps: new Map(steps.map(({ step, tookMs }) => [step.id, tookMs / 1000])),
  }
}

const asTimed = ({ id, title, estimate }: StepSummary): TimedStep => ({
  id,
  title,
  estimate,
  patience: { every: minute, atMost: minute },
})

function expectWithin({ range, took, steps }: Upgraded): void {
  expect(took).toBeGreaterThanOrEqual(range.lowSeconds)
  expect(took).toBeLessThanOrEqual(range.highSeconds)
  const outside = [...steps].filter(([id, lasted]) => {
    const { lowSeconds = Number.NaN, highSeconds = Number.NaN } = range.steps.get(id) ?? {}
    return !(lasted >= lowSeconds && lasted <= highSeconds)
  })
  expect(steps.size).toBeGreaterThan(8)
  expect(outside).toEqual([])
}

describe.each([3, 40])('%i nodes', (workers) => {
  test('an upgrade by tag takes as long as was said', async () => {
    await play({ ...byTag, workers }, async (stage) => {
      const observed = await upgraded(stage, 'v1.8.4')
      expectWithin(observed)
      expect(observed.range.basis).toBe('own-pods')
      expect(observed.range.highSeconds).toBeLessThan(observed.took * 5)
    })
  })
})

test('so does one by manifest, and the next minor after it, from what the first took', async () => {
  await play({ ...byManifest, version: 'v1.7.0', workers: 20 }, async (stage) => {
    const first = await upgraded(stage, 'v1.8.4')
    expectWithin(first)
    await stage.until(minute)
    const second = await upgraded(stage, 'v1.9.0')
    expectWithin(second)
    expect([first.range.basis, second.range.basis]).toEqual(['own-pods', 'own-rollouts'])
    expect(second.range.highSeconds).toBeLessThan(first.range.highSeconds)
    expect(second.range.says).toContain('; the last upgrade with kvup took about 2 min')
  })
})

test('two rolls, where the tag is pinned to the old version (night U2)', async () => {
  await play({ ...byTag, version: 'v1.8.3', workers: 3 }, async (stage) => {
    const observed = await upgraded(stage, 'v1.9.0')
    expectWithin(observed)
    expect(observed.steps.get('healthy-at-old-version')).toBeGreaterThan(40)
  })
})

test('kvup plan says how long, all together and each step; then it takes as long; where nothing is left it says no time', async () => {
  await play({ ...byTag, workers: 3 }, async (stage) => {
    const planned = await stage.plan('v1.8.4')
    const { took } = await stage.upgrade('v1.8.4')
    const { time, steps } = planned.documents[0] as unknown as PlanDocument
    expect(time?.basis).toBe('own-pods')
    expect(took / 1000).toBeGreaterThanOrEqual(time?.lowSeconds ?? Number.NaN)
    expect(took / 1000).toBeLessThanOrEqual(time?.highSeconds ?? Number.NaN)
    expect(planned.lines[0]).toMatch(/^Plan: .* \d+ steps, \d+ s to \d+ (?:s|min)\b/u)
    expect(steps.filter((step) => step.time === undefined)).toEqual([])
    expect(time?.says).toMatch(/; plus, of unknown duration: wait for running migrations$/)
    const nothing = (await stage.plan('v1.8.4')).documents[0] as unknown as PlanDocument
    expect(nothing.time).toBeUndefined()
  })
})
