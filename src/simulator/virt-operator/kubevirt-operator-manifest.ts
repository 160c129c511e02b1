import * as kube from '../kinds.ts'
import type { KubeObject } from '../../lib/kube/object.ts'
import { kubeVirtDefinition } from './kubevirt-crds.ts'
import { isAtLeast } from './virt-operator-context.ts'
import { made } from '../machinery/controller.ts'
import { onControlPlane } from './managed-objects.ts'

export interface ManifestOptions {
  /** Default `quay.io/kubevirt`. */
  registry?: string
  /** Images that the operator's environment pins: `VIRT_API_IMAGE` and the like. */
  pinned?: Readonly<Record<string, string>>
  /** Of everything in it; default `kubevirt`. */
  namespace?: string
}

const account = 'kubevirt-operator'
const labels = { 'kubevirt.io': '' }
const rbac = 'rbac.authorization.k8s.io/v1'

/** The objects of a release's kubevirt-operator.yaml, in its order (facts 7). */
export function operatorManifest(version: string, options: ManifestOptions = {}): KubeObject[] {
  const { namespace = 'kubevirt' } = options
  const definition = kubeVirtDefinition(version)
  return [
    made(kube.Namespaces, {
      metadata: {
        name: namespace,
        labels: { ...labels, 'pod-security.kubernetes.io/enforce': 'privileged' },
      },
    }),
    {
      ...definition,
      metadata: { ...definition.metadata, labels: { 'operator.kubevirt.io': '' } },
    },
    priorityClass,
    clusterRole('kubevirt.io:operator', [
      { apiGroups: ['kubevirt.io'], resources: ['kubevirts'], verbs: ['*'] },
    ]),
    { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name: account, namespace, labels } },
    role(namespace),
    binding(
      'RoleBinding',
      { metadata: { name: 'kubevirt-operator-rolebinding', namespace, labels }, of: 'Role' },
      namespace,
    ),
    clusterRole(account, operatorRules(version)),
    binding('ClusterRoleBinding', { metadata: { name: account, labels }, of: 'ClusterRole' }, namespace),
    operatorDeployment(version, namespace, options),
  ]
}

const priorityClass: KubeObject & { value: number; globalDefault: boolean; description: string } = {
  apiVersion: 'scheduling.k8s.io/v1',
  kind: 'PriorityClass',
  metadata: { name: 'kubevirt-cluster-critical' },
  value: 1_000_000_000,
  globalDefault: false,
  description: 'This priority class should be used for core kubevirt components only.',
}

const clusterRole = (name: string, rules: kube.PolicyRule[]): kube.Role => ({
  apiVersion: rbac,
  kind: 'ClusterRole',
  metadata: { name, labels },
  rules,
})

function role(namespace: string): kube.Role {
  const rules = [
    {
      apiGroups: [''],
      resources: ['secrets', 'configmaps'],
      verbs: ['create', 'get', 'list', 'watch', 'patch', 'delete'],
    },
    {
      apiGroups: ['coordination.k8s.io'],
      resources: ['leases'],
      verbs: ['get', 'list', 'watch', 'create', 'update'],
    },
  ]
  return { apiVersion: rbac, kind: 'Role', metadata: { name: account, namespace, labels }, rules }
}

function binding(
  kind: string,
  { metadata, of }: { metadata: KubeObject['metadata']; of: string },
  namespace: string,
): kube.RoleBinding {
  const subjects = [{ kind: 'ServiceAccount', name: account, namespace }]
  const roleRef = { apiGroup: 'rbac.authorization.k8s.io', kind: of, name: account }
  return { apiVersion: rbac, kind, metadata, roleRef, subjects }
}

/** What the operator grants it has to hold itself, so each release's role names the groups of that release. */
function operatorRules(version: string): kube.PolicyRule[] {
  const groups = [
    'kubevirt.io',
    'snapshot.kubevirt.io',
    'export.kubevirt.io',
    'pool.kubevirt.io',
    'clone.kubevirt.io',
  ]
  return [
    {
      apiGroups: [...groups, ...(isAtLeast(version, 8) ? ['backup.kubevirt.io'] : [])],
      resources: ['*'],
      verbs: ['*'],
    },
    { apiGroups: ['', 'apps', 'batch', 'policy'], resources: ['*'], verbs: ['*'] },
    {
      apiGroups: ['apiextensions.k8s.io'],
      resources: ['customresourcedefinitions'],
      verbs: ['get', 'list', 'watch', 'create', 'delete', 'patch'],
    },
    {
      apiGroups: ['rbac.authorization.k8s.io'],
      resources: ['*'],
      verbs: ['get', 'list', 'watch', 'create', 'delete', 'patch'],
    },
  ]
}

const own = { 'kubevirt.io': 'virt-operator' }

function operatorDeployment(version: string, namespace: string, options: ManifestOptions): kube.Deployment {
  return made(kube.Deployments, {
    metadata: { name: 'virt-operator', namespace, labels: own },
    spec: {
      replicas: 2,
      selector: { matchLabels: own },
      strategy: { type: 'RollingUpdate' },
      template: operatorTemplate(version, options),
    },
  })
}

function operatorTemplate(version: string, { registry = 'quay.io/kubevirt', pinned = {} }: ManifestOptions) {
  const image = `${registry}/virt-operator:${version}`
  const watched = { fieldRef: { fieldPath: "metadata.annotations['olm.targetNamespaces']" } }
  const env = [
    { name: 'VIRT_OPERATOR_IMAGE', value: image },
    { name: 'WATCH_NAMESPACE', valueFrom: watched },
    { name: 'KUBEVIRT_VERSION', value: version },
    ...Object.entries(pinned).map(([name, value]) => ({ name, value })),
  ]
  const args = ['--port', '8443', '-v', '2']
  return {
    metadata: {
      name: 'virt-operator',
      labels: { ...own, name: 'virt-operator', 'prometheus.kubevirt.io': 'true' },
    },
    spec: {
      serviceAccountName: account,
      priorityClassName: 'kubevirt-cluster-critical',
      ...onControlPlane,
      containers: [{ name: 'virt-operator', image, command: ['virt-operator'], args, env }],
    },
  }
}
