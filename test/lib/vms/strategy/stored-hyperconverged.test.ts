import { expect, test } from 'vitest'
import type { Reader } from '../../../../src/lib/kube/cluster.ts'
import type { CustomResourceDefinition } from '../../../../src/lib/kube/kinds/extension-kinds.ts'
import { ApiError } from '../../../../src/lib/kube/errors.ts'
import { storedHyperConverged } from '../../../../src/lib/openshift/hyperconverged.ts'
import fixture from './stored-hyperconverged.json' with { type: 'json' }

interface Served {
  served: readonly string[]
  stored?: string
  conversion?: string
  inEtcd?: readonly string[]
}

function definition({ served, stored, conversion, inEtcd = [] }: Served): CustomResourceDefinition {
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: 'hyperconvergeds.hco.kubevirt.io' },
    spec: {
      ...(conversion !== undefined && { conversion: { strategy: conversion } }),
      versions: served.map((name) => ({ name, served: true, storage: name === stored })),
    },
    status: { storedVersions: [...inEtcd] },
  }
}

const asking = (shape: Served, find: () => Promise<unknown>) =>
  storedHyperConverged({ versions: async () => shape.served, get: find } as unknown as Reader)
const asked = (shape: Served) => asking(shape, async () => ({ is: 'object', object: definition(shape) }))

const both = ['v1', 'v1beta1']

test.each<[string, Served, string]>(fixture.stored as never)('%s', async (_, shape, version) => {
  expect(await asked(shape)).toMatchObject({ version, kind: { apiVersion: `hco.kubevirt.io/${version}` } })
})

test.each<[string, Served, string]>(fixture.refused as never)('refused: %s', async (_, shape, reason) => {
  await expect(asked(shape)).rejects.toMatchObject({ exitCode: 3, reason })
})

test('a CRD that may not be read is exit 7 with the role, for a guess could lose settings', async () => {
  const no = new ApiError(403, 'Forbidden', 'eve may not get customresourcedefinitions')
  await expect(asking({ served: both }, () => Promise.reject(no))).rejects.toMatchObject({
    exitCode: 7,
    reason: 'hyperconverged-version-unread',
    remedy: ['kvup rbac kvup-settings | kubectl apply -f -'],
  })
})
