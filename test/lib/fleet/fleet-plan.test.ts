import { expect, test } from 'vitest'
import { coveredBy, sealPlan } from '../../../src/lib/engine/sealed-plan.ts'
import { type FleetPlanDocument, readFleetPlan, sealFleet } from '../../../src/lib/fleet/fleet-plan.ts'
import { wavesOf } from '../../../src/lib/fleet/fleet-waves.ts'

const upgrade = {
  apiVersion: 'kvup.io/v1alpha1',
  kind: 'UpgradePlan',
  from: 'v1.7.4',
  to: 'v1.8.4',
  method: 'image-tag',
  request: { to: 'v1.8.4' },
  findings: [],
  accepted: [],
  steps: [{ id: 'a', title: 'A' }],
}
const own = { uid: 'p', at: '2026-11-20T22:00:00Z', by: 'me@here', cluster: 'c', kvup: '0', facts: [] }
const unsealed = ['kubevirt', 'operator', 'crds', 'kubernetes', 'nodes'].map((id) => ({
  id,
  why: 'forbidden',
}))
const plan = { ...upgrade, seal: sealPlan({ ...own, unsealed }, coveredBy(upgrade)) }
const cluster = (name: string) => ({ name, context: name, uid: `uid of ${name}`, windows: [], plan })

const document = {
  apiVersion: 'kvup.io/v1alpha1',
  kind: 'FleetPlan',
  to: 'v1.8.4',
  waves: wavesOf([{ name: 'c', wave: 0 }, { name: 'a' }, { name: 'b' }], 2),
  soakSeconds: 60,
  stopAfter: '1',
  clusters: ['a', 'b', 'c'].map(cluster),
} as unknown as FleetPlanDocument

const sealed = (more: Partial<FleetPlanDocument> = {}) =>
  sealFleet({ ...document, ...more }, { uid: 'u', at: 'now', by: 'me@here', kvup: '0' })
const read = (value: object) => readFleetPlan(JSON.stringify(value), 'f')

test('a fleet plan that was edited is refused', () => {
  expect(read(sealed()).seal.uid).toBe('u')
  expect(() => read({ ...sealed(), soakSeconds: 0 })).toThrow('was edited')
  expect(() => read(document)).toThrow('no sealed')
})

test.each([
  [
    'a cluster that is in no wave would be left out',
    [
      { wave: 0, clusters: ['c'] },
      { wave: 1, clusters: ['a'] },
    ],
  ],
  [
    'one in two waves would be upgraded twice',
    [
      { wave: 0, clusters: ['c', 'a'] },
      { wave: 1, clusters: ['a', 'b'] },
    ],
  ],
  ['one that the plan does not have', [{ wave: 0, clusters: ['a', 'b', 'd'] }]],
])('%s: no fleet plan, whoever sealed it', (_, waves) => {
  expect(() => read(sealed({ waves }))).toThrow('no sealed')
})

test.each(['a: *nowhere', 'kind: FleetPlan\napiVersion: *x'])(
  'an alias that leads nowhere is no plan: %j',
  (text) => {
    expect(() => readFleetPlan(text, 'f')).toThrow('no sealed')
  },
)
