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
import fixture from './return-room.json' with { type: 'json' }

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

const disk = { volumes: [{ name: 'root', dataVolume: { name: 'disk' } }] }
test.each(fixture.rows as unknown as [string, UpgradeSnapshot, string | null][])(
  '%s',
  async (_, snapshot, expected) => {
    expect(await refusal(snapshot)).toBe(expected ?? undefined)
  },
)

const no = () => Promise.reject(new ApiError(403, 'Forbidden', 'jane may not'))

test('W2 what may not be read refuses nothing, and is said', async () => {
  const { reader } = storeCluster(filled({}))
  const blind = { pages: reader.pages.bind(reader), get: no } as never
  const room = await readReturnRoom(blind, undefined)
  const vmi = aVmi({})
  expect(await room.refusal({ ...vmi, spec: disk })).toBeUndefined()
  expect(room.remarks).toEqual(['on which nodes volumes can be used is unknown: jane may not'])
})
