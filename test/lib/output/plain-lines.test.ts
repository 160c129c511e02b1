import { describe, expect, test } from 'vitest'
import { paintFor } from '../../../src/lib/output/terminal.ts'
import { plainLines } from '../../../src/lib/output/progress/progress-output.ts'
import { SimClock } from '../../../src/simulator/simulated-clock.ts'
import { at, stalledEvents, steps, upgradeEvents, waitingForHandler } from './upgrade-events.ts'

function open(start = at('13:14')) {
  const lines: string[] = []
  const clock = new SimClock(start)
  const plain = plainLines((line) => lines.push(line), clock, paintFor({ colour: false, unicode: true }))
  return { lines, clock, plain }
}

const crash = (restarts: string) => `virt-handler on node-14 keeps failing (${restarts})`

describe('a run on a pipe', () => {
  test('is a line per change', () => {
    const { lines, plain } = open()
    upgradeEvents.forEach((event) => plain.event(event))
    expect(lines).toEqual([
      '07:10:02 KubeVirt v1.8.4 → v1.9.0: 7 steps',
      '07:10:02 hold workload updates: workloadUpdateMethods: [] (was [LiveMigrate])',
      '07:10:02 hold workload updates: kept LiveMigrate',
      '07:10:41 virt-operator: 2/2, took 38s',
      '07:11:14 install strategy, CRDs, RBAC: done, took 33s',
      '07:13:05 virt-handler: 12/20, waiting for virt-handler on node-13 (ContainerCreating, 3s)',
      '07:13:14 virt-handler: 13/20, waiting for virt-handler on node-14 (ContainerCreating, 9s)',
    ])
  })

  test('manner 25: a duration that grows is no change', () => {
    const { lines, plain } = open()
    plain.event(waitingForHandler(at('13:14'), 13, 'node-14 (ContainerCreating, 9s)'))
    plain.event(waitingForHandler(at('13:15'), 13, 'node-14 (ContainerCreating, 10s)'))
    plain.event(waitingForHandler(at('14:17'), 13, 'node-14 (ContainerCreating, 1m12s)'))
    expect(lines).toHaveLength(1)
  })

  test('manner 25: a heartbeat every 30 s names what is waited for, since when and until when', async () => {
    const { lines, plain, clock } = open()
    plain.event(waitingForHandler(at('13:14'), 13, 'node-14'))
    for (let second = 0; second < 65; second++) {
      await clock.sleep(1000)
      plain.tick()
    }
    expect(lines.slice(1)).toEqual([
      '07:13:44 virt-handler: still waiting for virt-handler on node-14, for 30s, until 08:10:02; under 5 min left',
      '07:14:14 virt-handler: still waiting for virt-handler on node-14, for 1m, until 08:10:02; under 5 min left',
    ])
  })

  test('an end that is days away is told with its day', async () => {
    const { lines, plain, clock } = open()
    plain.event(
      Object.assign(waitingForHandler(at('13:14'), 13, 'node-14'), { until: '2026-11-29T08:10:02Z' }),
    )
    await clock.sleep(30_000)
    plain.tick()
    expect(lines.at(-1)).toMatch(/, until 2026-11-29 08:10:02; /u)
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
      '07:11:30 install strategy, CRDs, RBAC: stalled on pod kubevirt-5f3c-job: cannot pull quay.io/kubevirt/virt-operator:v1.9.10: not found',
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
      '07:13:14 virt-handler: 13/20, waiting for virt-handler on node-14',
      '07:13:14 virt-handler: 13/20, waiting for virt-handler on node-14; virt-handler on node-14 keeps failing (1 restart)',
    ])
  })

  test('a step that only waited is done, not already so; steps found on the way are no news', () => {
    const { lines, plain } = open()
    const done = { kind: 'step-done', at: at('13:15'), changed: false, tookMs: 0 } as const
    plain.event(waitingForHandler(at('13:14'), 13, 'node-14'))
    plain.event({ ...done, step: steps.handler })
    plain.event({ ...done, step: steps.api })
    plain.event({ kind: 'steps-known', at: at('13:15'), steps: [steps.restore] })
    expect(lines.slice(1)).toEqual(['07:13:15 virt-handler: done', '07:13:15 virt-api: already so'])
  })
})
