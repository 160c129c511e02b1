import { expect, test } from 'vitest'
import type { RunEvent, StepSummary } from '../../../src/lib/engine/step.ts'
import type { Reader } from '../../../src/lib/kube/cluster.ts'
import { comparedRun, type SavedRehearsal } from '../../../src/lib/rehearsal/comparison.ts'
import { ObservedStages } from '../../../src/lib/rehearsal/observed-stages.ts'
import { withStages } from '../../../src/lib/upgrade/step-traits.ts'
import fixture from './stages-of-a-path.json' with { type: 'json' }

const at = (second: number): string => new Date(second * 1000).toISOString()

const step = (id: string, hop: string): StepSummary => ({ id: `${id}-${hop}`, title: id, hop, estimate: 0 })

const started = (one: StepSummary, second: number): RunEvent => ({
  kind: 'step-started',
  at: at(second),
  step: one,
  index: 0,
  total: 1,
})
const done = (one: StepSummary, second: number): RunEvent => ({
  kind: 'step-done',
  at: at(second),
  step: one,
  changed: true,
  tookMs: 1000,
})
const began = (steps: readonly StepSummary[]): RunEvent => ({
  kind: 'run-started',
  at: at(0),
  procedure: 'upgrade',
  steps,
})

const ofPath = fixture.ofPath as SavedRehearsal

const nothingThere = { list: async () => [] } as unknown as Reader

const ahead = (one: StepSummary): StepSummary => ({ ...one, part: 'step 2 of 2: v1.8.4' })

test('the gate of the next minor is part of how that minor prepares', () => {
  const [healthy, gate, pause] = [
    step('healthy', 'v1.7.4'),
    step('gate', 'v1.8.4'),
    step('pause-workload-updates', 'v1.8.4'),
  ]
  const behind = { ...healthy, part: 'step 1 of 2: v1.7.4' }
  const stages = new ObservedStages()
  const events: readonly RunEvent[] = [
    began([healthy, ahead(gate), ahead(pause)]),
    started(healthy, 1),
    done(healthy, 5),
    started(ahead(gate), 5),
    done(ahead(gate), 6),
    { kind: 'steps-known', at: at(6), steps: [behind, gate, pause] },
    done(pause, 8),
  ]
  for (const event of events) stages.hear(withStages(event))
  expect(stages.stages()).toEqual([
    { name: 'v1.7.4: Verify', hop: 'v1.7.4', begins: 1, takes: 4 },
    { name: 'v1.8.4: Prepare', hop: 'v1.8.4', begins: 5, takes: 3 },
  ])
})

test('a whole path that begins with VMs of its first release is no later part of one', async () => {
  const first = { name: 'v1.7.4: VMs', hop: 'v1.7.4', begins: 0, takes: 0 }
  const rehearsal = { ...ofPath, from: 'v1.7.4', stages: [first, ...ofPath.stages.slice(1)] }
  const run = comparedRun(rehearsal, { from: 'v1.7.4', to: { text: 'v1.8.4' }, isRest: false })
  const [follow, apply] = [step('vms-follow', 'v1.7.4'), step('apply-operator-manifest', 'v1.8.4')]
  for (const event of [
    began([follow, apply]),
    started(follow, 0),
    done(follow, 1),
    started(apply, 1),
    done(apply, 30),
  ])
    run.hear(event)
  expect((await run.compare(nothingThere, { vmsAreDone: false })).stages).toEqual([
    { name: 'v1.7.4: VMs', rehearsed: 0, took: 1, agrees: true },
    { name: 'v1.8.4: Operator', rehearsed: 30, took: 29, agrees: true },
    { name: 'v1.8.4: Verify', rehearsed: 20 },
  ])
})

test('the last minor of a path, when it is all that is left, is compared with the same minor of the whole path', async () => {
  const run = comparedRun(ofPath, { from: 'v1.7.4', to: { text: 'v1.8.4' }, isRest: false })
  const [gate, apply, healthy] = [
    step('migrations-in-flight', 'v1.8.4'),
    step('apply-operator-manifest', 'v1.8.4'),
    step('healthy', 'v1.8.4'),
  ]
  for (const event of [
    began([gate, apply, healthy]),
    started(gate, 0),
    done(gate, 1),
    started(apply, 1),
    done(apply, 30),
    started(healthy, 30),
    done(healthy, 52),
  ])
    run.hear(event)
  const { stages, sameOrder } = await run.compare(nothingThere, { vmsAreDone: false })
  expect(sameOrder).toBe(true)
  expect(stages).toEqual([
    { name: 'v1.7.4: Verify', rehearsed: 20 },
    { name: 'v1.8.4: Operator', rehearsed: 30, took: 29, agrees: true },
    { name: 'v1.8.4: Verify', rehearsed: 20, took: 22, agrees: true },
  ])
})
