import { describe, expect, test } from 'vitest'
import type { ClusterServiceVersion, InstallPlan } from '../../../../src/lib/kube/kinds/operator-kinds.ts'
import {
  assessCsv,
  heldByCondition,
  assessInstallPlan,
  assessSubscription,
} from '../../../../src/lib/openshift/olm-status.ts'
import { csv, installPlan, nameOf, subscription } from './lifecycle.ts'

const at = new Date('2026-11-20T08:30:00Z')

/** Phases with minutes after eight, the newest last. */
const history = (...phases: readonly (readonly [phase: string, minute: number])[]) =>
  phases.map(([phase, minute]) => ({
    phase,
    lastTransitionTime: `2026-11-20T08:${String(minute).padStart(2, '0')}:00Z`,
  }))

describe('trap 10: only the phase of the CSV proves anything, and Failed is not the end', () => {
  test.each<readonly [string, ClusterServiceVersion['status'], string]>([
    ['Succeeded', { phase: 'Succeeded' }, 'succeeded'],
    ['Pending', { phase: 'Pending', reason: 'RequirementsNotMet' }, 'going'],
    ['Installing', { phase: 'Installing' }, 'going'],
    ['no status yet', undefined, 'going'],
    ['Replacing', { phase: 'Replacing', reason: 'BeingReplaced' }, 'leaving'],
    [
      'Failed a minute ago',
      {
        phase: 'Failed',
        reason: 'ComponentUnhealthy',
        conditions: history(['Succeeded', 0], ['Failed', 29]),
      },
      'failing',
    ],
    [
      'Failed for long',
      {
        phase: 'Failed',
        reason: 'ComponentUnhealthy',
        conditions: history(['Succeeded', 0], ['Failed', 10]),
      },
      'failed',
    ],
    [
      'Failed for what nothing mends',
      { phase: 'Failed', reason: 'TooManyOperatorGroups', conditions: history(['Failed', 29]) },
      'failed',
    ],
  ])('%s', (_name, status, state) => {
    expect(assessCsv(csv('4.19.8', status), at).state).toBe(state)
  })

  test('a CSV that flips has failed once it was without success for long, though its last phase is new', () => {
    const conditions = history(
      ['Succeeded', 1],
      ['Failed', 2],
      ['Pending', 5],
      ['Installing', 20],
      ['Failed', 29],
    )
    const status = {
      phase: 'Failed',
      reason: 'InstallCheckFailed',
      conditions,
      lastTransitionTime: '2026-11-20T08:29:00Z',
    }
    expect(assessCsv(csv('4.19.8', status), at)).toMatchObject({
      state: 'failed',
      since: '2026-11-20T08:29:00Z',
      unsettledSince: '2026-11-20T08:02:00Z',
    })
  })

  test('AtLatestKnown with the new CSV installed, the plan Complete: and the CSV has failed', () => {
    const one = subscription({ installedCSV: nameOf('4.19.8'), currentCSV: nameOf('4.19.8') })
    expect(assessSubscription(one)).toMatchObject({
      state: 'AtLatestKnown',
      installed: nameOf('4.19.8'),
      troubles: [],
    })
    expect(assessInstallPlan(installPlan('Complete')).state).toBe('done')
    const failed = csv('4.19.8', { phase: 'Failed', reason: 'NoOperatorGroup' })
    expect(assessCsv(failed, at).state).toBe('failed')
  })
})

describe('trap 11: a hold looks like an upgrade that is stuck', () => {
  const old = csv('4.18.9', { phase: 'Replacing', reason: 'BeingReplaced' })
  const held = csv(
    '4.19.8',
    {
      phase: 'Pending',
      reason: 'OperatorConditionNotUpgradeable',
      message: 'operator is not upgradeable: upgrading',
      lastTransitionTime: '2026-11-20T08:00:00Z',
    },
    { replaces: nameOf('4.18.9') },
  )

  test('told by the new CSV alone: the Subscription is content and the plan complete', () => {
    const one = subscription({ installedCSV: nameOf('4.19.8'), state: 'AtLatestKnown' })
    expect(assessSubscription(one).troubles).toEqual([])
    expect(heldByCondition([old, held])).toEqual({
      csv: nameOf('4.19.8'),
      replaces: nameOf('4.18.9'),
      message: 'operator is not upgradeable: upgrading',
      since: '2026-11-20T08:00:00Z',
    })
    expect(assessCsv(held, at).state).toBe('held')
  })

  test('a CSV that waits for something else is not held', () => {
    expect(
      heldByCondition([old, csv('4.19.8', { phase: 'Pending', reason: 'RequirementsNotMet' })]),
    ).toBeUndefined()
    expect(heldByCondition([])).toBeUndefined()
  })
})

describe('install plans', () => {
  test.each<readonly [string, InstallPlan, string]>([
    ['no phase yet', installPlan(''), 'preparing'],
    ['Planning', installPlan('Planning'), 'preparing'],
    ['approved too early', installPlan('', { approved: true }), 'preparing'],
    ['RequiresApproval', installPlan('RequiresApproval'), 'needs-approval'],
    ['approved', installPlan('RequiresApproval', { approved: true }), 'approved'],
    ['Installing', installPlan('Installing', { approved: true }), 'installing'],
    ['Failed', installPlan('Failed', { approved: true }), 'failed'],
  ])('%s', (_name, plan, state) => {
    expect(assessInstallPlan(plan).state).toBe(state)
  })

  test('what it installs is told once each, and whether the Subscription means this one', () => {
    const plan = installPlan('RequiresApproval', { clusterServiceVersionNames: ['a', 'b', 'a'] })
    expect(assessInstallPlan(plan)).toMatchObject({ csvs: ['a', 'b'], referenced: false })
    const means = (ref: object) => assessInstallPlan(plan, subscription({ installPlanRef: ref })).referenced
    expect(means({ name: 'install-abcde', namespace: 'openshift-cnv', uid: 'u1' })).toBe(true)
    expect(means({ name: 'install-abcde' })).toBe(true)
    expect(means({ name: 'install-other' })).toBe(false)
    expect(means({ name: 'install-abcde', namespace: 'elsewhere' })).toBe(false)
    expect(means({ name: 'install-abcde', uid: 'u2' })).toBe(false)
  })
})

test('what keeps a Subscription from going on, and the approval that nobody set', () => {
  const one = subscription(
    { installPlanRef: { name: 'install-abcde' } },
    [
      ['ResolutionFailed', 'True', 'ConstraintsNotSatisfiable', 'no operators found'],
      ['CatalogSourcesUnhealthy', 'False'],
      ['InstallPlanPending', 'True', 'RequiresApproval'],
    ],
    { installPlanApproval: undefined as never },
  )
  expect(assessSubscription(one)).toMatchObject({
    approval: 'Automatic',
    plan: 'install-abcde',
    troubles: [
      { type: 'ResolutionFailed', reason: 'ConstraintsNotSatisfiable', message: 'no operators found' },
    ],
  })
})
