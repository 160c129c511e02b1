import { expect, test } from 'vitest'
import type { VirtualMachineInstance } from '../../../src/lib/kube/kinds/kubevirt-kinds.ts'
import { knownReleases } from '../../../src/lib/releases/releases.ts'
import { traitNames, vmTraits } from '../../../src/lib/kubevirt/vm-traits.ts'
import fixture from './vm-traits.json' with { type: 'json' }

const vmi = (spec: object): VirtualMachineInstance => ({
  apiVersion: 'kubevirt.io/v1',
  kind: 'VirtualMachineInstance',
  metadata: { name: 'a', namespace: 'demo' },
  spec,
})

const traitsOf = (spec: object) => traitNames.filter((name) => vmTraits[name](vmi(spec)))

test.each(fixture.shapes as unknown as [object, string[]][])('%j is %j', (spec, traits) => {
  expect(traitsOf(spec)).toEqual(traits)
})

test('the release data name traits that there are', () => {
  const named = [...knownReleases.knownBad, ...knownReleases.shifts].flatMap(({ hits }) => hits ?? [])
  expect(named.filter((name) => !traitNames.some((trait) => trait === name))).toEqual([])
  expect(named.length).toBeGreaterThan(5)
})
