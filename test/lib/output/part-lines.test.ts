import { expect, test } from 'vitest'
import { renderLive } from '../../../src/lib/output/progress/live-view.ts'
import { paintFor } from '../../../src/lib/output/terminal.ts'
import { progressOf } from '../../../src/lib/output/progress/run-progress.ts'
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
  ofPart('hold', 'hold workload updates'),
  ofPart('gate', 'may the platform go to 4.19', hop),
  ofPart('request', 'ask for platform 4.19', hop),
  ofPart('platform', 'platform 4.19', hop),
  ofPart('control-plane', 'control plane nodes', hop),
  ofPart('csv', 'ClusterServiceVersion 4.19.8', 'virtualization 4.19'),
  ofPart('operands', 'operands of 4.19.8 settle', 'virtualization 4.19'),
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
    state: { is: 'waiting', on: 'the nodes of pool master', progress: { done: 1, total: 3 } },
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

test('steps of one part: are one line with the one at work in it', () => {
  const events = [
    ...done(gate, '10:00'),
    ...done(request, '11:00'),
    ...done(platform, '12:00'),
    ...waits(nodes, '13:00'),
  ]
  expect(shown(events).slice(1, -1)).toEqual([
    '   hold workload updates',
    ' ▸ platform 4.19                 control plane nodes  1/3  14s',
    '   virtualization 4.19',
  ])
  expect(shown(events, 39)[2]).toBe(' ▸ platform 4.19 1/3')
})

test('steps of one part: the step that is called as its part is not named twice, and has its bar', () => {
  const events = [...done(gate, '10:00'), ...done(request, '11:00'), ...waits(platform, '13:00')]
  expect(shown(events)[2]).toBe(' ▸ platform 4.19                 ████░░░░░░░░  1/3  14s')
})

test('steps of one part: where it ended between two of them it says how many are done; done it has the time of all', () => {
  expect(shown(done(gate, '10:00'))[2]).toBe('   platform 4.19                 1 of 4 steps done')
  const whole = [gate, request, platform, nodes].flatMap((step) => done(step, '10:00'))
  expect(shown(whole)[2]).toBe(' ✔ platform 4.19                 4m')
})

test('steps of one part: a note stands beside the part where its steps say one thing', () => {
  expect(shown(noted(['already so', 'kept eus-4.18', '', '']))[2]).toMatch(/kept eus-4.18 {2}4m$/u)
  expect(shown(noted(['kept false', 'kept absent', '', '']))[2]).not.toContain('kept')
  expect(shown(noted(Array.from({ length: 4 }, () => 'already so')))[2]).toContain('already so')
  expect(shown(noted(['already so', '', '', '']))[2]).not.toContain('already so')
})
