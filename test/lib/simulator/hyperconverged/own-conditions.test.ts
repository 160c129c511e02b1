import { describe, expect, test } from 'vitest'
import type { Condition } from '../../../../src/lib/kube/object.ts'
import {
  aggregated,
  failedConditions,
  healthOf,
  initialConditions,
  type Told,
  troubleOf,
} from '../../../../src/simulator/hyperconverged/hyperconverged-status.ts'

const good: Condition[] = [
  { type: 'Available', status: 'True' },
  { type: 'Progressing', status: 'False' },
  { type: 'Degraded', status: 'False' },
]

function saying(component: string, type: string, status: 'True' | 'False', message = 'so it is'): Told {
  return { component, conditions: [...good.filter((c) => c.type !== type), { type, status, message }] }
}

/** `Type=Status/Reason` of each. */
const short = (conditions: readonly Condition[]) =>
  conditions.map(({ type, status, reason }) => `${type}=${status}/${reason}`)

const line = (available: string, progressing: string, degraded: string, upgradeable: string) => [
  'ReconcileComplete=True/ReconcileCompleted',
  `Available=${available}`,
  `Progressing=${progressing}`,
  `Degraded=${degraded}`,
  `Upgradeable=${upgradeable}`,
]

const fine = 'ReconcileCompleted'
const kubevirt: Told = { component: 'KubeVirt', conditions: good }

describe('ocp 1.5: the conditions of a HyperConverged by those of its components', () => {
  test.each([
    ['all is well', [kubevirt], line(`True/${fine}`, `False/${fine}`, `False/${fine}`, `True/${fine}`)],
    [
      'one is progressing',
      [kubevirt, saying('CDI', 'Progressing', 'True')],
      line(`True/${fine}`, 'True/CDIProgressing', `False/${fine}`, 'False/CDIProgressing'),
    ],
    [
      'one is not upgradeable, which wins over progressing whoever comes first',
      [saying('SSP', 'Upgradeable', 'False'), saying('CDI', 'Progressing', 'True')],
      line(`True/${fine}`, 'True/CDIProgressing', `False/${fine}`, 'False/SSPNotUpgradeable'),
    ],
    [
      'one is degraded',
      [saying('NetworkAddonsConfig', 'Degraded', 'True')],
      line('False/HCODegraded', `False/${fine}`, 'True/NetworkAddonsConfigDegraded', 'False/HCODegraded'),
    ],
    [
      'one has no conditions',
      [{ component: 'SSP', conditions: [] }],
      line('False/SSPConditions', 'True/SSPConditions', `False/${fine}`, 'False/SSPConditions'),
    ],
    [
      'one is not available and no more: Upgradeable stays True',
      [saying('CDI', 'Available', 'False')],
      line('False/CDINotAvailable', `False/${fine}`, `False/${fine}`, `True/${fine}`),
    ],
    [
      'two are degraded: the last one is told',
      [saying('KubeVirt', 'Degraded', 'True'), saying('CDI', 'Degraded', 'True')],
      line('False/HCODegraded', `False/${fine}`, 'True/CDIDegraded', 'False/HCODegraded'),
    ],
  ])('%s', (_, told, expected) => {
    expect(short(aggregated(troubleOf(told), undefined))).toEqual(expected)
  })

  test('in upgrade mode it is progressing, and Upgradeable stays True where no component says otherwise', () => {
    const conditions = aggregated(troubleOf([kubevirt]), '1.18.1')
    expect(short(conditions)).toEqual(
      line(`True/${fine}`, 'True/HCOUpgrading', `False/${fine}`, `True/${fine}`),
    )
    expect(conditions[2]?.message).toBe('HCO is now upgrading to version 1.18.1')
  })

  test('a component is named with what it says', () => {
    const [, , progressing] = aggregated(
      troubleOf([saying('CDI', 'Progressing', 'True', 'rolling')]),
      undefined,
    )
    expect(progressing?.message).toBe('CDI is progressing: rolling')
  })

  test('after an error nothing is known of the rest', () => {
    expect(short(failedConditions('no'))).toEqual([
      'ReconcileComplete=False/ReconcileFailed',
      ...['Available', 'Progressing', 'Degraded', 'Upgradeable'].map(
        (type) => `${type}=Unknown/StatusUnknown`,
      ),
    ])
  })

  test('a new one is Init', () => {
    expect(short(initialConditions)).toEqual([
      'ReconcileComplete=Unknown/Init',
      'Available=False/Init',
      'Progressing=True/Init',
      'Degraded=False/Init',
      'Upgradeable=Unknown/Init',
    ])
  })
})

const health = (told: readonly Told[], to?: string) =>
  healthOf(aggregated(troubleOf(told), to), to !== undefined)

describe('ocp 1.5: systemHealthStatus', () => {
  test.each([
    ['healthy', [kubevirt], undefined],
    ['warning', [saying('CDI', 'Progressing', 'True')], undefined],
    ['error', [saying('CDI', 'Available', 'False')], undefined],
    ['error', [saying('CDI', 'Degraded', 'True')], undefined],
    ['healthy', [saying('CDI', 'Available', 'False')], '1.18.1'],
    ['healthy', [saying('CDI', 'Progressing', 'True')], '1.18.1'],
    ['error', [saying('CDI', 'Degraded', 'True')], '1.18.1'],
  ] as const)('%s of %j in an upgrade to %s', (expected, told, to) => {
    expect(health(told, to)).toBe(expected)
  })
})
