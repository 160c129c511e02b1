import { ConfigMaps, PodDisruptionBudgets, Secrets } from '../../cluster/kinds/core.ts'
import { CustomResourceDefinitions } from '../../cluster/kinds/extension.ts'
import { customResources } from './custom-resources.ts'
import type { DeploymentConfig } from './deployment-config.ts'
import { Services } from './kinds.ts'
import { type Managed, managed } from './managed.ts'
import { rights } from './rights.ts'
import { webhooks } from './webhooks.ts'

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

function services({ namespace }: DeploymentConfig): Managed[] {
  const selected = [
    ['kubevirt-operator-webhook', 'virt-operator'],
    ['virt-api', 'virt-api'],
    ['virt-exportproxy', 'virt-exportproxy'],
  ] as const
  return selected.map(([name, component]) => {
    const ports = [{ port: 443, targetPort: 8443, protocol: 'TCP' }]
    const spec = { selector: { 'kubevirt.io': component }, ports, type: 'ClusterIP' }
    return managed(Services, { name, namespace }, { spec })
  })
}

const secrets = [
  'kubevirt-operator-certs',
  'kubevirt-virt-api-certs',
  'kubevirt-controller-certs',
  'kubevirt-virt-handler-certs',
]

function certificates({ namespace }: DeploymentConfig): Managed[] {
  const tls = { type: 'kubernetes.io/tls', data: { 'tls.crt': '', 'tls.key': '' } }
  return [
    managed(ConfigMaps, { name: 'kubevirt-ca', namespace }, { data: { 'ca-bundle': '' } }),
    ...secrets.map((name) => managed(Secrets, { name, namespace }, tls)),
  ]
}

/** `<deployment>-pdb`, one pod fewer than there are (facts 2.10). */
export function disruptionBudget(namespace: string, component: string, replicas: number): Managed {
  const spec = {
    minAvailable: Math.max(1, replicas - 1),
    selector: { matchLabels: { 'kubevirt.io': component } },
  }
  return managed(PodDisruptionBudgets, { name: `${component}-pdb`, namespace }, { spec })
}
