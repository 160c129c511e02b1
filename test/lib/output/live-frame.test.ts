import { describe, expect, test } from 'vitest'
import { timeOfDay } from '../../../src/lib/output/age.ts'
import { displayWidth } from '../../../src/lib/output/text.ts'
import { renderLive } from '../../../src/lib/output/progress/live-view.ts'
import { paintFor } from '../../../src/lib/output/terminal.ts'
import { progressFailed, progressOf } from '../../../src/lib/output/progress/run-progress.ts'
import { at, stalledEvents, steps, upgradeEvents, waitingForHandler } from './upgrade-events.ts'

const plain = paintFor({ colour: false, unicode: true })
const ascii = paintFor({ colour: false, unicode: false })
const now = new Date(at('13:14'))
const frame = (columns = 80, rows = 24, paint = plain) =>
  renderLive(progressOf(upgradeEvents), now, { columns, rows }, paint)

describe('the live view', () => {
  test.each([1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 24])('leaves a row of %i free', (rows) => {
    expect(frame(80, rows).length).toBeLessThanOrEqual(Math.max(1, rows - 1))
  })

  test('colours come after cutting: no sequence is torn', () => {
    const coloured = renderLive(
      progressOf(upgradeEvents),
      now,
      { columns: 10, rows: 24 },
      paintFor({ colour: true, unicode: true }),
    )
    // oxlint-disable-next-line no-control-regex
    const stripped = coloured.map((line) => line.replace(/\u001b\[\d+m/g, ''))
    expect(stripped).toEqual(frame(10))
    expect(coloured.join('')).not.toEqual(stripped.join(''))
  })

  test('text of the cluster cannot move the cursor', () => {
    const title = 'virt-handler\u001b[2J\u001b]0;owned\u0007\n\u202eevil'
    const evil = { ...steps.handler, title, part: title }
    const run = progressOf([
      { kind: 'run-started', at: at('10:02'), procedure: 'p\u001b[31m', steps: [evil] },
    ])
    const text = renderLive(run, now, { columns: 80, rows: 24 }, plain).join('\n')
    expect(text).toContain('virt-handler evil')
    // oxlint-disable-next-line no-control-regex
    expect(text).not.toMatch(/[\u001b\u0007\u202e]/)
  })
})

test('what stands in the way is shown in full, however narrow it is, and before it counts as a stall', () => {
  const waiting = waitingForHandler(at('13:14'), 13, 'node-14 (ImagePullBackOff)')
  if (waiting.kind !== 'step-waiting' || waiting.state.is !== 'waiting') throw new Error('a waiting event')
  const trouble = 'virt-handler on node-14 cannot pull quay.io/kubevirt/virt-handler:v1.9.0: not found'
  const run = progressOf([...upgradeEvents, { ...waiting, state: { ...waiting.state, trouble } }])
  const lines = renderLive(run, now, { columns: 60, rows: 24 }, plain)
  expect(lines.slice(-4)).toEqual([
    '  virt-handler on node-14 cannot pull',
    '    quay.io/kubevirt/virt-handler:v1.9.0: not found',
    'Ctrl-C ends kvup; what has begun goes on. The same command',
    '  continues.',
  ])
})

test('40 columns: what is waited for is shown whole, with the version at its end', () => {
  const waiting = waitingForHandler(
    at('13:14'),
    13,
    'ClusterServiceVersion kubevirt-hyperconverged-operator.v4.19.14',
  )
  const run = progressOf([...upgradeEvents, waiting])
  const lines = renderLive(run, now, { columns: 39, rows: 24 }, plain)
  expect(lines.every((line) => displayWidth(line) <= 39)).toBe(true)
  expect(lines.join('').replaceAll(/\s/gu, '')).toContain('kubevirt-hyperconverged-operator.v4.19.14')
  expect(lines).toContain(' ▸ virt-handler 13 of 20 nodes')
})

test('a command that helps is shown whole, to be pasted', () => {
  const remedy = [
    'kubectl -n openshift-cnv describe clusterserviceversions kubevirt-hyperconverged-operator.v4.19.14',
  ]
  const stalled = stalledEvents.at(-1)
  if (stalled?.kind !== 'step-waiting' || stalled.state.is !== 'stalled') throw new Error('a stall')
  const run = progressOf([...stalledEvents, { ...stalled, state: { ...stalled.state, remedy } }])
  const lines = renderLive(run, now, { columns: 79, rows: 24 }, plain)
  expect(lines.join('\n').replaceAll(/ \\\n */gu, ' ')).toContain(remedy[0])
})

describe('when it gives up', () => {
  const waited = waitingForHandler(at('13:14'), 13, 'node-14 restarting')
  if (waited.kind !== 'step-waiting') throw new Error('a waiting event')
  const shownAt = (time: string, until: string) =>
    renderLive(
      progressOf([...upgradeEvents.slice(0, -2), { ...waited, until: at(until) }]),
      new Date(at(time)),
      { columns: 79, rows: 24 },
      plain,
    ).filter((line) => line.includes('gives up'))

  test('is not said while that is far', () => expect(shownAt('20:00', '59:00')).toEqual([]))
  test('is said in its last five minutes, as a time', () =>
    expect(shownAt('55:00', '59:00')).toEqual([`  gives up at ${timeOfDay(at('59:00')).slice(0, 5)}`]))
  test('or in its last fifth, where it has less', () => {
    expect(shownAt('14:00', '15:14')).toEqual([])
    expect(shownAt('15:00', '15:14')).toHaveLength(1)
  })
})

test.each([40, 80, 120])(
  '%i columns: every state has a shape or a word of its own, without colour',
  (columns) => {
    const size = { columns: columns - 1, rows: 24 }
    const running = renderLive(progressOf(upgradeEvents), now, size, plain)
    const stalled = renderLive(progressOf(stalledEvents), new Date(at('13:41')), size, plain)
    const failed = renderLive(progressFailed(progressOf(upgradeEvents), at('13:20')), now, size, plain)
    expect(running).toContainEqual(expect.stringMatching(/^ ✔ Prepare/u))
    expect(running).toContainEqual(expect.stringMatching(/^ ▸ virt-handler .*13 of 20 nodes/u))
    expect(running).toContainEqual(expect.stringMatching(/^ {3}virt-api/u))
    expect(stalled.join('\n')).toMatch(/ ✖ Operator +STALLED for 2 m 11 s/u)
    expect(failed.join('\n')).toMatch(/ ✖ virt-handler [^\n]*not finished/u)
    expect([...running, ...stalled, ...failed].every((line) => displayWidth(line) < columns)).toBe(true)
  },
)

const stalledFrame = () =>
  renderLive(progressOf(stalledEvents), new Date(at('13:41')), { columns: 100, rows: 24 }, plain)
const failedFrame = () =>
  renderLive(progressFailed(progressOf(upgradeEvents), at('13:20')), now, { columns: 80, rows: 24 }, plain)
const verboseFrame = () =>
  renderLive(progressOf(upgradeEvents), now, { columns: 99, rows: 24, verbose: true }, plain)

test('each frame is as its golden has it', async () => {
  const frames: readonly (readonly [what: string, lines: readonly string[]])[] = [
    ['how far it is, a line for each stage, and what the one at work does', frame()],
    ['120 columns: the wide terminal is used', frame(119)],
    ['40 columns: what happens stands below its stage, whole', frame(39)],
    ['20 columns: it is cut and never wraps', frame(20)],
    ['what is done is folded where rows are few', frame(80, 8)],
    ['and what is to come', frame(80, 5)],
    ['ASCII where the locale asks for it', frame(60, 24, ascii)],
    ['why a step is stalled and what helps, without an estimate', stalledFrame()],
    ['a failed run: the step at work is marked as failed', failedFrame()],
    ['--verbose: each step is a line, by its own name', verboseFrame()],
  ]
  const text = frames.map(([what, lines]) => `# ${what}\n${lines.join('\n')}\n`).join('\n')
  await expect(text).toMatchFileSnapshot('golden/live-frames.txt')
  expect(frame(60, 24, ascii).join('')).toMatch(/^[ -~]*$/)
  expect(frame(20).every((line) => displayWidth(line) <= 20)).toBe(true)
})
