import { expect, test } from 'vitest'
import {
  type VirtualMachineInstanceMigration,
  VirtualMachineInstanceMigrations,
  VirtualMachineInstances,
} from '../../../../src/lib/kube/kinds/kubevirt-kinds.ts'
import { storeCluster } from '../../../../src/simulator/api/store-client.ts'
import { Store } from '../../../../src/simulator/api/store.ts'
import { SimClock } from '../../../../src/simulator/simulated-clock.ts'
import { ApiError } from '../../../../src/lib/kube/errors.ts'
import { begin } from '../../../../src/lib/vms/waves/update-fleet.ts'

const place = { name: 'db', namespace: 'shop' }
const hour = (at: number) => `2026-11-20T${String(at).padStart(2, '0')}:00:00Z`

interface UpgradeSnapshot {
  /** The hour at which its VMI was made. */
  born?: number
  /** Launchers that kvup has moved it to, by the hour; `-`: not known at that time, `other`: not by kvup. */
  moved?: Readonly<Record<number, string>>
  /** Of now. */
  launcher?: string
  refused?: ApiError
}

function migrationTo(at: number, launcher: string): VirtualMachineInstanceMigration {
  const { apiVersion, kind } = VirtualMachineInstanceMigrations
  return {
    apiVersion,
    kind,
    metadata: {
      ...place,
      name: `m-${at}`,
      uid: `m-${at}`,
      creationTimestamp: hour(at),
      labels: { 'kubevirt.io/vmi-name': 'db' },
      ...(launcher !== 'other' && { annotations: { 'kvup.io/launcher': launcher === '-' ? '' : launcher } }),
    },
    spec: { vmiName: 'db' },
    status: { phase: 'Succeeded', phaseTransitionTimestamps: [] },
  }
}

/** An outdated VMI whose turn it is, at noon. */
async function begun({ born = 1, moved = {}, launcher, refused }: UpgradeSnapshot) {
  const store = new Store(new SimClock())
  store.put(VirtualMachineInstances, {
    apiVersion: VirtualMachineInstances.apiVersion,
    kind: VirtualMachineInstances.kind,
    metadata: {
      ...place,
      uid: 'u',
      creationTimestamp: hour(born),
      labels: { 'kubevirt.io/outdatedLauncherImage': '' },
    },
    status: { phase: 'Running' },
  } as never)
  for (const [at, to] of Object.entries(moved))
    store.put(VirtualMachineInstanceMigrations, migrationTo(Number(at), to))
  const create = async () => {
    if (refused) throw refused
  }
  const cx = { reader: storeCluster(store).reader, writer: { create } as never }
  const one = {
    vm: 'shop/db',
    uid: 'u',
    by: 'migration',
    wave: '',
    canary: false,
    memory: 0,
    bornAt: 0,
  } as const
  const rest = { canary: false, since: Date.parse(hour(12)), against: async () => undefined }
  return (await begin(cx, one, { launcher, ...rest })).is
}

test.each<[string, UpgradeSnapshot, string]>([
  ['nobody has moved it', { launcher: 'v2' }, 'begun'],
  ['it was moved to this launcher, and is outdated still', { moved: { 2: 'v2' }, launcher: 'v2' }, 'refused'],
  ['it was moved to the one before', { moved: { 2: 'v1' }, launcher: 'v2' }, 'begun'],
  ['it was moved to this one and then back', { moved: { 2: 'v2', 3: 'v1' }, launcher: 'v2' }, 'begun'],
  ['somebody else has moved it last', { moved: { 2: 'v2', 3: 'other' }, launcher: 'v2' }, 'begun'],
  ['it runs anew since', { born: 3, moved: { 2: 'v2' }, launcher: 'v2' }, 'begun'],
  ['the launcher may not be read: moved before this run', { moved: { 2: '-' } }, 'begun'],
  ['the launcher may not be read: moved by this run', { moved: { 13: '-' } }, 'refused'],
])('W3 not moved again for nothing: %s', async (_, snapshot, expected) => {
  expect(await begun(snapshot)).toBe(expected)
})

const forbidden = (why: string) => new ApiError(403, 'Forbidden', `"m" is forbidden: ${why}`)

test('a quota of its namespace fails one VM, and no right at all ends it', async () => {
  expect(await begun({ refused: forbidden('exceeded quota: q') })).toBe('refused')
  await expect(begun({ refused: forbidden('User "jane" cannot create resource "x"') })).rejects.toThrow(
    'jane',
  )
})
