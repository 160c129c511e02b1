import { describe, expect, test } from 'vitest'
import type { Kind } from '../../src/lib/cluster/kind.ts'
import { InstallPlans, Subscriptions } from '../../src/lib/cluster/kinds/operator-lifecycle.ts'
import type { KubeObject } from '../../src/lib/cluster/object.ts'
import type { HyperConvergedFaults } from '../../src/lib/simulator/hyperconverged/faults.ts'
import { okdOlm } from '../../src/lib/simulator/olm/shapes.ts'
import { minute, play, type Stage } from './stage.ts'

const small = { methods: ['LiveMigrate'], workers: 1, controlPlanes: 1 }
const okd = { ...small, olm: okdOlm() }
const brief = { settle: '5s' }

const cdi = (is: 'degraded' | 'progressing'): HyperConvergedFaults => ({
  components: [{ component: 'CDI', is, message: 'its importer does not start' }],
})

const stored = <T extends KubeObject>({ simulated }: Stage, kind: Kind<T>): T[] =>
  simulated.store.list(kind).items as T[]
const approvals = (stage: Stage) => stage.writes().filter(({ resource }) => resource === 'installplans')
const waitsOf = ({ events }: { events: readonly { kind: string }[] }) =>
  JSON.stringify(events.filter(({ kind }) => kind === 'step-waiting'))

describe('night E1: the gate of an operator hop is kvup’s own', () => {
  test('trap 6: OLM alone would upgrade a Degraded HyperConverged; kvup waits until it is good', () =>
    play({ ...okd, faults: cdi('degraded') }, async (stage) => {
      await stage.until(minute)
      stage.later(10 * minute, () => stage.simulated.faults.set({ components: undefined }))
      const ended = await stage.upgrade('1.18.1', brief)
      expect(ended.code).toBe(0)
      expect(waitsOf(ended)).toContain('to be good in every condition')
      expect(approvals(stage)).toHaveLength(1)
      expect(ended.took).toBeGreaterThan(10 * minute)
    }))

  test('trap 6, naively: approved by hand it goes on, for its OperatorCondition does not forbid it', () =>
    play({ ...okd, faults: cdi('degraded') }, async (stage) => {
      const [subscription] = stored(stage, Subscriptions)
      const { name, namespace = '' } = subscription?.metadata ?? { name: '' }
      const { writer } = stage.cluster
      await writer.mergePatch(Subscriptions, { name, namespace }, { spec: { channel: 'stable-v1.18' } })
      await stage.until(minute)
      const plan = stored(stage, InstallPlans).find(({ spec }) => spec?.approved === false)
      await writer.mergePatch(InstallPlans, plan?.metadata ?? { name: '' }, { spec: { approved: true } })
      await stage.until(5 * minute)
      expect(stored(stage, Subscriptions)[0]?.status?.installedCSV).toContain('1.18.1')
      expect(stage.kubevirt.status?.targetKubeVirtVersion).toBe('v1.8.4')
    }))

  test('a z-stream that repairs a Degraded HyperConverged goes on where that is accepted by name', () =>
    play({ ...small, olm: withPatch(), faults: cdi('degraded') }, async (stage) => {
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

/** With a z-stream behind what is installed. */
function withPatch() {
  const shape = okdOlm()
  const stem = 'kubevirt-hyperconverged-operator.v'
  const channels = shape.channels.map(({ name, entries }) => {
    const last = entries.at(-1)
    if (name !== shape.channel || last === undefined) return { name, entries }
    const patch = { ...last, name: `${stem}1.17.4`, version: '1.17.4', replaces: `${stem}1.17.3` }
    return { name, entries: [...entries, patch] }
  })
  return { ...shape, channels }
}
