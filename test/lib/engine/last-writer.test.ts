import { expect, test } from 'vitest'
import type { ManagedField } from '../../../src/lib/kube/object.ts'
import { lastWriter } from '../../../src/lib/kube/last-writer.ts'

const wrote = (manager: string, time: string, fieldsV1: Record<string, unknown>): ManagedField => ({
  manager,
  time,
  fieldsV1,
})
const object = (...managedFields: ManagedField[]) => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name: 'x', managedFields },
})
const tag = { 'f:spec': { 'f:imageTag': {} } }

test('names who wrote the field last, but not kvup and not who wrote another field', () => {
  const fields = [
    wrote('kubectl-edit', '2026-01-01T00:00:00Z', tag),
    wrote('argocd-controller', '2026-01-02T00:00:00Z', tag),
    wrote('kvup', '2026-01-03T00:00:00Z', tag),
    wrote('virt-operator', '2026-01-04T00:00:00Z', { 'f:status': {} }),
  ]
  expect(lastWriter(object(...fields), '/spec/imageTag')).toBe('argocd-controller at 2026-01-02T00:00:00Z')
})

test('who owns all of a field owns what is in it', () => {
  expect(lastWriter(object(wrote('helm', '', { 'f:spec': {} })), '/spec/imageTag')).toBe('helm')
})

test('says nothing where nothing is known', () => {
  expect(lastWriter(object(), '/spec/imageTag')).toBeUndefined()
  expect(lastWriter(object(wrote('kvup', '', tag)), '/spec/imageTag')).toBeUndefined()
})
