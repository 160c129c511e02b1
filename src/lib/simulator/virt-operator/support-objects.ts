import {
  ApiServices,
  ClusterRoleBindings,
  ClusterRoles,
  CustomResourceDefinitions,
  MutatingWebhooks,
  type PolicyRule,
  ServiceAccounts,
  ValidatingWebhooks,
  type Webhook,
} from '../../cluster/kinds/extension.ts'
import { ConfigMaps, PodDisruptionBudgets, Secrets } from '../../cluster/kinds/core.ts'
import { customResources } from './custom-resources.ts'
import type { DeploymentConfig } from './deployment-config.ts'
import { Services } from './kinds.ts'
import type { Managed } from './managed.ts'
import { isAtLeast } from './version-order.ts'

const rbac = 'rbac.authorization.k8s.io/v1'
const registration = 'admissionregistration.k8s.io/v1'

/** What is there before any operand: CRDs first, then rights, services, webhooks (facts 2.5, steps 2 to 10). */
export function supportObjects(config: DeploymentConfig): { definitions: Managed[]; others: Managed[] } {
  const definitions = customResources(config.kubeVirtVersion).map((object) => ({
    kind: CustomResourceDefinitions,
    object,
  }))
  return {
    definitions,
    others: [...rights(config), ...services(config), ...certificates(config), ...webhooks(config)],
  }
}

function rights({ namespace, kubeVirtVersion }: DeploymentConfig): Managed[] {
  const accounts = ['kubevirt-apiserver', 'kubevirt-controller', 'kubevirt-handler', 'kubevirt-exportproxy']
  const role = (name: string, rules: PolicyRule[]): Managed => ({
    kind: ClusterRoles,
    object: { apiVersion: rbac, kind: 'ClusterRole', metadata: { name }, ...{ rules } },
  })
  const groups = [
    'kubevirt.io',
    'snapshot.kubevirt.io',
    ...(isAtLeast(kubeVirtVersion, 8) ? ['backup.kubevirt.io'] : []),
  ]
  return [
    ...accounts.map((name) => ({
      kind: ServiceAccounts,
      object: { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name, namespace } },
    })),
    role('kubevirt.io:admin', [{ apiGroups: groups, resources: ['*'], verbs: ['*'] }]),
    role('kubevirt.io:edit', [
      { apiGroups: groups, resources: ['*'], verbs: ['get', 'list', 'watch', 'create', 'patch'] },
    ]),
    role('kubevirt.io:view', [{ apiGroups: groups, resources: ['*'], verbs: ['get', 'list', 'watch'] }]),
    role('kubevirt.io:migrate', [
      { apiGroups: ['kubevirt.io'], resources: ['virtualmachineinstancemigrations'], verbs: ['*'] },
    ]),
    ...accounts.flatMap((name) => [
      role(name, [{ apiGroups: groups, resources: ['*'], verbs: ['get', 'list', 'watch', 'update'] }]),
      binding(name, namespace),
    ]),
  ]
}

function binding(name: string, namespace: string): Managed {
  const roleRef = { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name }
  const subjects = [{ kind: 'ServiceAccount', name, namespace }]
  const object = { apiVersion: rbac, kind: 'ClusterRoleBinding', metadata: { name }, roleRef, subjects }
  return { kind: ClusterRoleBindings, object }
}

function services({ namespace }: DeploymentConfig): Managed[] {
  const selected = [
    ['kubevirt-operator-webhook', 'virt-operator'],
    ['virt-api', 'virt-api'],
    ['virt-exportproxy', 'virt-exportproxy'],
  ] as const
  return selected.map(([name, component]) => {
    const spec = {
      selector: { 'kubevirt.io': component },
      ports: [{ port: 443, targetPort: 8443, protocol: 'TCP' }],
      type: 'ClusterIP',
    }
    return {
      kind: Services,
      object: { apiVersion: 'v1', kind: 'Service', metadata: { name, namespace }, ...{ spec } },
    }
  })
}

function certificates({ namespace }: DeploymentConfig): Managed[] {
  const names = [
    'kubevirt-operator-certs',
    'kubevirt-virt-api-certs',
    'kubevirt-controller-certs',
    'kubevirt-virt-handler-certs',
  ]
  const authority = {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name: 'kubevirt-ca', namespace },
    data: { 'ca-bundle': '' },
  }
  return [
    { kind: ConfigMaps, object: authority },
    ...names.map((name) => ({
      kind: Secrets,
      object: {
        apiVersion: 'v1',
        kind: 'Secret',
        metadata: { name, namespace },
        ...{ type: 'kubernetes.io/tls', data: { 'tls.crt': '', 'tls.key': '' } },
      },
    })),
  ]
}

/** All with failurePolicy Fail (facts 2.10). */
function webhooks({ namespace }: DeploymentConfig): Managed[] {
  const calls = (name: string, service: string, resource: string): Webhook[] => [
    {
      name,
      failurePolicy: 'Fail',
      clientConfig: { service: { namespace, name: service, path: `/${resource}-validate`, port: 443 } },
      rules: [
        {
          apiGroups: ['kubevirt.io'],
          apiVersions: ['v1', 'v1alpha3'],
          operations: ['CREATE', 'UPDATE'],
          resources: [resource],
        },
      ],
    },
  ]
  const validating = (name: string, hooks: Webhook[]): Managed => ({
    kind: ValidatingWebhooks,
    object: {
      apiVersion: registration,
      kind: 'ValidatingWebhookConfiguration',
      metadata: { name },
      ...{ webhooks: hooks },
    },
  })
  return [
    validating(
      'virt-operator-validator',
      calls('kubevirt-update-validator.kubevirt.io', 'kubevirt-operator-webhook', 'kubevirts'),
    ),
    validating(
      'virt-api-validator',
      calls('virtualmachine-validator.kubevirt.io', 'virt-api', 'virtualmachines'),
    ),
    {
      kind: MutatingWebhooks,
      object: {
        apiVersion: registration,
        kind: 'MutatingWebhookConfiguration',
        metadata: { name: 'virt-api-mutator' },
        ...{ webhooks: calls('virtualmachines-mutator.kubevirt.io', 'virt-api', 'virtualmachines') },
      },
    },
    ...['v1', 'v1alpha3'].map((version) => apiService(namespace, version)),
  ]
}

function apiService(namespace: string, version: string): Managed {
  const group = 'subresources.kubevirt.io'
  const spec = {
    group,
    version,
    service: { namespace, name: 'virt-api', port: 443 },
    groupPriorityMinimum: 1000,
    versionPriority: 15,
  }
  const object = {
    apiVersion: ApiServices.apiVersion,
    kind: 'APIService',
    metadata: { name: `${version}.${group}` },
    ...{ spec },
  }
  return { kind: ApiServices, object }
}

/** `<deployment>-pdb`, one pod fewer than there are (facts 2.10). */
export function disruptionBudget(namespace: string, component: string, replicas: number): Managed {
  const metadata = { name: `${component}-pdb`, namespace }
  const spec = {
    minAvailable: Math.max(1, replicas - 1),
    selector: { matchLabels: { 'kubevirt.io': component } },
  }
  return {
    kind: PodDisruptionBudgets,
    object: { apiVersion: 'policy/v1', kind: 'PodDisruptionBudget', metadata, ...{ spec } },
  }
}
