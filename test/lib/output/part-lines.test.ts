import { expect, test } from 'vitest'
import { renderLive } from '../../../src/lib/output/progress/live-view.ts'
import { paintFor } from '../../../src/lib/output/terminal.ts'
import { progressOf, progressStopped, stagesOf } from '../../../src/lib/output/progress/run-progress.ts'
import type { RunEvent, StepSummary } from '../../../src/lib/engine/step.ts'
import { at } from './upgrade-events.ts'

const plain = paintFor({ colour: false, unicode: true })
const now = new Date(at('13:14'))
const ofPart = (id: string, title: string, part?: string) => ({
  id,
  title,
  estimate: 60_000,
  ...(part && { part }),
})
const hop = 'platform 4.19'
const all = [
  ofPart('hold', 'pause automatic VM updates'),
  ofPart('gate', 'may the platform go to 4.19', hop),
  ofPart('request', 'ask for platform 4.19', hop),
  ofPart('platform', 'platform 4.19', hop),
  ofPart('control-plane', 'control plane nodes', hop),
  ofPart('csv', 'ClusterServiceVersion 4.19.8', 'virtualization 4.19'),
  ofPart('operands', 'verify the operands of 4.19.8', 'virtualization 4.19'),
]
const [, gate, request, platform, nodes] = all as [
  StepSummary,
  StepSummary,
  StepSummary,
  StepSummary,
  StepSummary,
]
const began: RunEvent = { kind: 'run-started', at: at('10:00'), procedure: 'eus to 4.20', steps: all }
const done = (step: StepSummary, when: string, note = ''): RunEvent[] => [
  { kind: 'step-started', at: at(when), step, index: 0, total: 7 },
  { kind: 'step-done', at: at(when), step, changed: true, note, tookMs: 60_000 },
]
const waits = (step: StepSummary, when: string): RunEvent[] => [
  { kind: 'step-started', at: at(when), step, index: 0, total: 7 },
  {
    kind: 'step-waiting',
    at: at(when),
    step,
    state: { is: 'waiting', on: 'the nodes of pool master', progress: { done: 1, total: 3, of: 'nodes' } },
    until: at('59:00'),
  },
]
const shown = (events: readonly RunEvent[], columns = 79) =>
  renderLive(progressOf([began, ...events]), now, { columns, rows: 24 }, plain)

const noted = (notes: readonly string[]) =>
  notes.flatMap((note, index) => {
    const step = all[index + 1]
    return step ? done(step, '10:00', note) : []
  })

test('steps of one part: are one line with what the one at work waits for', () => {
  const events = [
    ...done(gate, '10:00'),
    ...done(request, '11:00'),
    ...done(platform, '12:00'),
    ...waits(nodes, '13:00'),
  ]
  expect(shown(events, 99).slice(1, -1)).toEqual([
    '   pause automatic VM updates',
    ' ▸ platform 4.19               ████░░░░░░░░ 1 of 3 nodes   waiting for the nodes of pool master',
    '   virtualization 4.19',
  ])
  expect(shown(events, 39).slice(3, 6)).toEqual([
    ' ▸ platform 4.19 1 of 3 nodes',
    '     waiting for the nodes of pool',
    '       master',
  ])
})

test('steps of one part: where it ended between two of them it says how many are done; done it has the time of all', () => {
  expect(shown(done(gate, '10:00'))[2]).toBe(' ▸ platform 4.19               running')
  const stopped = progressStopped(progressOf([began, ...done(gate, '10:00')]), at('11:00'))
  expect(renderLive(stopped, now, { columns: 79, rows: 24 }, plain)[2]).toBe(
    '   platform 4.19               1 of 4 steps done',
  )
  const whole = [gate, request, platform, nodes].flatMap((step) => done(step, '10:00'))
  expect(shown(whole)[2]).toMatch(/^ ✔ platform 4\.19 {15}done +4 m$/u)
})

test('steps of one part: a note stands beside the part where its steps say one thing or two', () => {
  expect(shown(noted(['already done', 'channel eus-4.18', '', '']))[2]).toMatch(/channel eus-4.18 +4 m$/u)
  expect(shown(noted(['stable for 31 s', 'updates resumed', '', '']))[2]).toMatch(
    /stable for 31 s, updates resumed +4 m$/u,
  )
  expect(shown(noted(['was false', 'was absent', 'was 3', '']))[2]).toMatch(/ done +4 m$/u)
  expect(shown(noted(Array.from({ length: 4 }, () => 'already done')))[2]).toContain('already done')
  expect(shown(noted(['already done', '', '', '']))[2]).not.toContain('already done')
})

const minor = (part: (id: string) => string): StepSummary[] =>
  ['a', 'b', 'c'].map((id) => ofPart(id, id, part(id)))

test('stages of a minor that is behind become one line; a step that is listed again elsewhere stays where it was done', () => {
  const before = minor((id) => `v1.6.6: ${id}`)
  const [a, b, c] = before as [StepSummary, StepSummary, StepSummary]
  const events: RunEvent[] = [
    { kind: 'run-started', at: at('10:00'), procedure: 'p', steps: before },
    ...done(a, '10:00'),
    ...done(b, '11:00'),
    ...done(c, '12:00'),
  ]
  const listed = (steps: StepSummary[]): string[] =>
    stagesOf(progressOf([...events, { kind: 'steps-known', at: at('12:01'), steps }])).map(
      ({ title }) => title,
    )
  expect(listed(minor(() => 'step 1 of 2: v1.6.6'))).toEqual(['step 1 of 2: v1.6.6'])
  const same = { ...b, part: 'v1.6.6: a' }
  const twoOfA: RunEvent[] = [
    { kind: 'run-started', at: at('10:00'), procedure: 'p', steps: [a, same] },
    ...done(a, '10:00'),
    ...done(same, '11:00'),
    { kind: 'steps-known', at: at('12:01'), steps: [{ ...same, part: 'v1.7.4: a' }] },
  ]
  expect(stagesOf(progressOf(twoOfA)).map(({ title }) => title)).toEqual(['v1.6.6: a'])
})
