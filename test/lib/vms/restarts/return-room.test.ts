import { expect, test } from 'vitest'
import type { Reader } from '../../../../src/lib/kube/cluster.ts'
import { type Node, Nodes } from '../../../../src/lib/kube/kinds/core-kinds.ts'
import { type Pod, Pods } from '../../../../src/lib/kube/kinds/workload-kinds.ts'
import { storeCluster } from '../../../../src/simulator/api/store-client.ts'
import { Store } from '../../../../src/simulator/api/store.ts'
import { SimClock } from '../../../../src/simulator/simulated-clock.ts'
import { ApiError } from '../../../../src/lib/kube/errors.ts'
import { readReturnRoom } from '../../../../src/lib/vms/waves/vm-restart.ts'
import { aVmi } from '../outdated/a-vmi.ts'

interface UpgradeSnapshot {
  /** Of both nodes. */
  labels?: Record<string, string>
  unschedulable?: boolean
  /** Memory that another pod takes on both. */
  taken?: string
  /** The node on which the volume is. */
  volumeOn?: string
  vmi?: object
}

const usual = { cpu: '4', memory: '8Gi', pods: '10', 'devices.kubevirt.io/kvm': '1k' }

function filled({ labels = {}, unschedulable = false, taken }: UpgradeSnapshot): Store {
  const store = new Store(new SimClock())
  for (const name of ['node-1', 'node-2']) {
    const node: Node = {
      apiVersion: 'v1',
      kind: 'Node',
      metadata: {
        name,
        labels: { 'kubevirt.io/schedulable': 'true', 'kubernetes.io/hostname': name, ...labels },
      },
      spec: { unschedulable },
      status: { allocatable: usual, conditions: [{ type: 'Ready', status: 'True' }] },
    }
    store.put(Nodes, node)
    const requests = { memory: taken ?? '1Mi' }
    const pod: Pod = {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { name: `other-${name}`, namespace: 'shop' },
      spec: { nodeName: name, containers: [{ name: 'other', resources: { requests } }] },
      status: { phase: 'Running' },
    }
    store.put(Pods, pod)
  }
  return store
}

/** The store knows no volumes: they are told beside it. */
function readerOf(snapshot: UpgradeSnapshot): Reader {
  const { reader } = storeCluster(filled(snapshot))
  const expression = { key: 'kubernetes.io/hostname', operator: 'In', values: [snapshot.volumeOn ?? ''] }
  const terms = [{ matchExpressions: [expression] }]
  const specs: Record<string, object> = {
    'PersistentVolumeClaim shop/disk': { volumeName: 'pv-1' },
    'PersistentVolume undefined/pv-1': { nodeAffinity: { required: { nodeSelectorTerms: terms } } },
  }
  const find = async (
    { kind }: { kind: string },
    { namespace, name }: { namespace?: string; name: string },
  ) => {
    const spec = specs[`${kind} ${namespace}/${name}`]
    return spec ? { is: 'object', object: { metadata: { name }, spec } } : { is: 'not-found' }
  }
  return { pages: reader.pages.bind(reader), get: find } as never
}

/** Of a VM on node-1. */
async function refusal(snapshot: UpgradeSnapshot): Promise<string | undefined> {
  const reader = readerOf(snapshot)
  const vmi = aVmi({ metadata: { uid: 'vmi-1' } })
  const spec = { domain: { memory: { guest: '2Gi' } }, ...vmi.spec, ...snapshot.vmi }
  return (await readReturnRoom(reader, undefined)).refusal({ ...vmi, spec })
}

const none = (why: string) => `no node can take it again: 2 ${why}`
const disk = { volumes: [{ name: 'root', dataVolume: { name: 'disk' } }] }
const domain = (more: object) => ({ domain: { memory: { guest: '2Gi' }, ...more } })
const vms = { 'machine-type.node.kubevirt.io/q35': 'true' }
const models = { 'cpu-model.node.kubevirt.io/Skylake': 'true' }

test.each<[string, UpgradeSnapshot, string | undefined]>([
  ['room enough', {}, undefined],
  ['W2 some *schedulable* node', { unschedulable: true }, none('cordoned')],
  ['W2 machine type: offered', { labels: vms, vmi: domain({ machine: { type: 'q35' } }) }, undefined],
  [
    'W2 machine type: offered by none',
    { labels: vms, vmi: domain({ machine: { type: 'pc-q35-2.1' } }) },
    none('without machine type pc-q35-2.1'),
  ],
  ['W2 CPU model: offered', { labels: models, vmi: domain({ cpu: { model: 'Skylake' } }) }, undefined],
  [
    'W2 CPU model: offered by none',
    { labels: models, vmi: domain({ cpu: { model: 'Opteron' } }) },
    none('without CPU model Opteron'),
  ],
  [
    'W2 CPU model: host-model is whatever a node has',
    { labels: models, vmi: domain({ cpu: { model: 'host-model' } }) },
    undefined,
  ],
  [
    'W2 devices: on no node',
    { vmi: domain({ devices: { gpus: [{ deviceName: 'example.com/gpu' }] } }) },
    none('has no example.com/gpu'),
  ],
  ['W2 volume: on a node that is there', { volumeOn: 'node-2', vmi: disk }, undefined],
  [
    'W2 volume: on a node that is gone',
    { volumeOn: 'node-9', vmi: disk },
    none('without the volume of claim disk'),
  ],
  [
    'W2 memory: taken by others meanwhile',
    { taken: '8Gi', vmi: { ...domain({}), nodeSelector: { 'kubernetes.io/hostname': 'node-2' } } },
    'no node can take it again: 1 no label kubernetes.io/hostname=node-2, 1 not enough memory',
  ],
])('%s', async (_, snapshot, expected) => {
  expect(await refusal(snapshot)).toBe(expected)
})

const no = () => Promise.reject(new ApiError(403, 'Forbidden', 'jane may not'))

test('W2 what may not be read refuses nothing, and is said', async () => {
  const { reader } = storeCluster(filled({}))
  const blind = { pages: reader.pages.bind(reader), get: no } as never
  const room = await readReturnRoom(blind, undefined)
  const vmi = aVmi({})
  expect(await room.refusal({ ...vmi, spec: disk })).toBeUndefined()
  expect(room.remarks).toEqual(['on which nodes volumes can be used is unknown: jane may not'])
})
