import { describe, expect, test } from 'vitest'
import type { Kind, KubeObject } from '../../src/lib/kube/object.ts'
import { OperatorConditions, Subscriptions } from '../../src/lib/kube/kinds/operator-kinds.ts'
import type { HyperConvergedFaults } from '../../src/simulator/hyperconverged/hyperconverged-context.ts'
import { okdWithPatch } from './okd-with-patch.ts'
import { okdOlm } from '../../src/simulator/olm/olm-shape.ts'
import { minute, play, type Stage } from './stage.ts'

const small = { methods: ['LiveMigrate'], workers: 1, controlPlanes: 1 }
const okd = { ...small, olm: okdOlm() }
const brief = { stableFor: '5s' }

const cdi = (is: 'degraded' | 'progressing'): HyperConvergedFaults => ({
  components: [{ component: 'CDI', is, message: 'its importer does not start' }],
})

const stored = <T extends KubeObject>({ simulated }: Stage, kind: Kind<T>): T[] =>
  simulated.store.list(kind).items as T[]
const subscribed = (stage: Stage) => stored(stage, Subscriptions)[0]
const approvals = (stage: Stage) => stage.writes().filter(({ resource }) => resource === 'installplans')
const waitsOf = ({ events }: { events: readonly { kind: string }[] }) =>
  JSON.stringify(events.filter(({ kind }) => kind === 'step-waiting'))
/** The last steps before a gate is judged. */
const heldAfter: ReadonlySet<string> = new Set(['pause-workload-updates', 'operands-rolled-1.17.3'])

/** Somebody overrides what the installed operator says. */
function holdForTenMinutes(stage: Stage): void {
  const { store } = stage.simulated
  const name = subscribed(stage)?.status?.installedCSV ?? ''
  const { namespace } = subscribed(stage)?.metadata ?? {}
  const override = {
    type: 'Upgradeable',
    status: 'False',
    reason: 'Backup',
    message: 'a backup is under way',
  }
  const set = (overrides: readonly object[]) =>
    store.patch(
      OperatorConditions,
      { name, namespace },
      { type: 'merge', body: { spec: { overrides } } },
      { manager: 'kubectl-edit' },
    )
  set([override])
  stage.later(10 * minute, () => set([]))
}

const waitingSteps = ({ events }: { events: readonly { kind: string }[] }) =>
  new Set(
    events.flatMap((event) =>
      event.kind === 'step-waiting' ? [(event as unknown as { step: { id: string } }).step.id] : [],
    ),
  )

describe('night E1: the gate of an operator hop is kvup’s own', () => {
  test('trap 6: OLM alone would upgrade a Degraded HyperConverged; kvup waits until it is good', () =>
    play({ ...okd, faults: cdi('degraded') }, async (stage) => {
      await stage.until(minute)
      stage.later(10 * minute, () => stage.simulated.faults.set({ components: undefined }))
      const ended = await stage.upgrade('1.18.1', brief)
      expect(ended.code).toBe(0)
      expect(waitsOf(ended)).toContain('to be healthy in every condition')
      expect(approvals(stage)).toHaveLength(1)
      expect(ended.took).toBeGreaterThan(10 * minute)
    }))

  test('it is judged before anything is borrowed or set', () =>
    play({ ...okd, faults: cdi('degraded') }, async (stage) => {
      await stage.until(minute)
      const ended = await stage.upgrade('1.18.1', { ...brief, timeout: '20m' })
      expect(ended).toMatchObject({ code: 4 })
      expect(ended.text).toContain('before the first change')
      expect(stage.methods).toEqual(['LiveMigrate'])
      expect(await stage.journal.overrides()).toEqual([])
      const resources = stage.writes().map(({ resource }) => resource)
      expect(resources.filter((one) => one !== 'leases' && one !== 'configmaps')).toEqual([])
    }))

  test('it is judged again before each hop: what became of it meanwhile is waited for', () =>
    play({ ...small, olm: okdOlm({ installed: '1.16.0', channel: 'stable-v1.16' }) }, async (stage) => {
      const ended = await stage.upgrade('1.18.1', brief, {
        onEvent(event) {
          if (event.kind === 'step-done' && heldAfter.has(event.step.id)) holdForTenMinutes(stage)
        },
      })
      expect(ended.code).toBe(0)
      const waited = waitingSteps(ended)
      expect([waited.has('gate-1.17.3'), waited.has('gate-1.18.1')]).toEqual([true, true])
      expect(ended.took).toBeGreaterThan(20 * minute)
    }))

  test('a z-stream that repairs a Degraded HyperConverged goes on where that is accepted by name', () =>
    play({ ...small, olm: okdWithPatch(), faults: cdi('degraded') }, async (stage) => {
      await stage.until(minute)
      const refused = await stage.upgrade('1.17.4', brief)
      expect(refused).toMatchObject({ code: 3 })
      expect(refused.text).toContain('hyperconverged-degraded')
      expect(stage.writes()).toEqual([])
      stage.later(5 * minute, () => stage.simulated.faults.set({ components: undefined }))
      const ended = await stage.upgrade('1.17.4', { ...brief, accept: ['hyperconverged-degraded'] })
      expect(ended.code).toBe(0)
      expect(approvals(stage)).toHaveLength(1)
      expect(waitsOf(ended)).not.toContain('gate-1.17.4')
    }))
})
