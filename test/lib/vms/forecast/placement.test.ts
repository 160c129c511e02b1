import { describe, expect, test } from 'vitest'
import {
  type Node,
  Nodes,
  PodDisruptionBudgets,
  ResourceQuotas,
} from '../../../../src/lib/kube/kinds/core-kinds.ts'
import { Pods } from '../../../../src/lib/kube/kinds/workload-kinds.ts'
import type { VirtualMachineInstance } from '../../../../src/lib/kube/kinds/kubevirt-kinds.ts'
import { storeCluster } from '../../../../src/simulator/api/store-client.ts'
import { Store } from '../../../../src/simulator/api/store.ts'
import { SimClock } from '../../../../src/simulator/simulated-clock.ts'
import { type ForecastContext, judge } from '../../../../src/lib/vms/forecast/vm-forecast.ts'
import { readRoom } from '../../../../src/lib/vms/forecast/cluster-room.ts'
import { aVm, aVmi } from '../outdated/a-vmi.ts'

const size = { cpu: '4', memory: '8Gi', pods: '10', 'example.com/gpu': '1' }

interface NodeShape {
  labels?: Record<string, string>
  spec?: Node['spec']
  ready?: 'True' | 'False'
}

function aNode(name: string, { labels = {}, spec = {}, ready = 'True' }: NodeShape = {}): Node {
  return {
    apiVersion: 'v1',
    kind: 'Node',
    metadata: {
      name,
      labels: { 'kubevirt.io/schedulable': 'true', 'kubernetes.io/hostname': name, zone: 'a', ...labels },
    },
    spec,
    status: { allocatable: size, conditions: [{ type: 'Ready', status: ready }] },
  }
}

interface PodShape {
  labels?: Record<string, string>
  requests?: Record<string, string>
  phase?: string
}

const aPod = (name: string, nodeName: string, { labels, requests, phase = 'Running' }: PodShape) => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name, namespace: 'shop', ...(labels && { labels }) },
  spec: { nodeName, containers: [{ name: 'compute', ...(requests && { resources: { requests } }) }] },
  status: { phase },
})

interface UpgradeSnapshot {
  other?: NodeShape
  here?: NodeShape
  pods?: readonly ReturnType<typeof aPod>[]
  quota?: { hard: Record<string, string>; used: Record<string, string>; scopes?: string[] }
  vmi?: object
  machine?: string
  beside?: ForecastContext
  methods?: readonly string[]
  eviction?: string
  migratable?: 'True' | 'False'
  budget?: { matchLabels?: Record<string, string>; allowed: number }
}

function fill(store: Store, { other, here, pods = [], quota, budget }: UpgradeSnapshot): void {
  for (const node of [aNode('node-1', here), aNode('node-2', other)]) store.put(Nodes, node)
  for (const pod of pods) store.put(Pods, pod)
  const metadata = { name: 'q', namespace: 'shop' }
  if (quota) {
    const spec = quota.scopes && { scopes: quota.scopes }
    const made = { apiVersion: 'v1', kind: 'ResourceQuota', metadata, spec: spec ?? {}, status: quota }
    store.put(ResourceQuotas, made)
  }
  if (budget) {
    const spec = { selector: { matchLabels: budget.matchLabels ?? {} } }
    const status = { disruptionsAllowed: budget.allowed }
    const made = { apiVersion: 'policy/v1', kind: 'PodDisruptionBudget', metadata, spec, status }
    store.put(PodDisruptionBudgets, made)
  }
}

/** The outcome, and the reason that decides, of one VM on node-1 of two nodes. */
async function outcome(snapshot: UpgradeSnapshot): Promise<string> {
  const store = new Store(new SimClock())
  fill(store, snapshot)
  const { reader } = storeCluster(store)
  const { methods = ['LiveMigrate', 'Evict'], migratable = 'True', eviction, machine: vm } = snapshot
  const vmi: VirtualMachineInstance = aVmi({
    migratable,
    ...(eviction && { eviction }),
    metadata: { uid: 'vmi-1', labels: { app: 'db', 'kubevirt.io/outdatedLauncherImage': '' } },
    ...(vm && { status: { machine: { type: vm } } as object }),
  })
  const spec = { domain: { memory: { guest: '2Gi' }, cpu: { cores: 2 } }, ...vmi.spec, ...snapshot.vmi }
  const judging = {
    rules: { methods, clusterEviction: undefined, nodes: 2 },
    room: await readRoom(reader, undefined),
    speed: { bandwidth: 0, completionTimeoutPerGiB: 150 },
  }
  const judged = await judge({ ...vmi, spec }, aVm('Always'), judging, snapshot.beside ?? {})
  const said = judged.why.find(({ id }) => id === 'no-node-again') ?? judged.why[0]
  return `${judged.outcome}: ${said?.text}`
}

const skylake = { labels: { 'host-model-cpu.node.kubevirt.io/Skylake': 'true' } }
const onlyNode = (why: string) => `stays: no other node takes it: 1 ${why}`
const affinity = (kind: string, topologyKey: string, app = 'db') => ({
  affinity: {
    [kind]: {
      requiredDuringSchedulingIgnoredDuringExecution: [
        { topologyKey, labelSelector: { matchLabels: { app } } },
      ],
    },
  },
})
const nodeAffinity = (...matchExpressions: object[]) => ({
  affinity: {
    nodeAffinity: {
      requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms: [{ matchExpressions }] },
    },
  },
})
const taints = [{ key: 'dedicated', value: 'db', effect: 'NoSchedule' }]
const migrates = 'migrates: can be migrated'
const itself = aPod('self', 'node-1', { labels: { app: 'db', 'kubevirt.io/created-by': 'vmi-1' } })
const hostModel = { 'host-model-cpu.node.kubevirt.io/Haswell': 'true' }

describe('whether another node takes it', () => {
  test.each<[string, UpgradeSnapshot, string]>([
    ['nothing in the way', {}, migrates],
    ['cordoned', { other: { spec: { unschedulable: true } } }, onlyNode('cordoned')],
    ['not ready', { other: { ready: 'False' } }, onlyNode('not ready')],
    [
      'virt-handler silent',
      { other: { labels: { 'kubevirt.io/schedulable': 'false' } } },
      onlyNode('virt-handler does not answer'),
    ],
    ['a taint', { other: { spec: { taints } } }, onlyNode('taint dedicated')],
    [
      'a taint that is tolerated',
      {
        other: { spec: { taints } },
        vmi: { tolerations: [{ key: 'dedicated', operator: 'Equal', value: 'db' }] },
      },
      migrates,
    ],
    [
      'a taint, tolerated with another value',
      { other: { spec: { taints } }, vmi: { tolerations: [{ key: 'dedicated', value: 'web' }] } },
      onlyNode('taint dedicated'),
    ],
    [
      'a preference',
      { other: { spec: { taints: [{ key: 'full', effect: 'PreferNoSchedule' }] } } },
      migrates,
    ],
    ['a node selector', { vmi: { nodeSelector: { disk: 'ssd' } } }, onlyNode('no label disk=ssd')],
    [
      'a node selector that fits',
      { vmi: { nodeSelector: { disk: 'ssd' } }, other: { labels: { disk: 'ssd' } } },
      migrates,
    ],
    [
      'node affinity',
      { vmi: nodeAffinity({ key: 'zone', operator: 'NotIn', values: ['a'] }) },
      onlyNode('node affinity'),
    ],
    [
      'node affinity that fits',
      { vmi: nodeAffinity({ key: 'zone', operator: 'In', values: ['a'] }) },
      migrates,
    ],
    ['the CPU model', { here: { labels: hostModel } }, onlyNode('without CPU model Haswell')],
    [
      'the CPU model, which fits',
      {
        here: { labels: hostModel },
        other: { labels: { 'cpu-model-migration.node.kubevirt.io/Haswell': 'true' } },
      },
      migrates,
    ],
    [
      'the machine type',
      { here: { labels: { 'machine-type.node.kubevirt.io/q35': 'true' } }, machine: 'q35' },
      onlyNode('without machine type q35'),
    ],
    [
      'dedicated CPUs without a CPU manager',
      { vmi: { domain: { cpu: { cores: 2, dedicatedCpuPlacement: true } } } },
      onlyNode('without a CPU manager'),
    ],
    [
      'memory',
      { pods: [aPod('big', 'node-2', { requests: { memory: '6Gi' } })] },
      onlyNode('not enough memory'),
    ],
    [
      'memory of a pod that is through',
      { pods: [aPod('big', 'node-2', { requests: { memory: '6Gi' }, phase: 'Succeeded' })] },
      migrates,
    ],
    ['CPU', { pods: [aPod('busy', 'node-2', { requests: { cpu: '3900m' } })] }, onlyNode('not enough cpu')],
    [
      'a device that is not there',
      { vmi: { domain: { devices: { gpus: [{ deviceName: 'example.com/vgpu' }] } } } },
      onlyNode('has no example.com/vgpu'),
    ],
    [
      'pods apart',
      {
        vmi: affinity('podAntiAffinity', 'kubernetes.io/hostname'),
        pods: [aPod('a', 'node-2', { labels: { app: 'db' } })],
      },
      onlyNode('pod anti-affinity'),
    ],
    [
      'pods apart by zone: its own pod is in the way',
      { vmi: affinity('podAntiAffinity', 'zone'), pods: [itself] },
      onlyNode('pod anti-affinity'),
    ],
    [
      'pods apart, nobody there',
      { vmi: affinity('podAntiAffinity', 'kubernetes.io/hostname'), pods: [itself] },
      migrates,
    ],
    [
      'pods together',
      { vmi: affinity('podAffinity', 'kubernetes.io/hostname', 'cache') },
      onlyNode('pod affinity'),
    ],
    [
      'pods together, which is there',
      {
        vmi: affinity('podAffinity', 'kubernetes.io/hostname', 'cache'),
        pods: [aPod('c', 'node-2', { labels: { app: 'cache' } })],
      },
      migrates,
    ],
  ])('%s', async (_, snapshot, expected) => {
    expect(await outcome(snapshot)).toBe(expected)
  })
})

describe('what else is in the way', () => {
  test.each<[string, UpgradeSnapshot, string]>([
    [
      'a quota of pods',
      { quota: { hard: { pods: '3' }, used: { pods: '3' } } },
      'stays: ResourceQuota q (pods) has no room for the second pod',
    ],
    [
      'a quota of memory, which the overhead exceeds',
      { quota: { hard: { 'requests.memory': '4Gi' }, used: { 'requests.memory': '2Gi' } } },
      'stays: ResourceQuota q (requests.memory) has no room for the second pod',
    ],
    ['a quota with room', { quota: { hard: { pods: '4' }, used: { pods: '3' } } }, migrates],
    [
      'a quota with a scope',
      { quota: { hard: { pods: '3' }, used: { pods: '3' }, scopes: ['BestEffort'] } },
      migrates,
    ],
    [
      'two launchers',
      { beside: { pods: 2 } },
      'stays: 2 launcher pods of it are alive without a migration: KubeVirt waits',
    ],
    [
      'W8 it failed as often as KubeVirt remembers',
      { beside: { endless: { times: 5, reason: 'guest CPU' } } },
      'stays: its last 5 migrations failed: guest CPU',
    ],
    [
      'a budget',
      { migratable: 'False', eviction: 'None', budget: { matchLabels: { app: 'db' }, allowed: 0 } },
      'stays: PodDisruptionBudget q allows no eviction now',
    ],
    [
      'a budget of others',
      { migratable: 'False', eviction: 'None', budget: { matchLabels: { app: 'web' }, allowed: 0 } },
      'restarts: not migratable; Evict is on',
    ],
    [
      'a budget of migrations, which it does not forbid',
      { budget: { matchLabels: { app: 'db' }, allowed: 0 } },
      migrates,
    ],
    [
      'W2 nothing takes it again: its own node is cordoned, the other one is full',
      {
        migratable: 'False',
        eviction: 'None',
        here: { spec: { unschedulable: true } },
        pods: [aPod('big', 'node-2', { requests: { memory: '7Gi' } })],
      },
      'shuts down: no node takes it again: 1 cordoned, 1 not enough memory',
    ],
    [
      'W2 a start of a VM with host-model may be on any CPU, a migration may not',
      {
        migratable: 'False',
        eviction: 'None',
        here: { ...skylake, spec: { unschedulable: true } },
        other: { labels: { 'host-model-cpu.node.kubevirt.io/Opteron': 'true' } },
        vmi: { domain: { cpu: { model: 'host-model' } } },
      },
      'restarts: not migratable; Evict is on',
    ],
    [
      'W2 a start asks for the machine type that was configured, not for that of today',
      {
        migratable: 'False',
        eviction: 'None',
        here: { labels: { 'machine-type.node.kubevirt.io/q35': 'true' } },
        vmi: { domain: { machine: { type: 'pc-q35-2.1' } } },
      },
      'shuts down: no node takes it again: 2 without machine type pc-q35-2.1',
    ],
    [
      'its own node takes it again, full as it is',
      {
        migratable: 'False',
        eviction: 'None',
        other: { spec: { unschedulable: true } },
        pods: [aPod('self', 'node-1', { requests: { memory: '7Gi' } })],
      },
      'restarts: not migratable; Evict is on',
    ],
  ])('%s', async (_, snapshot, expected) => {
    expect(await outcome(snapshot)).toBe(expected)
  })
})
