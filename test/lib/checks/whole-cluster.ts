import type { Lease, Node } from '../../../src/lib/kube/kinds/core-kinds.ts'
import type { ApiService, WebhookConfiguration } from '../../../src/lib/kube/kinds/extension-kinds.ts'
import type { FullSnapshot } from '../../../src/lib/kubevirt/full-snapshot.ts'
import { emptyTally, type InstanceTally } from '../../../src/lib/kubevirt/snapshot.ts'
import { itemsOf } from '../../../src/lib/kube/known.ts'
import { evidence, known } from './evidence.ts'
import { bundle, certificate } from './machinery/ca-text.ts'

/** When the recorded v1.8.4 is judged, as `question` does it. */
export const at = new Date(Date.parse(evidence().takenAt) + 30_000)
export const ago = (minutes: number): string => new Date(at.getTime() - minutes * 60_000).toISOString()

/** What virt-operator makes by default: seven days, a new one when a fifth is left. */
export const goodCa = bundle(certificate(at, { since: 2, left: 5 }))

/** The settled v1.8.4 with the nodes that its pods are on, and all that writes go through: no check has anything to say of it. */
export function wholeCluster(overrides: Partial<FullSnapshot> = {}): FullSnapshot {
  const whole = evidence()
  return {
    ...whole,
    nodes: known(...nodes()),
    leases: known(...itemsOf(whole.leases).map(renewed)),
    apiServices: known(apiService()),
    webhooks: known(webhooks()),
    endpoints: known({ service: 'virt-api', ready: 2 }),
    instances: known(tally()),
    ...overrides,
  }
}

function renewed(lease: Lease): Lease {
  return { ...lease, spec: { ...lease.spec, renewTime: ago(0) } }
}

/** Three control-plane nodes with their taint, three workers with virt-handler's heartbeat; the named ones changed. */
export function nodes(changes: Record<string, (node: Node) => void> = {}): Node[] {
  const role = 'node-role.kubernetes.io/control-plane'
  const all = [
    ...['cp-1', 'cp-2', 'cp-3'].map((name) => plainNode(name, { [role]: '' }, [role])),
    ...['worker-1', 'worker-2', 'worker-3'].map((name) =>
      plainNode(name, { 'kubevirt.io/schedulable': 'true' }),
    ),
  ]
  for (const node of all) changes[node.metadata.name]?.(node)
  return all
}

function plainNode(name: string, labels: Record<string, string>, taints: readonly string[] = []): Node {
  return {
    apiVersion: 'v1',
    kind: 'Node',
    metadata: {
      name,
      labels: { 'kubernetes.io/os': 'linux', ...labels },
      annotations: { 'kubevirt.io/heartbeat': ago(1) },
    },
    spec: { taints: taints.map((key) => ({ key, effect: 'NoSchedule' })) },
    status: {
      allocatable: { pods: '110' },
      conditions: [{ type: 'Ready', status: 'True' }],
      nodeInfo: { kubeletVersion: 'v1.35.4', containerRuntimeVersion: 'containerd://2.3.2' },
    },
  }
}

export function notReady(node: Node): void {
  Object.assign(node.status ?? {}, {
    conditions: [{ type: 'Ready', status: 'Unknown', lastTransitionTime: ago(180) }],
  })
}

export function apiService(status: 'True' | 'False' = 'True', caBundle = goodCa): ApiService {
  return {
    apiVersion: 'apiregistration.k8s.io/v1',
    kind: 'APIService',
    metadata: { name: 'v1.subresources.kubevirt.io' },
    spec: { service: { namespace: 'kubevirt', name: 'virt-api' }, caBundle },
    status: {
      conditions: [
        {
          type: 'Available',
          status,
          ...(status === 'False' && { message: 'endpoints for service/virt-api' }),
        },
      ],
    },
  }
}

export function webhooks({
  caBundle = goodCa,
  failurePolicy = 'Fail',
  name = 'virt-api-validator',
} = {}): WebhookConfiguration {
  const service = { namespace: 'kubevirt', name: 'virt-api' }
  return {
    apiVersion: 'admissionregistration.k8s.io/v1',
    kind: 'ValidatingWebhookConfiguration',
    metadata: { name },
    webhooks: ['virt-launcher-eviction-interceptor.kubevirt.io', 'virtualmachine-validator.kubevirt.io'].map(
      (webhook) => ({ name: webhook, failurePolicy, clientConfig: { service, caBundle } }),
    ),
  }
}

/** Ten VMs that migrate, on the launcher in use. */
export function tally(overrides: Partial<InstanceTally> = {}): InstanceTally {
  return {
    ...emptyTally(),
    total: 10,
    running: 10,
    launchers: { 'quay.io/kubevirt/virt-launcher:v1.8.4': 10 },
    nodes: { 'worker-1': 10 },
    ...overrides,
  }
}
