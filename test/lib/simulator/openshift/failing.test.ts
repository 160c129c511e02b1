import { expect, it } from 'vitest'
import { condition } from '../../../../src/lib/kube/object.ts'
import type { OpenShiftFaults } from '../../../../src/simulator/openshift/platform-context.ts'
import { minute, platform, type Platform } from './platform.ts'

async function updating(on: OpenShiftFaults): Promise<Platform> {
  const p = await platform({ channel: 'stable-4.19' })
  p.faults.set(on)
  await p.desire({ version: '4.19.14' })
  return p
}
const failing = async (p: Platform) => condition(await p.version(), 'Failing')
const progressing = async (p: Platform) => condition(await p.version(), 'Progressing')

it('trap 16: an operator that takes over 30 minutes is a suspicion, Failing=Unknown; once it is there the update goes on', async () => {
  const p = await updating({ slowOperators: ['etcd'] })
  await p.clock.sleep(25 * minute)
  expect((await failing(p))?.status).toBe('False')
  await p.clock.sleep(10 * minute)
  expect(await failing(p)).toMatchObject({ status: 'Unknown', reason: 'SlowClusterOperator' })
  expect((await progressing(p))?.message).toMatch(
    /^Working towards 4\.19\.14: .*, waiting on etcd over 30 minutes which is longer than expected$/,
  )
  p.faults.set({ slowOperators: undefined })
  await p.clock.sleep(70 * minute)
  expect((await p.version()).status.history?.[0]?.state).toBe('Completed')
  expect((await failing(p))?.status).toBe('False')
})

it('machine-config may take 90 minutes before anybody wonders', async () => {
  const p = await updating({ slowOperators: ['machine-config'] })
  await p.clock.sleep(110 * minute)
  expect((await failing(p))?.status).toBe('False')
  await p.clock.sleep(40 * minute)
  expect((await failing(p))?.message).toContain('machine-config over 90 minutes')
})

it('ocp 3.1: a degraded operator is waited for up to 40 minutes, then the update fails, and heals with it', async () => {
  const p = await updating({ degradedOperators: ['network'] })
  await p.clock.sleep(60 * minute)
  expect((await failing(p))?.status).toBe('False')
  expect((await progressing(p))?.message).toContain('waiting up to 40 minutes on network')
  await p.clock.sleep(30 * minute)
  expect(await failing(p)).toMatchObject({ status: 'True', reason: 'ClusterOperatorDegraded' })
  expect((await progressing(p))?.message).toBe(
    'Unable to apply 4.19.14: wait has exceeded 40 minutes for these operators: network',
  )
  p.faults.set({ degradedOperators: undefined })
  await p.clock.sleep(40 * minute)
  expect((await p.version()).status.history?.[0]?.state).toBe('Completed')
})

it('without an update a degraded operator fails at once, with Progressing=False', async () => {
  const p = await platform({}, { faults: { degradedOperators: ['dns'] } })
  await p.clock.sleep(minute)
  expect((await failing(p))?.status).toBe('True')
  expect(await progressing(p)).toMatchObject({
    status: 'False',
    message: 'Error while reconciling 4.18.21: the cluster operator dns is degraded',
  })
})
