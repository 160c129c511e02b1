import { expect, test } from 'vitest'
import { type Deployment, Deployments } from '../../../../src/lib/kube/kinds/workload-kinds.ts'
import { type ConfigMap, ConfigMaps } from '../../../../src/lib/kube/kinds/core-kinds.ts'
import { KubeVirts } from '../../../../src/lib/kube/kinds/kubevirt-kinds.ts'
import type { Store } from '../../../../src/simulator/api/store.ts'
import { freshStore, map, namespace, refused } from './fixture.ts'

const ref = { name: 'x', namespace }

function apply(store: Store, data: Record<string, string>, manager: string, force = false): ConfigMap {
  const wanted: ConfigMap = { ...map('x'), data }
  return store.patch(ConfigMaps, ref, { type: 'apply', body: wanted, force }, { manager })
}

test('two conflicts are listed by manager, with the causes in the details', () => {
  const store = freshStore()
  apply(store, { a: '1', b: '1' }, 'helm')
  const error = refused(() => apply(store, { a: '2', b: '2' }, 'kvup'))
  expect(error.message).toBe('Apply failed with 2 conflicts: conflicts with "helm":\n- .data.a\n- .data.b')
  expect(error).toMatchObject({
    body: {
      details: {
        causes: [{ reason: 'FieldManagerConflict', message: 'conflict with "helm"', field: '.data.a' }, {}],
      },
    },
  })
})

test('a forced apply is no-op the second time', () => {
  const store = freshStore()
  apply(store, { a: '1' }, 'helm')
  const first = apply(store, { a: '2' }, 'kvup', true)
  expect(apply(store, { a: '2' }, 'kvup').metadata.resourceVersion).toBe(first.metadata.resourceVersion)
})

const deployment = (env: { name: string; value: string }[]): Deployment => ({
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: ref,
  spec: { selector: {}, template: { spec: { containers: [{ name: 'c', env }] } } },
})

test('an env of one manager goes when it is dropped; the other stays', () => {
  const store = freshStore()
  const put = (manager: string, ...names: string[]) =>
    store.patch(
      Deployments,
      ref,
      { type: 'apply', body: deployment(names.map((name) => ({ name, value: name }))), force: false },
      { manager },
    ) as Deployment
  put('one', 'A', 'B')
  put('two', 'C')
  const env = put('one', 'A').spec?.template?.spec?.containers?.[0]?.env
  expect(env?.map(({ name }) => name)).toEqual(['A', 'C'])
})

test('managedFields that a writer edits are kept: how kubectl takes over older entries', () => {
  const store = freshStore()
  store.create(ConfigMaps, map('x'), { manager: 'kubectl-client-side-apply' })
  const [entry] = store.read(ConfigMaps, ref)?.metadata.managedFields ?? []
  const value = [{ ...entry, manager: 'kvup', operation: 'Apply' }]
  const body = [{ op: 'replace', path: '/metadata/managedFields', value }]
  const { metadata } = store.patch(ConfigMaps, ref, { type: 'json', body }, { manager: 'kvup' })
  expect(metadata.managedFields?.map(({ manager, operation }) => `${manager} ${operation}`)).toEqual([
    'kvup Apply',
  ])
  expect(apply(store, { a: '2' }, 'kvup').data).toEqual({ a: '2' })
})

test('status in an apply to the main resource is neither kept nor owned', () => {
  const store = freshStore()
  const body = {
    apiVersion: 'kubevirt.io/v1',
    kind: 'KubeVirt',
    metadata: ref,
    spec: { imageTag: 'v1' },
    status: { phase: 'Deployed' },
  }
  const made = store.patch(KubeVirts, ref, { type: 'apply', body, force: false }, { manager: 'kvup' })
  expect(made).not.toHaveProperty('status')
  expect(made.metadata.managedFields).toMatchObject([
    { manager: 'kvup', fieldsV1: { 'f:spec': { 'f:imageTag': {} } } },
  ])
  expect(JSON.stringify(made.metadata.managedFields)).not.toContain('f:status')
})
