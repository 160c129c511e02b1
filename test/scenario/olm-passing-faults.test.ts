import { expect, test } from 'vitest'
import {
  type ClusterServiceVersion,
  ClusterServiceVersions,
  type InstallPlan,
  InstallPlans,
} from '../../src/lib/kube/kinds/operator-kinds.ts'
import { okdOlm } from '../../src/simulator/olm/olm-shape.ts'
import { minute, play, second } from './stage.ts'

const shape = { methods: ['LiveMigrate'], workers: 1, controlPlanes: 1, olm: okdOlm() }
const name = 'kubevirt-hyperconverged-operator.v1.18.1'
const namespace = 'kubevirt-hyperconverged'

test('ocp 2.4: a CSV that is Failed for a while ends no upgrade, which ends when it is Succeeded', () =>
  play(shape, async (stage) => {
    stage.simulated.faults.set({ csvFailsFor: 2 * minute })
    const ended = await stage.upgrade('1.18.1', { stableFor: '5s' })
    expect(ended.code).toBe(0)
    const csv = stage.simulated.store.read(ClusterServiceVersions, {
      name,
      namespace,
    }) as ClusterServiceVersion
    const reasons = csv.status?.conditions?.map(({ reason }) => reason)
    expect(reasons).toContain('ComponentUnhealthy')
    expect(csv.status?.phase).toBe('Succeeded')
    expect(stage.methods).toEqual(['LiveMigrate'])
  }))

test('ocp 2.3 #5: a plan that has no phase yet is waited for, so that no second one is made', () =>
  play(shape, async (stage) => {
    stage.simulated.faults.set({ planStatusAfter: 20 * second })
    const ended = await stage.upgrade('1.18.1', { stableFor: '5s' })
    expect(ended.code).toBe(0)
    const plans = stage.simulated.store.list(InstallPlans, { namespace }).items as InstallPlan[]
    expect(plans).toHaveLength(2)
    expect(plans.find(({ spec }) => spec?.generation === 2)).toMatchObject({
      spec: { clusterServiceVersionNames: [name] },
      status: { phase: 'Complete' },
    })
  }))

test('olm-real: the next plan comes while that of this hop still waits for its kinds: both hops come to their end', () => {
  const path = okdOlm({ installed: '1.17.3', channel: 'stable-v1.17' })
  return play({ ...shape, olm: path }, async (stage) => {
    stage.simulated.faults.set({ kindsServedAfter: 4 * minute })
    const ended = await stage.upgrade('1.19.0', { stableFor: '5s' })
    expect(ended.code).toBe(0)
    const plans = stage.simulated.store.list(InstallPlans, { namespace }).items as InstallPlan[]
    expect(plans.filter(({ status }) => status?.phase !== 'Complete')).toEqual([])
    expect(stage.methods).toEqual(['LiveMigrate'])
  })
})
