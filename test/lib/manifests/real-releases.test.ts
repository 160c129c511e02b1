import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import type { KubeObject } from '../../../src/lib/kube/object.ts'
import { extrasFindings } from '../../../src/lib/manifests/manifest-extras.ts'
import { type Manifest, operatorManifest } from '../../../src/lib/manifests/manifest.ts'

/** The kubevirt-operator.yaml of real releases, as their own sources template them; the schemas of the CRD are left out. */
const releases = ['v1.3.0', 'v1.4.0', 'v1.5.2', 'v1.6.0', 'v1.7.0', 'v1.8.4']

const objectsOf = (release: string) =>
  JSON.parse(
    readFileSync(new URL(`fixture/releases/${release}.json`, import.meta.url), 'utf8'),
  ) as KubeObject[]

function judged(objects: readonly KubeObject[], installed: readonly KubeObject[]) {
  const manifest: Manifest = operatorManifest(objects, 'file')
  const changes = manifest.objects.map((wanted) => ({
    wanted,
    live: installed.find(
      ({ kind, metadata }) => kind === wanted.kind && metadata.name === wanted.metadata.name,
    ),
  }))
  return extrasFindings(manifest, changes).map(({ summary }) => summary)
}

test.each(releases.flatMap((from) => releases.map((to) => [from, to] as const)))(
  'M3 no false alarm over a real %s: %s',
  (from, to) => {
    expect(judged(objectsOf(to), objectsOf(from))).toEqual([])
  },
)

/** A release to come: another version, what past releases added, and some more of that. */
function toCome(objects: KubeObject[]): KubeObject[] {
  const text = JSON.stringify(objects).replaceAll('v1.8.4', 'v1.10.0')
  const next = JSON.parse(text) as (KubeObject & { rules?: object[]; spec?: Record<string, never> })[]
  for (const object of next) {
    if (object.kind === 'ClusterRole' && object.metadata.name === 'kubevirt-operator')
      object.rules?.push(
        { apiGroups: ['new.kubevirt.io'], resources: ['*'], verbs: ['*'] },
        { apiGroups: ['apps'], resources: ['statefulsets'], verbs: ['get', 'list', 'create'] },
      )
    if (object.kind !== 'Deployment') continue
    const pod = (object.spec as unknown as { template: { spec: Record<string, object[]> } }).template.spec
    pod['volumes']?.push({ name: 'new', emptyDir: {} }, { name: 'ca', configMap: { name: 'kubevirt-ca' } })
    const [container] = pod['containers'] as Record<string, object[]>[]
    container?.['env']?.push(
      { name: 'VIRT_NEW_IMAGE', value: 'quay.io/kubevirt/virt-new:v1.10.0' },
      { name: 'NEW_SETTING', value: 'true' },
    )
  }
  const account = { kind: 'ServiceAccount', name: 'kubevirt-operator', namespace: 'kubevirt' }
  const labels = { 'kubevirt.io': '' }
  return [
    ...next,
    {
      apiVersion: 'rbac.authorization.k8s.io/v1',
      kind: 'ClusterRole',
      metadata: { name: 'kubevirt-new-operator', labels },
      rules: [{ apiGroups: ['new.kubevirt.io'], resources: ['*'], verbs: ['*'] }],
    } as KubeObject,
    {
      apiVersion: 'rbac.authorization.k8s.io/v1',
      kind: 'ClusterRoleBinding',
      metadata: { name: 'kubevirt-new-operator', labels },
      roleRef: {
        apiGroup: 'rbac.authorization.k8s.io',
        kind: 'ClusterRole',
        name: 'kubevirt-new-operator',
      },
      subjects: [account],
    } as KubeObject,
    {
      apiVersion: 'networking.k8s.io/v1',
      kind: 'NetworkPolicy',
      metadata: { name: 'kubevirt-new', namespace: 'kubevirt', labels },
    },
  ]
}

test.each(releases)('M3 no false alarm by a release to come, over a real %s', (from) => {
  expect(judged(toCome(objectsOf('v1.8.4')), objectsOf(from))).toEqual([])
})
