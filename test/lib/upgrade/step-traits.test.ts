import { expect, test } from 'vitest'
import { isBetweenSteps, isOutsideOfRolls } from '../../../src/lib/upgrade/step-traits.ts'

/** Where a run stands before a step, people restart VMs; nothing rolls; or components do. */
const standing: readonly (readonly [id: string, between: boolean, outside: boolean])[] = [
  ['gate', false, true],
  ['gate-v1.8.4', true, true],
  ['gate-1.18.1', true, true],
  ['vms-follow-v1.7.4', true, true],
  ['migrations-in-flight', true, true],
  ['migrations-in-flight-v1.7.4', true, true],
  ['pause-workload-updates', false, true],
  ['apply-operator-manifest-v1.7.4', false, true],
  ['approve-1.18.1', false, true],
  ['virt-controller-leads', false, true],
  ['healthy-again', false, true],
  ['workloads', false, true],
  ['healthy', false, false],
  ['healthy-at-old-version', false, false],
  ['install-strategy-v1.7.4', false, false],
  ['put-image-tag-in', false, false],
  ['csv-succeeded-1.18.1', false, false],
  ['virt-handler', false, false],
  ['a-component-of-tomorrow', false, false],
]

test.each(standing)('before %s', (id, between, outside) => {
  expect([isBetweenSteps(id), isOutsideOfRolls(id)]).toEqual([between, outside])
})
