import { expect, test } from 'vitest'
import type { Kind, KubeObject } from '../../src/lib/kube/object.ts'
import { InstallPlans, Subscriptions } from '../../src/lib/kube/kinds/operator-kinds.ts'
import { okdOlm } from '../../src/simulator/olm/olm-shape.ts'
import type { SimulationFaults } from '../../src/simulator/simulated-cluster.ts'
import { interrupted } from '../../src/lib/kube/errors.ts'
import { runText } from '../lib/run-text.ts'
import { pasteKubectl } from './pasted-kubectl.ts'
import { type Ended, minute, play, type Stage } from './stage.ts'

const okd = { methods: ['LiveMigrate'], workers: 1, controlPlanes: 1, olm: okdOlm() }
const stays = 'no InstallPlan is approved: HyperConverged remains at 1.17.3 until you approve one'

const commands = ({ error }: Ended) => error?.remedy.map((line) => line.split(/ {3,}/u)[0] ?? '') ?? []
const changes = (ended: Ended) => commands(ended).filter((line) => / (patch|delete) /u.test(line))
const stored = <T extends KubeObject>({ simulated }: Stage, kind: Kind<T>): T[] =>
  simulated.store.list(kind).items as T[]
const channel = (stage: Stage) => stored(stage, Subscriptions)[0]?.spec?.channel
const waitingPlans = (stage: Stage) =>
  stored(stage, InstallPlans).filter(({ spec }) => spec?.approved === false)

async function setBack(stage: Stage, ended: Ended): Promise<void> {
  const { cluster, simulated } = stage
  for (const line of changes(ended)) await pasteKubectl(line, { cluster, store: simulated.store })
  await stage.until(5 * minute)
  expect(await stage.restore()).toMatchObject({ code: 0 })
  expect(channel(stage)).toBe('stable-v1.17')
  expect(waitingPlans(stage)).toEqual([])
  expect(stage.methods).toEqual(['LiveMigrate'])
}

const rows: readonly [when: string, faults: SimulationFaults, note: string, lines: number][] = [
  ['before anything was changed', { held: 'a backup is under way' }, stays, 0],
  ['once the channel was set', { resolutionFailed: 'constraints not satisfiable' }, stays, 1],
  [
    'once the release is installed',
    { csvFails: true },
    'there is no way back to 1.17.3: 1.18.1 is installed, and OLM does not downgrade',
    0,
  ],
]

test.each(rows)('a run that ends early %s says what is true then', (_, faults, note, lines) =>
  play({ ...okd, faults }, async (stage) => {
    await stage.until(minute)
    const ended = await stage.upgrade('1.18.1', { timeout: '20m', stableFor: '5s' })
    expect(ended).toMatchObject({ code: 4 })
    expect(ended.error?.notes).toContain(note)
    expect(ended.error?.remedy.join('\n')).not.toContain('goes back')
    expect(changes(ended)).toHaveLength(lines)
    if (lines > 0) await setBack(stage, ended)
  }),
)

test('a plan that waits for approval is left with its channel: the printed lines take both away', () =>
  play(okd, async (stage) => {
    const stop = new AbortController()
    const ended = await stage.upgrade(
      '1.18.1',
      { stableFor: '5s' },
      {
        signal: stop.signal,
        onEvent(event) {
          if (event.kind === 'step-done' && event.step.id === 'install-plan-1.18.1')
            stop.abort(interrupted('SIGINT'))
        },
      },
    )
    expect(ended.code).toBe(130)
    expect(ended.error?.notes).toContain(stays)
    expect(waitingPlans(stage)).toHaveLength(1)
    expect(changes(ended)).toHaveLength(2)
    await setBack(stage, ended)
  }))

test('where the Subscription cannot be seen any more nothing is promised', () =>
  play({ ...okd, faults: { resolutionFailed: 'constraints not satisfiable' } }, async (stage) => {
    stage.later(5 * minute, () => {
      const [found] = stage.simulated.store.list(Subscriptions).items
      if (found) stage.simulated.store.remove(Subscriptions, found.metadata)
    })
    const ended = await stage.upgrade('1.18.1', { timeout: '20m', stableFor: '5s' })
    expect(ended).toMatchObject({ code: 3, error: { reason: 'subscription-gone' } })
    expect(ended.error?.notes).toContain(
      'there is no way back once an InstallPlan is approved: OLM does not downgrade',
    )
  }))

test('a Job of the install strategy that finds no node leads nobody back where HyperConverged owns KubeVirt', () =>
  play({ ...okd, faults: { unschedulable: '-job' } }, async (stage) => {
    const ended = await stage.upgrade('1.18.1', { timeout: '20m', stableFor: '5s' })
    expect(ended.code).toBe(4)
    const place = { cluster: stage.cluster, clock: stage.clock, files: {} }
    const { out } = await runText(['status'], place)
    expect(out).toContain('of the install strategy finds no node')
    expect(out).not.toContain('kvup upgrade --to v')
    expect(out).toContain('Then: kvup upgrade --to 1.18.1 ')
  }))
