import { expect, test } from 'vitest'
import { Deployments } from '../../../../src/lib/kube/kinds/workload-kinds.ts'
import {
  InstallPlans,
  type Subscription,
  Subscriptions,
} from '../../../../src/lib/kube/kinds/operator-kinds.ts'
import { condition } from '../../../../src/lib/kube/object.ts'
import { okdOlm } from '../../../../src/simulator/olm/olm-shape.ts'
import { csvName, hasSucceeded, lifecycle, phaseOf } from './lifecycle.ts'

test('a channel that has the next release brings a plan, which waits for its approval', async () => {
  const olm = await lifecycle(okdOlm())
  await olm.clock.sleep(60_000)
  expect(olm.plans()).toHaveLength(1)
  const { metadata } = olm.subscription()
  await olm.writer.mergePatch(Subscriptions, metadata, { spec: { channel: 'stable-v1.18' } })
  await olm.until('there is a plan', () => olm.plans().length === 2)
  expect(phaseOf(olm.plans()[1])).toBe('')
  await olm.until('it has a phase', () => phaseOf(olm.plans()[1]) !== '')
  expect(olm.plans()[1]).toMatchObject({
    spec: { approved: false, clusterServiceVersionNames: [csvName('1.18.1')], generation: 2 },
    status: { phase: 'RequiresApproval' },
  })
  await olm.until('it is pending', () => olm.subscription().status?.state === 'UpgradePending')
  await olm.clock.sleep(600_000)
  expect(olm.plans()).toHaveLength(2)
  await olm.approve(olm.plans()[1])
  await olm.until('the old one is gone', () => olm.csv(csvName('1.17.3')) === undefined)
  await olm.until('the new one is through', () => hasSucceeded(olm.csv(csvName('1.18.1'))!))
  expect(olm.subscription().status).toMatchObject({ state: 'AtLatestKnown', installedCSV: csvName('1.18.1') })
  const { namespace } = olm.shape
  const operator = olm.store.read(Deployments, { name: 'hco-operator', namespace })
  expect(JSON.stringify(operator)).toContain(
    `"name":"OPERATOR_CONDITION_NAME","value":"${csvName('1.18.1')}"`,
  )
  expect(olm.store.list(InstallPlans, { namespace }).items).toHaveLength(2)
})

test('olm-real: in a hop nothing is resolved, on every Subscription, until the old CSV is gone; requirements are missing first', async () => {
  const other = {
    package: 'lvms',
    channel: 'stable',
    approval: 'Manual',
    installed: '1.0.0',
    entries: [{ name: 'lvms.v1.0.0', version: '1.0.0' }],
  } as const
  const olm = await lifecycle(okdOlm({ channel: 'stable-v1.18', others: [other] }))
  const said = () =>
    (olm.store.list(Subscriptions).items as Subscription[]).map((one) => condition(one, 'ResolutionFailed'))
  await olm.until('there is a plan', () => phaseOf(olm.plans().at(-1)) === 'RequiresApproval')
  await olm.approve(olm.plans().at(-1))
  await olm.until('the new one is there', () => olm.csv(csvName('1.18.1')) !== undefined)
  await olm.until('requirements are missing', () => {
    return olm.csv(csvName('1.18.1'))?.status?.reason === 'RequirementsNotMet'
  })
  const unreferenced = (version: string) => () =>
    said().every((one) =>
      one?.message?.includes(
        `clusterserviceversion ${csvName(version)} exists and is not referenced by a subscription`,
      ),
    )
  await olm.until(
    'it is said of the new one, which the Subscription does not name yet',
    unreferenced('1.18.1'),
  )
  await olm.until('it is said of the old one', unreferenced('1.17.3'))
  for (const one of said()) {
    expect(one?.reason).toBe('ConstraintsNotSatisfiable')
    expect(one?.lastTransitionTime).toBeUndefined()
  }
  await olm.until('the old one is gone', () => olm.csv(csvName('1.17.3')) === undefined)
  await olm.until('it is taken back', () => said().every((one) => one === undefined))
  await olm.until('the new one is through', () => hasSucceeded(olm.csv(csvName('1.18.1'))!))
})
