import { describe, expect, test } from 'vitest'
import { paintFor, printedLine } from '../../../src/lib/output/terminal.ts'
import { plainLines } from '../../../src/lib/output/progress/progress-output.ts'
import { SimClock } from '../../../src/simulator/simulated-clock.ts'
import type { RunEvent } from '../../../src/lib/engine/step.ts'
import { at, stalledEvents, steps, upgradeEvents, waitingForHandler } from './upgrade-events.ts'
import fixture from './plain-lines.json' with { type: 'json' }

function open(start = at('13:14'), verbose = false) {
  const lines: string[] = []
  const clock = new SimClock(start)
  const plain = plainLines(
    (line) => lines.push(printedLine(line)),
    clock,
    paintFor({ colour: false, unicode: true }),
    verbose,
  )
  return { lines, clock, plain }
}

const stable = (when: string, seconds: number): RunEvent => ({
  kind: 'step-waiting',
  at: at(when),
  step: steps.healthy,
  state: { is: 'waiting', on: 'KubeVirt to stay healthy for 30 s', now: `stable for ${seconds} of 30 s` },
  until: at('59:00'),
})

const crash = (restarts: string) => `virt-handler on node-14 keeps failing (${restarts})`

describe('a run on a pipe', () => {
  test('is a line for each stage that is done and for each count, in the words of the screen', () => {
    const { lines, plain } = open()
    upgradeEvents.forEach((event) => plain.event(event))
    expect(lines).toEqual(fixture.run)
  })

  test('with --verbose it is a line for each step and each change, by their names', () => {
    const { lines, plain } = open(at('13:14'), true)
    upgradeEvents.forEach((event) => plain.event(event))
    expect(lines).toEqual(fixture.verbose)
  })

  test('a stage that counts seconds is one line, not one for each of them', () => {
    const { lines, plain } = open()
    for (const [when, seconds] of [
      ['13:14', 0],
      ['13:19', 5],
      ['13:24', 10],
    ] as const)
      plain.event(stable(when, seconds))
    expect(lines).toEqual(['07:13:14 verify: stable for 0 of 30 s'])
  })

  test('manner 25: a duration that grows is no change', () => {
    const { lines, plain } = open()
    plain.event(waitingForHandler(at('13:14'), 13, 'node-14 (ContainerCreating, 9s)'))
    plain.event(waitingForHandler(at('13:15'), 13, 'node-14 (ContainerCreating, 10s)'))
    plain.event(waitingForHandler(at('14:17'), 13, 'node-14 (ContainerCreating, 1m12s)'))
    expect(lines).toHaveLength(1)
  })

  test('manner 25: a heartbeat every 30 s names what happens, for how long, and how far the whole is', async () => {
    const { lines, plain, clock } = open()
    plain.event(waitingForHandler(at('13:14'), 13, 'node-14'))
    for (let second = 0; second < 65; second++) {
      await clock.sleep(1000)
      plain.tick()
    }
    expect(lines.slice(1)).toEqual([
      '07:13:44 virt-handler: 13 of 20 nodes, node-14, for 30 s (65 %, under 5 min left)',
      '07:14:14 virt-handler: 13 of 20 nodes, node-14, for 1 m (65 %, under 5 min left)',
    ])
  })

  test('when it gives up is told once that is near', async () => {
    const { lines, plain, clock } = open()
    plain.event(Object.assign(waitingForHandler(at('13:14'), 13, 'node-14'), { until: at('14:20') }))
    for (let seconds = 0; seconds < 60; seconds += 30) {
      await clock.sleep(30_000)
      plain.tick()
    }
    expect(lines[1]).not.toContain('gives up')
    expect(lines.at(-1)).toContain(', for 1 m, gives up at 07:14 (')
  })

  test('nothing is waited for, nothing beats', async () => {
    const { lines, plain, clock } = open()
    plain.event({ kind: 'step-started', at: at('13:14'), step: steps.api, index: 0, total: 1 })
    await clock.sleep(120_000)
    plain.tick()
    expect(lines).toEqual([])
  })

  test('a stall names its cause and what helps', () => {
    const { lines, plain } = open()
    stalledEvents.forEach((event) => plain.event(event))
    expect(lines.slice(-3)).toEqual([
      '07:11:30 Operator: STALLED while waiting for pod kubevirt-5f3c-job: cannot pull quay.io/kubevirt/virt-operator:v1.9.10: not found',
      '         → kvup upgrade --to v1.9.1',
      '         → kvup upgrade --to v1.8.4',
    ])
  })

  test('where pods are counted, each pod on the way to the next count is no change', () => {
    const { lines, plain } = open()
    const [first, ...more] = ['ContainerCreating', 'not ready', 'terminating'].map((state) =>
      waitingForHandler(at('13:14'), 13, `node-14 (${state})`),
    )
    plain.event(first!)
    expect(lines).toHaveLength(1)
    more.forEach((event) => plain.event(event))
    expect(lines).toHaveLength(1)
    plain.event(waitingForHandler(at('13:20'), 14, 'node-15 (ContainerCreating)'))
    expect(lines).toHaveLength(2)
  })

  test('trouble is said as soon as it is seen, and not again for each restart', () => {
    const { lines, plain } = open()
    const waiting = waitingForHandler(at('13:14'), 13, 'node-14')
    if (waiting.kind !== 'step-waiting' || waiting.state.is !== 'waiting') throw new Error('a waiting event')
    const { state, ...rest } = waiting
    plain.event(waiting)
    plain.event({ ...rest, state: { ...state, trouble: crash('1 restart') } })
    plain.event({ ...rest, state: { ...state, trouble: crash('2 restarts') } })
    expect(lines).toEqual([
      '07:13:14 virt-handler: 13 of 20 nodes, node-14',
      '07:13:14 virt-handler: 13 of 20 nodes, node-14; virt-handler on node-14 keeps failing (1 restart)',
    ])
  })

  test('a step that only waited is done, not already done; steps found on the way are no news', () => {
    const { lines, plain } = open()
    const done = { kind: 'step-done', at: at('13:15'), changed: false, tookMs: 0 } as const
    plain.event(waitingForHandler(at('13:14'), 13, 'node-14'))
    plain.event({ ...done, step: steps.handler })
    plain.event({ ...done, step: steps.api })
    plain.event({ kind: 'steps-known', at: at('13:15'), steps: [steps.restore] })
    expect(lines.slice(1)).toEqual(['07:13:15 virt-handler: done', '07:13:15 virt-api: already done'])
  })
})
