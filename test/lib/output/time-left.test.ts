import { expect, test } from 'vitest'
import { progressOf, type StepLine } from '../../../src/lib/output/progress/run-progress.ts'
import { percentDone, timeLeft } from '../../../src/lib/output/progress/time-left.ts'
import { at, steps as known, upgradeEvents, waitingForHandler } from './upgrade-events.ts'
import fixture from './time-left.json' with { type: 'json' }

const minute = 60_000
const now = new Date('2026-11-21T08:00:00Z')
const ago = (ms: number) => new Date(now.getTime() - ms).toISOString()

const step = (more: Partial<StepLine>): StepLine => ({
  id: 'x',
  title: 'x',
  estimate: 4 * minute,
  shape: 'todo',
  ...more,
})
const done = (tookMs: number): StepLine => step({ shape: 'done', tookMs })
const cases: readonly (readonly [string, StepLine[], string | null])[] = fixture.rows as never

test.each(cases)('%s', (_name, all, expected) => {
  expect(timeLeft({ procedure: 'p', startedAt: ago(minute), steps: all }, now)).toBe(expected ?? undefined)
})

/** Waits since ten minutes for a window; two hours until it opens. */
const inTime = (ms: number) => new Date(now.getTime() + ms).toISOString()
const waitingFor = (closed: readonly { from?: string; until: string }[], work: number) => ({
  procedure: 'p',
  startedAt: ago(10 * minute),
  steps: [
    step({
      estimate: work,
      shape: 'running' as const,
      startedAt: closed[0]?.from === undefined ? (closed[0]?.until ?? ago(0)) : ago(0),
    }),
  ],
  waiting: {
    state: { is: 'waiting' as const, on: 'the window to open', closed },
    until: inTime(600 * minute),
    step: 'x',
    began: ago(10 * minute),
  },
})

test.each<[string, Parameters<typeof waitingFor>[0], number, string]>(fixture.windows as never)(
  'windows: %s',
  (_, closed, work, expected) => {
    expect(timeLeft(waitingFor(closed, work), now)).toBe(expected)
  },
)

test.each<[string, StepLine[], number]>(fixture.percent as never)('percent: %s', (_, steps, percent) => {
  expect(percentDone({ procedure: 'p', startedAt: ago(minute), steps }, now)).toBe(percent)
})

test('percent: 100 belongs to a run that is finished', () => {
  const run = { procedure: 'p', startedAt: ago(minute), finishedAt: ago(0) }
  expect(percentDone({ ...run, steps: [done(minute)] }, now)).toBe(100)
  expect(percentDone({ ...run, steps: [done(minute), step({})] }, now)).toBe(50)
})

test('a finished run has nothing left', () => {
  expect(timeLeft({ procedure: 'p', steps: [step({})], finishedAt: ago(0) }, now)).toBeUndefined()
})

const handlerOf = (...more: ReturnType<typeof waitingForHandler>[]) =>
  progressOf([...upgradeEvents, ...more]).steps.find(({ id }) => id === known.handler.id)

test('the pace is measured from the first count that was seen, and from the last that moved', () => {
  const line = handlerOf(
    waitingForHandler(at('13:30'), 13, 'node-14'),
    waitingForHandler(at('14:05'), 16, 'node-17'),
  )
  expect(line).toMatchObject({ begunAt: { done: 12, at: at('13:05') }, movedAt: at('14:05') })
  expect(handlerOf(waitingForHandler(at('13:30'), 13, 'node-14'))?.movedAt).toBe(at('13:14'))
})

test('a second roll is measured anew', () => {
  const line = handlerOf(
    waitingForHandler(at('20:00'), 0, 'node-1'),
    waitingForHandler(at('20:30'), 1, 'node-2'),
  )
  expect(line).toMatchObject({ begunAt: { done: 0, at: at('20:00') }, movedAt: at('20:30') })
})
