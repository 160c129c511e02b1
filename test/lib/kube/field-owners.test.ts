import { describe, expect, test } from 'vitest'
import {
  type FieldOwner,
  ownersFrom,
  ownersOfField,
  ownershipBack,
} from '../../../src/lib/kube/field-owners.ts'
import type { KubeObject, ManagedField } from '../../../src/lib/kube/object.ts'
import fixture from './field-owners.json' with { type: 'json' }

const pointer = '/spec/workloadUpdateStrategy/workloadUpdateMethods'
const leaf = { 'f:workloadUpdateMethods': {} }
const inStrategy = (strategy: object, more: object = {}) => ({
  'f:spec': { 'f:workloadUpdateStrategy': strategy, ...more },
})
const entry = (
  manager: string,
  fieldsV1: Record<string, unknown>,
  more: ManagedField = {},
): ManagedField => ({
  manager,
  operation: 'Update',
  apiVersion: 'kubevirt.io/v1',
  time: '2026-01-01T00:00:00Z',
  fieldsType: 'FieldsV1',
  fieldsV1,
  ...more,
})
const object = (...managedFields: ManagedField[]): KubeObject => ({
  apiVersion: 'kubevirt.io/v1',
  kind: 'KubeVirt',
  metadata: { name: 'kubevirt', resourceVersion: '7', managedFields },
})
const taken = entry('kvup', inStrategy(leaf))
const after = (of: KubeObject, owners: readonly FieldOwner[], pointers = [pointer]) =>
  ownershipBack(of, pointers, owners).find(({ path }) => path === '/metadata/managedFields')
const entries = (of: KubeObject, owners: readonly FieldOwner[]) => {
  const found = after(of, owners)
  return found && 'value' in found ? (found.value as ManagedField[]) : undefined
}

describe('who owned a field is read from managedFields', () => {
  test('as one value, by each of its owners, with whether the entry is of nothing else', () => {
    const of = object(
      entry('fleet', inStrategy({ '.': {}, ...leaf }, { 'f:imageTag': {} }), { operation: 'Apply' }),
      entry('hand', inStrategy(leaf)),
      entry('other', { 'f:spec': { 'f:workloadUpdateStrategy': {} } }),
      entry('deeper', {
        'f:spec': { 'f:workloadUpdateStrategy': { 'f:workloadUpdateMethods': { 'f:x': {} } } },
      }),
    )
    const common = { apiVersion: 'kubevirt.io/v1', path: pointer }
    expect(ownersOfField(of, [pointer])).toEqual([
      { manager: 'fleet', operation: 'Apply', ...common },
      { manager: 'hand', operation: 'Update', ...common, only: { time: '2026-01-01T00:00:00Z' } },
    ])
  })

  test('in the words of its own version', () => {
    const v1 = '/spec/virtualization/workloadUpdateStrategy/workloadUpdateMethods'
    const fields = { 'f:spec': { 'f:virtualization': { 'f:workloadUpdateStrategy': leaf } } }
    expect(
      ownersOfField(object(entry('hand', fields, { apiVersion: 'hco/v1' })), [pointer, v1]),
    ).toMatchObject([{ apiVersion: 'hco/v1', path: v1 }])
  })

  test('nobody is another answer than not told', () => {
    expect(ownersOfField(object(entry('fleet', {})), [pointer])).toEqual([])
    expect(ownersOfField(object(), [pointer])).toBeUndefined()
  })
})

const fleet: FieldOwner = {
  manager: 'fleet',
  operation: 'Apply',
  apiVersion: 'kubevirt.io/v1',
  path: pointer,
}
const hand: FieldOwner = { ...fleet, manager: 'hand', operation: 'Update', only: {} }
const applied = (fields: Record<string, unknown>) => entry('fleet', fields, { operation: 'Apply' })

describe('the field goes back, and nothing else', () => {
  test('to the entry that is there still; kvup keeps what else it owns', () => {
    const of = object(
      applied({ 'f:spec': { 'f:workloadUpdateStrategy': {} } }),
      entry('kvup', inStrategy(leaf, { 'f:imageTag': {} })),
    )
    expect(entries(of, [fleet])).toEqual([
      applied(inStrategy({ '.': {}, ...leaf })),
      entry('kvup', { 'f:spec': { 'f:imageTag': {} } }),
    ])
  })

  test('into holders that it did not own and does not own now', () => {
    expect(entries(object(applied({ 'f:spec': { 'f:imageTag': {} } }), taken), [fleet])).toEqual([
      applied(inStrategy(leaf, { 'f:imageTag': {} })),
    ])
  })

  test('an entry that went with the field is made again', () => {
    const { time: _, ...made } = entry('hand', inStrategy(leaf))
    expect(entries(object(applied({ 'f:spec': {} }), taken), [hand])).toEqual([
      applied({ 'f:spec': {} }),
      made,
    ])
  })

  test('where nobody owned it, kvup lets go', () => {
    expect(entries(object(applied({ 'f:spec': {} }), taken), [])).toEqual([applied({ 'f:spec': {} })])
  })

  test('tied to what was read', () => {
    expect(ownershipBack(object(applied({}), taken), [pointer], [fleet])[0]).toEqual({
      op: 'test',
      path: '/metadata/resourceVersion',
      value: '7',
    })
  })

  test.each(fixture.nothing as unknown as [string, KubeObject, readonly FieldOwner[]][])(
    'nothing is written where %s',
    (_, of, owners) => {
      expect(ownershipBack(of, [pointer], owners)).toEqual([])
    },
  )

  test('never from an entry of somebody else who calls himself otherwise', () => {
    const foreign = entry('kvup-not', inStrategy(leaf))
    expect(ownershipBack(object(applied({}), foreign), [pointer], [fleet])).toEqual([])
  })
})

describe('what was written down is believed in its form alone', () => {
  test('as it was written', () => {
    expect(ownersFrom(JSON.parse(JSON.stringify([fleet, hand])), [pointer])).toEqual([fleet, hand])
    expect(ownersFrom([], [pointer])).toEqual([])
  })

  test.each(fixture.strange as unknown as [string, unknown][])('none of it with %s', (_, said) => {
    expect(ownersFrom(said, [pointer])).toBeUndefined()
  })
})
