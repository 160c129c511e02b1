import { beforeAll, expect, test } from 'vitest'
import {
  KubeVirts,
  MigrationPolicies,
  type MigrationPolicy,
  VirtualMachines,
} from '../../src/lib/kube/kinds/kubevirt-kinds.ts'
import type { Cluster } from '../../src/lib/kube/cluster.ts'
import { ClusterRoleBindings, ClusterRoles } from '../../src/lib/kube/kinds/extension-kinds.ts'
import { SimClock } from '../../src/simulator/simulated-clock.ts'
import { simulate, type SimulatedCluster } from '../../src/simulator/simulated-cluster.ts'
import { overrideLabel } from '../../src/lib/vms/unblock/vm-overrides.ts'
import { runText } from '../lib/run-text.ts'

const clock = new SimClock()
let sim: SimulatedCluster

/** A cluster in which nothing moves any more. */
beforeAll(async () => {
  const vms = ['db', 'job', 'web'].map((name) => ({ name }))
  sim = await simulate({ clock, version: 'v1.8.4', vms, methods: ['LiveMigrate'] })
  await clock.sleep(10_000)
  await sim.stop()
})

const kvup = (line: string, cluster: Cluster = sim.cluster()) =>
  runText(line.split(' '), { cluster, clock: { now: () => clock.now(), sleep: async () => undefined } })

function mark(name: string, value: string | null): void {
  const body = { metadata: { labels: { [overrideLabel]: value } } }
  sim.store.patch(VirtualMachines, { name, namespace: 'demo' }, { type: 'merge', body })
}

/** Somebody who may read all of these but one. */
async function without(refused: string): Promise<Cluster> {
  const { writer } = sim.cluster()
  const name = `without-${refused}`
  const { apiVersion, kind } = ClusterRoles
  const rules = [
    { apiGroups: ['*'], resources: read.filter((one) => one !== refused), verbs: ['get', 'list'] },
  ]
  await writer.create(ClusterRoles, { apiVersion, kind, metadata: { name }, rules })
  await writer.create(ClusterRoleBindings, {
    apiVersion,
    kind: ClusterRoleBindings.kind,
    metadata: { name },
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind, name },
    subjects: [{ kind: 'User', name, apiGroup: 'rbac.authorization.k8s.io' }],
  })
  return sim.cluster({ user: name })
}

const read = [
  'kubevirts',
  'virtualmachines',
  'virtualmachineinstances',
  'migrationpolicies',
  'deployments',
  'daemonsets',
  'replicasets',
  'jobs',
  'pods',
  'leases',
  'configmaps',
  'nodes',
]

test('contract: status says how many VMs have what they were lent, and what gives it back', async () => {
  expect((await kvup('status')).out).not.toContain('set')
  mark('db', 'unblock')
  mark('job', 'unblock')
  const { code, out } = await kvup('status')
  expect(code).toBe(0)
  expect(out).toMatch(
    /temporary +2 VMs have settings that kvup workloads unblock changed\n +-> kvup restore-settings +# restores them\n/,
  )
  expect(JSON.parse((await kvup('status -o json')).out)).toMatchObject({
    overrides: { vms: 2, restore: 'kvup restore-settings' },
  })
  mark('job', null)
  expect((await kvup('status')).out).toContain('1 VM has settings that')
  mark('db', null)
})

test('contract: whether VMs were lent anything is not guessed where they may not be read', async () => {
  const jane = await without('virtualmachines')
  const { code, out } = await kvup('status', jane)
  expect(code).toBe(0)
  expect(out).toMatch(/not checked +temporary changes of VMs: [^\n]*forbidden/)
  expect(JSON.parse((await kvup('status -o json', jane)).out)).not.toHaveProperty('set')
})

test('W7: strategy show names the MigrationPolicies that override it, and says where they may not be read', async () => {
  expect((await kvup('workloads strategy show')).out).not.toContain('POLICY')
  const slow: MigrationPolicy = {
    apiVersion: MigrationPolicies.apiVersion,
    kind: MigrationPolicies.kind,
    metadata: { name: 'slow' },
    spec: {
      bandwidthPerMigration: '32Mi',
      selectors: { virtualMachineInstanceSelector: { app: 'db' } },
    },
  }
  sim.store.put(MigrationPolicies, slow)
  const shown = await kvup('workloads strategy show')
  expect(shown.code).toBe(0)
  expect(shown.out).toMatch(/bandwidthPerMigration +no limit +default\n/)
  expect(shown.out).toMatch(/\nslow +bandwidthPerMigration +32Mi\/s +VMs app=db\n/)
  expect((await kvup('workloads strategy show -o name')).out).toMatch(/\nmigrationpolicy\/slow\n$/)
  const { out } = await kvup('workloads strategy show -o json')
  expect(JSON.parse(out)).toMatchObject({ policies: [{ name: 'slow', overrides: [{ value: '32Mi' }] }] })
  const refused = await kvup('workloads strategy show', await without('migrationpolicies'))
  expect(refused.code).toBe(0)
  expect(refused.out).toContain('kvup does not know whether MigrationPolicies override them: ')
})

test('W7: strategy show says where LiveMigrate is without its gate', async () => {
  const { writer } = sim.cluster()
  const running = (observedKubeVirtVersion: string) =>
    writer.mergePatch(
      KubeVirts,
      { name: 'kubevirt', namespace: 'kubevirt' },
      { status: { observedKubeVirtVersion } },
      'status',
    )
  await running('v0.55.2')
  const old = await kvup('workloads strategy show')
  expect(old.out).toContain('migrates nothing without the feature gate LiveMigration')
  expect(old.out).toContain('(live-migration-gate)')
  await running('v1.8.4')
  expect((await kvup('workloads strategy show')).out).not.toContain('live-migration-gate')
})
