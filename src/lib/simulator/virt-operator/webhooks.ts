import {
  ApiServices,
  MutatingWebhooks,
  ValidatingWebhooks,
  type Webhook,
} from '../../cluster/kinds/extension.ts'
import { caBundle } from './ca-bundle.ts'
import type { DeploymentConfig } from './deployment-config.ts'
import { type Managed, managed } from './managed.ts'

/** Webhooks, all with failurePolicy Fail, and the aggregated APIs (facts 1.7, 2.10). */
export function webhooks({ namespace }: DeploymentConfig): Managed[] {
  const operator = { namespace, name: 'kubevirt-operator-webhook' }
  const api = { namespace, name: 'virt-api' }
  const updates = call('kubevirt-update-validator.kubevirt.io', operator, 'kubevirts')
  const machines = call('virtualmachine-validator.kubevirt.io', api, 'virtualmachines')
  const defaults = call('virtualmachines-mutator.kubevirt.io', api, 'virtualmachines')
  return [
    managed(ValidatingWebhooks, { name: 'virt-operator-validator' }, { webhooks: [updates] }),
    managed(ValidatingWebhooks, { name: 'virt-api-validator' }, { webhooks: [machines] }),
    managed(MutatingWebhooks, { name: 'virt-api-mutator' }, { webhooks: [defaults] }),
    ...['v1', 'v1alpha3'].map((version) => apiService(namespace, version)),
  ]
}

function call(name: string, service: { namespace: string; name: string }, resource: string): Webhook {
  return {
    name,
    failurePolicy: 'Fail',
    sideEffects: 'None',
    admissionReviewVersions: ['v1'],
    clientConfig: { service: { ...service, path: `/${resource}-validate`, port: 443 }, caBundle },
    rules: [
      {
        apiGroups: ['kubevirt.io'],
        apiVersions: ['v1', 'v1alpha3'],
        operations: ['CREATE', 'UPDATE'],
        resources: [resource],
      },
    ],
  }
}

function apiService(namespace: string, version: string): Managed {
  const group = 'subresources.kubevirt.io'
  const service = { namespace, name: 'virt-api', port: 443 }
  const spec = { group, version, service, caBundle, groupPriorityMinimum: 1000, versionPriority: 15 }
  return managed(ApiServices, { name: `${version}.${group}` }, { spec })
}
