import { beforeAll, expect, test } from 'vitest'
import {
  ClusterRoleBindings,
  ClusterRoles,
  type PolicyRule,
  RoleBindings,
} from '../../src/lib/kube/kinds/extension-kinds.ts'
import {
  KubeVirts,
  type VirtualMachineInstanceMigration,
  VirtualMachineInstanceMigrations,
  VirtualMachineInstances,
} from '../../src/lib/kube/kinds/kubevirt-kinds.ts'
import type { MigrationsDocument } from '../../src/lib/output/views/vms/migrations.ts'
import { SimClock } from '../../src/simulator/simulated-clock.ts'
import { simulate, type SimulatedCluster } from '../../src/simulator/simulated-cluster.ts'
import { watchMigrations } from '../../src/lib/vms/migrations/migration-watch.ts'
import { runText } from '../lib/run-text.ts'

const at = new Date('2026-01-03T00:00:00Z')
const ago = (seconds: number) => new Date(at.getTime() - seconds * 1000).toISOString()
let sim: SimulatedCluster

/** VMs that run, in a cluster where nothing moves any more. */
beforeAll(async () => {
  const clock = new SimClock()
  const vms = ['demo/web-1', 'demo/web-2', 'shop/db'].map((vm) => {
    const [namespace = '', name = ''] = vm.split('/')
    return { namespace, name }
  })
  sim = await simulate({ clock, version: 'v1.8.4', vms, methods: ['LiveMigrate'] })
  await clock.sleep(10_000)
  await sim.stop()
})

interface Shape {
  namespace?: string
  phase?: string
  reason?: string
  since?: number
}

function put(name: string, vmiName: string, shape: Shape = {}): void {
  const { namespace = 'demo', phase = 'Pending', since = 120, reason } = shape
  const time = ago(since)
  const found = sim.store.read(VirtualMachineInstanceMigrations, { name, namespace })
  const annotations = { 'kubevirt.io/workloadUpdateMigration': '' }
  const object: VirtualMachineInstanceMigration = {
    apiVersion: VirtualMachineInstanceMigrations.apiVersion,
    kind: VirtualMachineInstanceMigrations.kind,
    metadata: { ...found?.metadata, name, namespace, annotations },
    spec: { vmiName },
    status: {
      phase,
      phaseTransitionTimestamps: [{ phase, phaseTransitionTimestamp: time }],
      ...(reason !== undefined && { migrationState: { failureReason: reason } }),
    },
  }
  sim.store.put(VirtualMachineInstanceMigrations, object)
}

const clear = async () => {
  for (const { metadata } of await sim.cluster().reader.list(VirtualMachineInstanceMigrations))
    sim.store.remove(VirtualMachineInstanceMigrations, metadata)
}
const clock = { now: () => at, sleep: async () => undefined }
const kvup = (line: string, user?: string, columns?: number) =>
  runText(line.split(' '), {
    cluster: sim.cluster(user === undefined ? {} : { user }),
    clock,
    ...(columns && { columns }),
  })
const documentOf = ({ out }: { out: string }) => JSON.parse(out) as MigrationsDocument & { status: string }

const rule = (resources: readonly string[]): PolicyRule => ({
  apiGroups: ['', 'kubevirt.io'],
  resources: [...resources],
  verbs: ['get', 'list', 'watch'],
})

let users = 0
/** Somebody who may read these everywhere, and migrations in demo alone. */
async function onlyIn(namespace: string, everywhere: readonly string[]): Promise<string> {
  const { writer } = sim.cluster()
  const user = `jane-${++users}`
  for (const [kind, where, resources] of [
    [ClusterRoleBindings, undefined, everywhere],
    [RoleBindings, namespace, ['virtualmachineinstancemigrations', 'virtualmachineinstances', 'pods']],
  ] as const) {
    const name = `${user}-${kind.plural}`
    const { apiVersion } = ClusterRoles
    await writer.create(ClusterRoles, {
      apiVersion,
      kind: 'ClusterRole',
      metadata: { name },
      rules: [rule(resources)],
    })
    const metadata = { name, ...(where !== undefined && { namespace: where }) }
    const roleRef = { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name }
    const subjects = [{ kind: 'User', name: user, apiGroup: 'rbac.authorization.k8s.io' }]
    await writer.create(kind, { apiVersion, kind: kind.kind, metadata, roleRef, subjects })
  }
  return user
}

test('what may not be read is said: exit 7 with what was readable on stdout, never none', async () => {
  await clear()
  put('one', 'web-1', { phase: 'Running' })
  put('two', 'db', { phase: 'Running', namespace: 'shop' })
  const jane = await onlyIn('demo', ['namespaces', 'kubevirts', 'virtualmachineinstances'])
  const ran = await kvup('workloads migrations -o json', jane)
  expect(ran.code).toBe(7)
  expect(documentOf(ran)).toMatchObject({
    status: 'partial',
    items: [{ vm: 'web-1' }],
    error: { reason: 'partly-unread' },
    unread: expect.arrayContaining([expect.objectContaining({ namespace: 'shop' })]),
  })
  const one = await kvup('workloads migrations -n demo -o json', jane)
  expect([one.code, documentOf(one).status]).toEqual([0, 'complete'])
  expect(documentOf(one).remarks).toContain(
    'kvup does not read all namespaces: cluster-wide limits are not checked',
  )
})

test('who may read none of it is told of -n', async () => {
  const nobody = await onlyIn('demo', [])
  const { code, out, err } = await kvup('workloads migrations', nobody)
  expect([code, out]).toEqual([7, ''])
  expect(err).toContain('kvup workloads migrations -n NAMESPACE')
  expect(await kvup('workloads migrations -n demo', nobody)).toMatchObject({ code: 0 })
})

test('pods that may not be read leave a remark, and no guess', async () => {
  await clear()
  put('one', 'web-1', { phase: 'Scheduling' })
  const jane = await onlyIn('shop', [
    'kubevirts',
    'virtualmachineinstances',
    'virtualmachineinstancemigrations',
  ])
  const ran = await kvup('workloads migrations -o json', jane)
  expect(ran.code).toBe(0)
  const { remarks, items } = documentOf(ran)
  expect(remarks).toEqual([expect.stringMatching(/^why a target pod waits is unknown: pods is forbidden: /)])
  expect(items[0]?.why).toMatchObject([{ reason: 'not-known' }])
})

test('the table, on a terminal and on a pipe; text of the cluster has no control characters', async () => {
  await clear()
  put('one', 'web-1', { phase: 'Running', since: 20 })
  put('bad', 'web-2', { phase: 'Failed', reason: 'no \u001b[31mroute', since: 60 })
  put('two', 'web-2', { since: 40 })
  expect(await kvup('workloads migrations')).toEqual({
    code: 0,
    err: '',
    out: `NAMESPACE   VM      STATE     FROM       TO       FOR   WHY
demo        web-1   Running   worker-1   <none>   20s   <none>
demo        web-2   Pending   worker-2   <none>   40s   KubeVirt does not say why; its log may; failed once before: no route

1 running (5 at a time, 2 from a node), 1 waiting, 1 failing - in history: 0 succeeded, 1 failed
`,
  })
  const { out } = await kvup('workloads migrations -o wide')
  expect(out).toContain('kubectl -n kubevirt logs -l kubevirt.io=virt-controller --tail=-1 | grep two')
  const narrow = await kvup('workloads migrations', undefined, 60)
  expect(narrow.out.split('\n').every((line) => line.length <= 60)).toBe(true)
  expect(await kvup('workloads migrations -o name')).toMatchObject({
    out: 'virtualmachineinstancemigration.kubevirt.io/one\nvirtualmachineinstancemigration.kubevirt.io/two\n',
  })
})

test('--history: the one that failed last stands there once', async () => {
  const { writer } = sim.cluster()
  const web2 = { namespace: 'demo', name: 'web-2' }
  const outdated = (label: string | null) =>
    writer.mergePatch(VirtualMachineInstances, web2, {
      metadata: { labels: { 'kubevirt.io/outdatedLauncherImage': label } },
    })
  const methods = (workloadUpdateMethods: string[]) =>
    writer.mergePatch(
      KubeVirts,
      { namespace: 'kubevirt', name: 'kubevirt' },
      { spec: { workloadUpdateStrategy: { workloadUpdateMethods } } },
    )
  await clear()
  await outdated('')
  await methods([])
  put('older', 'web-2', { phase: 'Failed', reason: 'first', since: 90 })
  put('last', 'web-2', { phase: 'Failed', reason: 'second', since: 60 })
  const { out } = await kvup('workloads migrations --history')
  await outdated(null)
  await methods(['LiveMigrate'])
  expect(out.match(/^demo .*$/gmu)).toEqual([
    expect.stringMatching(/failed 2 times in a row; KubeVirt does not retry: second$/u),
    expect.stringMatching(/ 90s +first$/u),
  ])
})

test('what contradicts -w is a usage error', async () => {
  expect(await kvup('workloads migrations --from - -w')).toMatchObject({ code: 2 })
  expect(await kvup('workloads migrations --history -w')).toMatchObject({ code: 2 })
})

test('-w tells each change once, from a watch', async () => {
  await clear()
  const time = new SimClock()
  const stop = new AbortController()
  const observed: string[] = []
  const { reader } = sim.cluster()
  const following = watchMigrations({ reader, clock: time, signal: stop.signal }, async (ledger) => {
    observed.push(ledger.open.map(({ name, phase }) => `${name} ${phase}`).join())
  }).catch((error: unknown) => error)
  await time.sleep(2000)
  put('one', 'web-1')
  await time.sleep(5000)
  put('one', 'web-1', { phase: 'Running' })
  await time.sleep(5000)
  put('one', 'web-1', { phase: 'Succeeded' })
  await time.sleep(5000)
  stop.abort(new Error('enough'))
  expect(await following).toMatchObject({ message: 'enough' })
  expect([...new Set(observed)]).toEqual(['', 'one Pending', 'one Running'])
  expect(observed.at(-1)).toBe('')
})
