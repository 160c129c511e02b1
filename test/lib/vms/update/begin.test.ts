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
import fixture from './begin.json' with { type: 'json' }

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

test.each<[string, UpgradeSnapshot, string]>(fixture.moved as never)(
  'W3 not moved again for nothing: %s',
  async (_, snapshot, expected) => {
    expect(await begun(snapshot)).toBe(expected)
  },
)

const forbidden = (why: string) => new ApiError(403, 'Forbidden', `"m" is forbidden: ${why}`)

test('a quota of its namespace fails one VM, and no right at all ends it', async () => {
  expect(await begun({ refused: forbidden('exceeded quota: q') })).toBe('refused')
  await expect(begun({ refused: forbidden('User "jane" cannot create resource "x"') })).rejects.toThrow(
    'jane',
  )
})
