import { expect, test } from 'vitest'
import { getLockHolder, upgradeUnderWay } from '../../src/lib/vms/lock-holder.ts'
import { Leases } from '../../src/lib/kube/kinds/core-kinds.ts'
import type { KubeObject } from '../../src/lib/kube/object.ts'
import { holderText } from '../../src/lib/output/views/report-lines.ts'
import { storeCluster } from '../../src/simulator/api/store-client.ts'
import { exampleOf } from '../lib/kubevirt/example.ts'

const at = '2026-11-21T10:00:00Z'
const namespace: KubeObject = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'kubevirt' } }
const lease = (holderIdentity: string, renewTime: string): KubeObject & Record<string, unknown> => ({
  apiVersion: Leases.apiVersion,
  kind: Leases.kind,
  metadata: { name: 'kvup', namespace: 'kubevirt' },
  spec: { holderIdentity, renewTime, acquireTime: '2026-11-21T09:50:00.000000Z', leaseDurationSeconds: 15 },
})

/** Asked on `here`, where only process 7 lives. */
async function asked(holder: string, renewed = '2026-11-21T09:59:48.000000Z', saved = false) {
  const { store, clock } = exampleOf([namespace, lease(holder, renewed)], at)
  const world = { machine: 'here', pid: 99, isAlive: (pid: number) => pid === 7 }
  const found = await getLockHolder({ world }, { cluster: storeCluster(store), clock, saved }, 'kubevirt')
  return found && holderText(found, at)
}

test.each([
  [
    'a dead process of this machine',
    'jane@here/8/ab-here',
    'jane ran kvup until 12 s ago on host here (pid 8 is gone)',
  ],
  [
    'a process of this machine that lives',
    'jane@here/7/ab-here',
    'another kvup is running: jane@here/7/ab-here, last renewal 12 s ago',
  ],
  [
    'M4 a process of another machine with the same name',
    'jane@here/8/ab-there',
    'another kvup is running: jane@here/8/ab-there, last renewal 12 s ago',
  ],
  [
    'M4 who names no machine',
    'jane@here/8/ab',
    'another kvup is running: jane@here/8/ab, last renewal 12 s ago',
  ],
  [
    'a process elsewhere',
    'jane@there/8/ab',
    'another kvup is running: jane@there/8/ab, last renewal 12 s ago',
  ],
  ['who is no kvup', 'somebody', 'another kvup is running: somebody, last renewal 12 s ago'],
  ['nobody', '', undefined],
])('%s', async (_, holder, text) => {
  expect(await asked(holder)).toBe(text)
})

test('a Lease that ran out is nobody’s', async () => {
  expect(await asked('jane@there/8/ab', '2026-11-21T09:59:44.000000Z')).toBeUndefined()
})

test('of a saved cluster this machine knows nothing', async () => {
  expect(await asked('jane@here/8/ab-here', undefined, true)).toBe(
    'another kvup is running: jane@here/8/ab-here, last renewal 12 s ago',
  )
})

test.each([
  [
    'another kvup that upgrades it',
    { isUpdating: false, last: { by: 'jane@there', to: 'v1.8.4', result: 'running' } },
    'jane@there/8/ab since 2026-11-21T09:50:00Z',
    6,
  ],
  [
    'a kvup of which the journal tells nothing, and KubeVirt is on its way',
    { isUpdating: true, last: undefined },
    'jane@there/8/ab since 2026-11-21T09:50:00Z',
    6,
  ],
  [
    'a kvup that was interrupted',
    { isUpdating: true, holder: undefined, last: { by: 'jane@there', to: 'v1.8.4', result: 'interrupted' } },
    'jane@there, whose kvup is not running',
    3,
  ],
  [
    'somebody with kubectl',
    { isUpdating: true, holder: undefined, last: { by: 'jane@there', to: 'v1.7.4', result: 'done' } },
    'kubectl-edit at 2026-11-21T09:59:00Z',
    3,
  ],
  [
    'nobody knows who',
    { isUpdating: true, holder: undefined, last: undefined, writer: undefined },
    'somebody unknown',
    3,
  ],
] as const)('KubeVirt is being upgraded by %s: told with the name', (_, signs, who, code) => {
  const holder = { holder: 'jane@there/8/ab', since: '2026-11-21T09:50:00.000000Z' }
  const told = upgradeUnderWay({ holder, writer: 'kubectl-edit at 2026-11-21T09:59:00Z', ...signs })
  expect(told).toMatchObject({
    exitCode: code,
    message: `KubeVirt is being upgraded by ${who}. Which VMs are outdated is known after that`,
  })
})

test('KubeVirt is at rest: another kvup that moves VMs, or is gone, is no upgrade', () => {
  const holder = { holder: 'jane@there/8/ab' }
  const gone = { ...holder, gone: { user: 'jane', host: 'there', pid: 8 } }
  const moving = { by: 'jane@there', result: 'running' } as const
  const upgrading = { ...moving, to: 'v1.8.4' }
  const writer = undefined
  expect(upgradeUnderWay({ isUpdating: false, holder, last: moving, writer })).toBeUndefined()
  expect(upgradeUnderWay({ isUpdating: false, holder: gone, last: upgrading, writer })).toBeUndefined()
})
