import { expect, test } from 'vitest'
import type { CustomResourceDefinition } from '../../../../src/lib/kube/kinds/extension-kinds.ts'
import { crdsOfOperands, leftoverVersions } from '../../../../src/lib/openshift/operator-rules.ts'

type Versions = NonNullable<NonNullable<CustomResourceDefinition['spec']>['versions']>

const crd = (
  versions: Versions,
  storedVersions: string[] | undefined,
  { group = 'cdi.kubevirt.io', labels = {} }: { group?: string; labels?: Record<string, string> } = {},
): CustomResourceDefinition => ({
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: `things.${group}`, labels },
  spec: { group, versions },
  ...(storedVersions && { status: { storedVersions } }),
})

const v1: Versions[number] = { name: 'v1', served: true, storage: true }
const beta: Versions[number] = { name: 'v1beta1', served: true, storage: false }

test.each<[string, CustomResourceDefinition]>([
  ['all is written as it is stored', crd([v1, beta], ['v1'])],
  ['it does not say what it writes, which is not checked', crd([beta], ['v1beta1', 'v1'])],
  ['it does not say what it stored, which is not checked', crd([v1], undefined)],
])('nothing is told where %s', (_, definition) => expect(leftoverVersions(definition)).toBeUndefined())

test.each<[string, CustomResourceDefinition, RegExp]>([
  [
    'an older one is remembered',
    crd([v1, beta], ['v1beta1', 'v1']),
    /names v1beta1 as stored, although it writes v1\. /u,
  ],
  [
    'one that is served no more',
    crd([v1, { ...beta, served: false }], ['v1beta1', 'v1']),
    /although it writes v1, and no longer serves v1beta1\. /u,
  ],
  ['one that it does not have at all', crd([v1], ['v1alpha1', 'v1']), /and no longer serves v1alpha1\. /u],
  [
    'several',
    crd([v1, beta], ['v1alpha1', 'v1beta1', 'v1']),
    /names v1alpha1 and v1beta1 .* no longer serves v1alpha1\. .* drops v1alpha1 or v1beta1 /u,
  ],
])('%s', (_, definition, says) => {
  const found = leftoverVersions(definition)
  expect(found?.summary).toMatch(says)
  expect(found?.remedy.at(-1)).toContain('set status.storedVersions of the CRD to v1: ')
  expect(found?.objects).toEqual(['customresourcedefinition/things.cdi.kubevirt.io'])
})

test('KubeVirt’s own are left to the check of the target: those that virt-operator makes, and its first', () => {
  const own = crd([v1], ['v1'], { group: 'export.kubevirt.io', labels: { 'kubevirt.io': '' } })
  const first = crd([v1], ['v1'], { group: 'kubevirt.io' })
  const operand = crd([v1], ['v1'])
  expect(crdsOfOperands([own, first, operand])).toEqual([operand])
})
