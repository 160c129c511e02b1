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
import fixture from './placement.json' with { type: 'json' }

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

describe('whether another node takes it', () => {
  test.each(fixture.nodes as unknown as [string, UpgradeSnapshot, string][])(
    '%s',
    async (_, snapshot, expected) => {
      expect(await outcome(snapshot)).toBe(expected)
    },
  )
})

describe('what else is in the way', () => {
  test.each(fixture.beside as unknown as [string, UpgradeSnapshot, string][])(
    '%s',
    async (_, snapshot, expected) => {
      expect(await outcome(snapshot)).toBe(expected)
    },
  )
})
