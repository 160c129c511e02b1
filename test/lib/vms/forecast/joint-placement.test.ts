import { describe, expect, test } from 'vitest'
import type { Node } from '../../../../src/lib/kube/kinds/core-kinds.ts'
import { ApiError } from '../../../../src/lib/kube/errors.ts'
import { readerWith, type Reader } from '../../../../src/lib/kube/cluster.ts'
import { type Demand, Neighbours } from '../../../../src/lib/vms/forecast/launcher-placement.ts'
import { Places } from '../../../../src/lib/vms/forecast/cluster-room.ts'
import { JointPlacement } from '../../../../src/lib/vms/forecast/joint-placement.ts'

const gibi = 2 ** 30
const node = (name: string, memory: number, labels = {}): Node => ({
  apiVersion: 'v1',
  kind: 'Node',
  metadata: { name, labels: { 'kubevirt.io/schedulable': 'true', ...labels } },
  status: {
    allocatable: { memory: `${memory}Gi`, pods: '110' },
    conditions: [{ type: 'Ready', status: 'True' }],
  },
})

/** What pods ask for on each node, in GiB. */
type Used = Readonly<Record<string, number>>

const podsOf = (used: Used): Reader => {
  const pages: Reader['pages'] = async function* (_, { fields = '' } = {}) {
    const name = /spec\.nodeName=([^,]+)/u.exec(fields)?.[1] ?? ''
    const spec = {
      containers: [{ name: 'all', resources: { requests: { memory: `${used[name] ?? 0}Gi` } } }],
    }
    yield { items: [{ metadata: { name: 'all' }, spec }] as never[], resourceVersion: '1' }
  }
  return readerWith({} as Reader, { pages })
}

const asks = (memory: number, selector: Record<string, string> = {}): Demand => ({
  resources: { pods: 1, memory: memory * gibi },
  selector,
  labels: [],
  tolerations: [],
  nodeTerms: [],
  podTerms: [],
})
const from = (name: string, uid: string) => ({ from: name, again: false, uid })

function placing(
  nodes: readonly Node[],
  used: Used,
  limits = { perCluster: 5, perNode: 2 },
  reader = podsOf(used),
) {
  return new JointPlacement({ places: new Places(reader, nodes), neighbours: new Neighbours(reader) }, limits)
}

describe('VMs are placed together', () => {
  const three = [node('a', 10), node('b', 10), node('c', 10)]

  test('on the node that is used least, as the scheduler does; another is read only where those that were have no room', async () => {
    const joint = placing(three, { a: 8, b: 5, c: 2 })
    expect(await joint.place(asks(2), from('a', '1'))).toEqual({ node: 'b' })
    expect(await joint.place(asks(6), from('a', '2'))).toEqual({ node: 'c' })
    expect(await joint.place(asks(1), from('a', '3'))).toEqual({ node: 'b' })
    expect(await joint.place(asks(1), from('a', '4'))).toHaveProperty('node')
  })

  test('targets of migrations that run at the same time take room from each other', async () => {
    const joint = placing([node('a', 10), node('b', 10)], { a: 10, b: 6 })
    expect(await joint.place(asks(4), from('a', '1'))).toEqual({ node: 'b' })
    // The first still runs on both; only once it is through its source has room, which is where the second is.
    const second = await joint.place(asks(4), from('a', '2'))
    expect(second).toMatchObject({ refusals: [['not enough memory', 1]], isShort: true })
    expect(joint.isDeferred('2')).toBe(true)
  })

  test('behind a migration the room of its source is free again', async () => {
    const joint = placing([node('a', 10), node('b', 10)], { a: 10, b: 6 })
    await joint.place(asks(4), from('a', '1'))
    expect(await joint.place(asks(4), from('b', '2'))).toEqual({ node: 'a' })
  })

  test('no more at a time than KubeVirt lets run: who waits for a slot finds the room of who is through', async () => {
    const joint = placing(three, { a: 10, b: 6, c: 10 }, { perCluster: 1, perNode: 1 })
    expect(await joint.place(asks(4), from('a', '1'))).toEqual({ node: 'b' })
    expect(await joint.place(asks(4), from('c', '2'))).toEqual({ node: 'a' })
  })

  test('who stays for want of room is tried again behind all the others', async () => {
    const joint = placing(three, { a: 9, b: 5, c: 9 })
    expect(await joint.place(asks(6), from('a', 'big'))).toMatchObject({ isShort: true })
    await joint.place(asks(4), from('c', 'small'))
    await joint.settle()
    expect([joint.isDeferred('big'), joint.isSettled('big')]).toEqual([false, false])
    const other = placing(three, { a: 9, b: 5, c: 9 })
    await other.place(asks(6), from('a', 'big'))
    await other.place(asks(5), from('c', 'small'))
    await other.settle()
    expect(other.isSettled('big')).toBe(true)
    expect(await other.place(asks(6), from('a', 'big'))).toHaveProperty('node')
  })

  test('room that others have left behind since is found on the way, not only at the end', async () => {
    const joint = placing(three, { a: 10, b: 6, c: 8 }, { perCluster: 1, perNode: 1 })
    expect(await joint.place(asks(5), from('a', 'waits'))).toMatchObject({ isShort: true })
    await joint.retry()
    expect(joint.isDeferred('waits')).toBe(true)
    expect(await joint.place(asks(2), from('b', '1'))).toEqual({ node: 'c' })
    // The first is through by then: b has room for six, and keeps it for five.
    expect(await joint.place(asks(1), from('a', '2'))).toEqual({ node: 'b' })
    await joint.retry()
    expect([joint.isDeferred('waits'), joint.isSettled('waits')]).toEqual([false, true])
  })

  test('what no room would help is not deferred', async () => {
    const joint = placing(three, {})
    expect(await joint.place(asks(1, { pool: 'gold' }), from('a', '1'))).toEqual({
      refusals: [['no label pool=gold', 2]],
      isShort: false,
    })
    expect(await joint.place(asks(11), from('a', '2'))).toEqual({
      refusals: [['not enough memory', 2]],
      isShort: false,
    })
    expect(joint.isDeferred('1') || joint.isDeferred('2')).toBe(false)
  })

  test('one that is restarted may come back to where it was', async () => {
    const joint = placing([node('a', 10), node('b', 10)], { a: 10, b: 10 })
    expect(await joint.place(asks(4), { from: 'a', again: true, uid: '1' })).toEqual({ node: 'a' })
  })

  test('pods that may not be read refuse nothing', async () => {
    const refusing = readerWith({} as Reader, {
      pages: () => {
        throw new ApiError(403, 'Forbidden', 'pods is forbidden')
      },
    })
    const joint = placing(three, {}, undefined, refusing)
    for (let i = 0; i < 9; i++)
      expect(await joint.place(asks(9), from('a', String(i)))).toHaveProperty('node')
  })
})
