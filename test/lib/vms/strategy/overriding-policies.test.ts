import { expect, test } from 'vitest'
import type { MigrationPolicy } from '../../../../src/lib/kube/kinds/kubevirt-kinds.ts'
import { paintFor } from '../../../../src/lib/output/terminal.ts'
import { policyLines } from '../../../../src/lib/output/views/vms/workload-strategy.ts'
import {
  type EffectiveSetting,
  overridingPolicies,
} from '../../../../src/lib/vms/strategy/workload-settings.ts'
import fixture from './overriding-policies.json' with { type: 'json' }

const settings = fixture.settings as unknown as readonly EffectiveSetting[]

const policies = fixture.policies as unknown as MigrationPolicy[]

test('each policy by name, with what it overrides and what holds for all others', () => {
  expect(overridingPolicies(policies, settings)).toEqual(fixture.overridden)
})

test('as a table, and nothing at all where there is none', () => {
  const paint = paintFor({ colour: false, unicode: false })
  const size = { columns: Infinity, wide: true }
  expect(policyLines([], paint, size)).toEqual([])
  expect(policyLines(overridingPolicies(policies, settings), paint, size)).toEqual(fixture.lines)
})
