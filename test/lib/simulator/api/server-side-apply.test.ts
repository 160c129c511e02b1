import { expect, test } from 'vitest'
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
