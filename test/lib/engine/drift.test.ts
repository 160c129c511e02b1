import { expect, test } from 'vitest'
import { leavesOf } from '../../../src/lib/kube/field-changes.ts'
import { driftLines, driftOf, type SealedFact, sealedFact } from '../../../src/lib/engine/sealed-plan.ts'
import fixture from './drift.json' with { type: 'json' }

const kubevirt = (spec: object) =>
  sealedFact('kubevirt', 'kubevirts/kubevirt in namespace kubevirt', leavesOf({ spec }))
const nodes = (...names: string[]) =>
  sealedFact('nodes', 'the nodes', Object.fromEntries(names.map((name) => [name, true])))
const crds = (versions: string[]) => sealedFact('crds', 'storedVersions', { 'vms.kubevirt.io': versions })
const isTag = (_: SealedFact, { path }: { path: string }) => path === 'spec.imageTag'
const now = (...facts: SealedFact[]) => ({ facts, unsealed: [] })
const nobody = () => false

test('an empty object and an absent one are the same fact', () => {
  expect(driftOf([kubevirt({ infra: {} })], now(kubevirt({})), nobody)).toEqual([])
  expect(kubevirt({ infra: {} }).fingerprint).toBe(kubevirt({}).fingerprint)
})

test('an empty list is not an absent one', () => {
  const drift = driftOf([kubevirt({ methods: ['LiveMigrate'] })], now(kubevirt({ methods: [] })), nobody)
  expect(driftLines(drift)).toEqual([
    'spec.methods of kubevirts/kubevirt in namespace kubevirt was ["LiveMigrate"], is []',
  ])
})

test('a line for each field, in words', () => {
  const drift = driftOf(
    [kubevirt({ imageTag: 'v1', gone: 1 }), nodes('a', 'b'), crds(['v1alpha3'])],
    now(kubevirt({ imageTag: 'v2', fresh: true }), nodes('b', 'c'), crds(['v1'])),
    nobody,
  )
  expect(driftLines(drift)).toEqual(fixture.lines)
})

test('what cannot be read any more is drift, with the reason', () => {
  const unseen = { facts: [], unsealed: [{ id: 'nodes', why: 'nodes is forbidden' }] }
  expect(driftLines(driftOf([nodes('a')], unseen, nobody))).toEqual([
    'the nodes cannot be compared: nodes is forbidden',
  ])
})

test("what is the plan's own work is none, all else in the same fact is", () => {
  const drift = driftOf([kubevirt({ imageTag: 'v1', a: 1 })], now(kubevirt({ imageTag: 'v2', a: 2 })), isTag)
  expect(drift).toMatchObject([{ changes: [{ path: 'spec.a', from: 1, to: 2 }] }])
})
