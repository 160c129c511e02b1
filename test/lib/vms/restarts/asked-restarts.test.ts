import { expect, test } from 'vitest'
import {
  type VirtualMachineInstance,
  VirtualMachineInstances,
} from '../../../../src/lib/kube/kinds/kubevirt-kinds.ts'
import type { Entry } from '../../../../src/lib/engine/journal.ts'
import { storeCluster } from '../../../../src/simulator/api/store-client.ts'
import { Store } from '../../../../src/simulator/api/store.ts'
import { SimClock } from '../../../../src/simulator/simulated-clock.ts'
import { ApiError } from '../../../../src/lib/kube/errors.ts'
import { askRestart, type Restart, restartsIn, statusOf } from '../../../../src/lib/vms/waves/vm-restart.ts'
import fixture from './asked-restarts.json' with { type: 'json' }

const vm = 'shop/db'
const at = '2026-01-10T12:00:00Z'
const began = Date.parse(at)
const told = (...entries: Entry[]) =>
  restartsIn(entries, began).map(({ uid, agent, taken }) => `${uid} ${agent} ${taken}`)

test.each(fixture.entries as unknown as [string, readonly Entry[], readonly string[]][])(
  'W3 %s',
  (_, entries, expected) => {
    expect(told(...entries)).toEqual(expected)
  },
)

interface Now {
  uid?: string
  ready?: 'True' | 'False'
  agent?: boolean
  outdated?: boolean
  phase?: string
  deleting?: boolean
}

function vmiOf({
  uid = 'new-1',
  ready = 'True',
  agent = true,
  outdated = false,
  phase = 'Running',
  deleting = false,
}: Now) {
  const conditions = [
    { type: 'Ready', status: ready, lastTransitionTime: '2026-01-10T12:03:00Z' },
    ...(agent ? [{ type: 'AgentConnected', status: 'True' }] : []),
  ]
  const labels = outdated ? { 'kubevirt.io/outdatedLauncherImage': '' } : {}
  return {
    apiVersion: 'kubevirt.io/v1',
    kind: 'VirtualMachineInstance',
    metadata: { name: 'db', namespace: 'shop', uid, labels, ...(deleting && { deletionTimestamp: at }) },
    status: { phase, conditions },
  } as VirtualMachineInstance
}

const found = (now: Now | undefined) =>
  ({ get: async () => (now ? { is: 'object', object: vmiOf(now) } : { is: 'not-found' }) }) as never
const asked: Restart = { vm, uid: 'old-1', agent: true, at: began, taken: true }

test.each(fixture.backs as unknown as [string, Now | null, Partial<Restart>, string][])(
  'W3 %s',
  async (_, now, more, expected) => {
    const options = { now: began + 60_000, backWithin: 600_000 }
    expect((await statusOf(found(now ?? undefined), { ...asked, ...more }, options)).is).toBe(expected)
  },
)

test('W3 one that is not back in time is missing', async () => {
  const options = { now: began + 600_001, backWithin: 600_000 }
  expect(await statusOf(found({ ready: 'False' }), asked, options)).toEqual({ is: 'missing' })
  expect(await statusOf(found({}), asked, options)).toEqual({ is: 'back', wellAt: began + 180_000 })
})

async function answer(error: ApiError | undefined, now: Now = { uid: 'old-1' }, against?: string) {
  const store = new Store(new SimClock())
  store.put(VirtualMachineInstances, vmiOf(now))
  const subresource = async () => {
    if (error) throw error
  }
  const cx = { reader: storeCluster(store).reader, writer: { subresource } as never }
  const one = { vm, uid: 'old-1', by: 'restart', wave: '', canary: false, memory: 0, bornAt: 0 } as const
  return askRestart(cx, one, async () => against)
}
const no = (status: number, message: string) => new ApiError(status, 'x', message)

test('W3 "stop/start already underway" is waiting, every other 409 a refusal, and no right at all ends it', async () => {
  expect(await answer(undefined)).toEqual({ is: 'begun' })
  const underway = 'unable to complete request: stop/start already underway'
  expect(await answer(no(409, underway))).toEqual({ is: 'begun' })
  expect(await answer(no(409, 'Halted does not support manual restart requests'))).toMatchObject({
    is: 'refused',
  })
  expect(await answer(no(409, 'VM is not running'))).toMatchObject({
    is: 'refused',
    why: 'VM is not running',
  })
  expect(await answer(no(404, 'virtualmachines.kubevirt.io "db" not found'))).toMatchObject({ is: 'refused' })
  await expect(answer(no(403, 'may not'))).rejects.toThrow('may not')
})

test('W3 another instance than the one that was looked at is not restarted; W2 nor one that no node would take', async () => {
  expect(await answer(undefined, { uid: 'new-1' })).toMatchObject({ is: 'not-needed' })
  expect(await answer(undefined, { uid: 'old-1', deleting: true })).toMatchObject({ is: 'not-needed' })
  expect(await answer(no(500, 'never asked'), { uid: 'old-1' }, 'no node')).toEqual({
    is: 'not-needed',
    why: 'no node',
  })
})
