import { expect, test } from 'vitest'
import type { Metadata } from '../../../src/lib/kube/object.ts'
import { type Manager, managerOf } from '../../../src/lib/kubevirt/installation.ts'

const cases: readonly (readonly [string, Partial<Metadata>, Manager | undefined])[] = [
  ['nobody', { labels: { 'app.kubernetes.io/instance': 'x' } }, undefined],
  [
    'kubectl and kvup are nobody',
    { managedFields: [{ manager: 'kubectl' }, { manager: 'kvup' }, { manager: 'virt-operator' }] },
    undefined,
  ],
  [
    'HyperConverged',
    {
      ownerReferences: [
        { apiVersion: 'hco.kubevirt.io/v1beta1', kind: 'HyperConverged', name: 'hc', uid: '1' },
      ],
    },
    { kind: 'hyperconverged', owner: 'HyperConverged', name: 'hc' },
  ],
  [
    'HyperConverged by its label',
    { labels: { 'app.kubernetes.io/managed-by': 'hco-operator' } },
    { kind: 'hyperconverged', owner: 'HyperConverged' },
  ],
  [
    'OLM',
    { labels: { 'olm.owner': 'kubevirtoperator.v1.8.4', 'olm.owner.kind': 'ClusterServiceVersion' } },
    { kind: 'olm', owner: 'ClusterServiceVersion', name: 'kubevirtoperator.v1.8.4' },
  ],
  [
    'Helm',
    { annotations: { 'meta.helm.sh/release-name': 'kv', 'meta.helm.sh/release-namespace': 'infra' } },
    { kind: 'helm', owner: 'Helm release', name: 'kv', namespace: 'infra' },
  ],
  [
    'Helm by its label',
    { labels: { 'app.kubernetes.io/managed-by': 'Helm' } },
    { kind: 'helm', owner: 'Helm release' },
  ],
  [
    'Argo CD',
    { annotations: { 'argocd.argoproj.io/tracking-id': 'virt:kubevirt.io/KubeVirt:kubevirt/kubevirt' } },
    { kind: 'gitops', owner: 'Argo CD application', name: 'virt' },
  ],
  [
    'Flux',
    {
      labels: {
        'kustomize.toolkit.fluxcd.io/name': 'virt',
        'kustomize.toolkit.fluxcd.io/namespace': 'flux-system',
      },
    },
    { kind: 'gitops', owner: 'Flux Kustomization', name: 'virt', namespace: 'flux-system' },
  ],
  [
    'Flux with a chart: what reconciles comes before Helm',
    { labels: { 'helm.toolkit.fluxcd.io/name': 'virt', 'app.kubernetes.io/managed-by': 'Helm' } },
    { kind: 'gitops', owner: 'Flux HelmRelease', name: 'virt' },
  ],
  [
    'Argo CD by its field manager',
    { managedFields: [{ manager: 'argocd-controller', operation: 'Apply' }] },
    { kind: 'gitops', owner: 'Argo CD application' },
  ],
]

test.each(cases)('%s', (_name, metadata, manager) => {
  const object = {
    apiVersion: 'kubevirt.io/v1',
    kind: 'KubeVirt',
    metadata: { name: 'kubevirt', ...metadata },
  }
  expect(managerOf(object)).toEqual(manager)
})
