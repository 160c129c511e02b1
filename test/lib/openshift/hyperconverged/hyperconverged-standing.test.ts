import { describe, expect, test } from 'vitest'
import type { HyperConverged } from '../../../../src/lib/kube/kinds/operator-kinds.ts'
import { condition } from '../../../../src/lib/kube/object.ts'
import { assessHyperConverged } from '../../../../src/lib/openshift/hyperconverged.ts'
import { hyperConverged } from './hyperconverged.ts'

test('at rest', () => {
  expect(assessHyperConverged(hyperConverged())).toEqual({
    name: 'kubevirt-hyperconverged',
    namespace: 'openshift-cnv',
    operatorVersion: '4.18.9',
    good: true,
    why: [],
    upgradeable: { is: 'yes' },
    health: 'healthy',
    current: true,
  })
})

/** What a script asks that waits for Upgradeable. */
const naive = (hco: HyperConverged) => condition(hco, 'Upgradeable')?.status !== 'False'

describe('trap 5: Upgradeable alone, or as "not False", proves nothing', () => {
  test.each<readonly [string, HyperConverged, RegExp]>([
    [
      'merely not available',
      hyperConverged([['Available', 'False', 'CDINotAvailable', 'x']]),
      /Available=False \(CDINotAvailable\): x/,
    ],
    [
      'in the middle of an upgrade',
      hyperConverged([['Progressing', 'True', 'HCOUpgrading', 'to 4.19.8']]),
      /Progressing=True/,
    ],
    ['of an older generation', hyperConverged([], { generation: 8 }), /generation 7, .* generation 8/],
    [
      'a condition of an older generation',
      hyperConverged([], { observed: { Upgradeable: 6 } }),
      /generation 6/,
    ],
  ])('%s: Upgradeable=True, and not good', (_name, hco, why) => {
    expect(naive(hco)).toBe(true)
    const found = assessHyperConverged(hco)
    expect(found.good).toBe(false)
    expect(found.why.join('\n')).toMatch(why)
  })

  test('after a failed reconcile every other condition is Unknown, which is no "yes"', () => {
    const types = ['Available', 'Progressing', 'Degraded', 'Upgradeable'] as const
    const unknown = types.map((type) => [type, 'Unknown', 'StatusUnknown', 'Unknown Status'] as const)
    const hco = hyperConverged([['ReconcileComplete', 'False', 'ReconcileFailed', 'Error'], ...unknown])
    expect(naive(hco)).toBe(true)
    expect(assessHyperConverged(hco)).toMatchObject({
      good: false,
      upgradeable: { is: 'unknown', reason: 'StatusUnknown' },
    })
    expect(assessHyperConverged(hco).why).toHaveLength(5)
  })

  test('a yes about an older spec is not known', () => {
    expect(assessHyperConverged(hyperConverged([], { generation: 8 })).upgradeable).toMatchObject({
      is: 'unknown',
      reason: 'Outdated',
    })
  })

  test('absent conditions are not good', () => {
    const { status: _, ...bare } = hyperConverged()
    expect(naive(bare)).toBe(true)
    const found = assessHyperConverged(bare)
    expect(found.why).toContain('Available is not set')
    expect(found.upgradeable.is).toBe('unknown')
  })
})

test('trap 7: healthy, with the version of the target, and still upgrading', () => {
  const hco = hyperConverged([['Progressing', 'True', 'HCOUpgrading', 'to 4.18.9']])
  expect(hco.status?.systemHealthStatus).toBe('healthy')
  expect(assessHyperConverged(hco)).toMatchObject({
    operatorVersion: '4.18.9',
    good: false,
    health: 'healthy',
  })
})

test('a release that sets no observedGeneration is taken as it is', () => {
  const hco = hyperConverged([], { generation: 8, observed: 'nowhere' })
  expect(assessHyperConverged(hco)).toMatchObject({ good: true, current: true })
})

test('a tainted configuration is told, and is not in the way', () => {
  const hco = hyperConverged([['TaintedConfiguration', 'True', 'UnsupportedFeatureAnnotation', 'jsonpatch']])
  expect(assessHyperConverged(hco)).toMatchObject({ good: true, tainted: 'jsonpatch' })
})
