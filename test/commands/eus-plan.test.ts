import { afterAll, beforeAll, expect, test } from 'vitest'
import { parse, stringify } from 'yaml'
import type { Cluster } from '../../src/lib/kube/cluster.ts'
import {
  ClusterRoleBindings,
  ClusterRoles,
  RoleBindings,
  Roles,
} from '../../src/lib/kube/kinds/extension-kinds.ts'
import { MachineConfigPools } from '../../src/lib/kube/kinds/openshift-kinds.ts'
import { readEusCluster } from '../../src/lib/eus/plan/eus-snapshot.ts'
import { driftLines, driftOf, readSealed } from '../../src/lib/engine/sealed-plan.ts'
import { reliedOnByEus } from '../../src/lib/eus/sealed-window.ts'
import { isWrite } from '../../src/simulator/api/api-request.ts'
import { SimClock } from '../../src/simulator/simulated-clock.ts'
import { servedCatalog } from '../../src/simulator/olm/catalog-content.ts'
import { ocpOlm } from '../../src/simulator/olm/olm-shape.ts'
import { ocp418to420 } from '../../src/simulator/openshift/openshift-shape.ts'
import { simulate, type SimulatedCluster } from '../../src/simulator/simulated-cluster.ts'
import { rolesFor } from '../../src/lib/upgrade/roles.ts'
import { fileIn } from './saved.ts'
import { runText } from '../lib/run-text.ts'

const clock = new SimClock()
let sim: SimulatedCluster
beforeAll(async () => {
  sim = await simulate({ clock, vms: 2, methods: ['LiveMigrate'], openshift: ocp418to420, olm: ocpOlm() })
})
afterAll(() => sim.stop())

const graph = JSON.stringify({
  nodes: ocp418to420.graph.map(({ version, image }) => ({ version, payload: image })),
  edges: ocp418to420.graph.flatMap(({ to }, from) =>
    to.map((version) => [from, ocp418to420.graph.findIndex((release) => release.version === version)]),
  ),
})

const catalog = servedCatalog(ocpOlm(), '4.20')
/** What the cluster does not show. */
const files = '--graph-file graph.json --catalog-file catalog.yaml'

const kvup = (line: string, cluster: Cluster = sim.cluster()) =>
  runText(line.split(' '), { cluster, clock, files: { 'graph.json': graph, 'catalog.yaml': catalog } })

interface Plan {
  hops: { minor: string; platform: { version?: string }; operators: { version?: string }[] }[]
  steps: { id: string }[]
  unknown: string[]
  seal?: { cluster: string }
  next: string[]
}
const read = ({ out }: { out: string }) => parse(out) as Plan
const versions = ({ hops }: Plan) => hops.map(({ platform }) => platform.version)

test('writes nothing, asks for no dry run, and says the same in every format', async () => {
  const before = sim.store.audit.length
  const [json, yaml, names, page] = [
    await kvup(`eus plan ${files} -o json`),
    await kvup(`eus plan ${files} -o yaml`),
    await kvup(`eus plan ${files} -o name`),
    await kvup(`eus plan ${files} -o markdown`),
  ]
  const ours = sim.store.audit.slice(before).filter(({ user }) => user === 'kubernetes-admin')
  expect(ours.filter((call) => isWrite(call) || call.dryRun)).toEqual([])
  expect([json, yaml, names, page].map(({ code, err }) => ({ code, err }))).toEqual(
    Array.from({ length: 4 }, () => ({ code: 0, err: '' })),
  )
  expect(read(yaml).hops).toEqual(read(json).hops)
  const ids = read(json).steps.map(({ id }) => id)
  expect(names.out.trim().split('\n')).toEqual(ids.map((id) => `step/${id}`))
  expect(ids).toEqual([...new Set(ids)])
  expect(page.out).toContain('## Upgrade path')
})

test('the newest release of the minor in between leads nowhere: only the graph tells it', async () => {
  expect(versions(read(await kvup('eus plan -o json')))[1]).toBeUndefined()
  const plan = read(await kvup(`eus plan ${files} -o json`))
  expect(versions(plan)).toEqual(['4.19.14', '4.20.5'])
  expect(plan.next[0]).toMatch(/^kvup eus run --graph-file graph\.json --catalog-file catalog\.yaml/u)
  expect(plan.hops.map(({ operators }) => operators.map(({ version }) => version))).toEqual([
    ['4.19.5', '4.19.8'],
    ['4.20.1'],
  ])
})

test('rights for reading are enough: the plan is the same with the role kvup-view', async () => {
  const viewer = await mayView()
  const [mine, theirs] = [
    await kvup(`eus plan ${files} -o json`),
    await kvup(`eus plan ${files} -o json`, viewer),
  ]
  expect(theirs.code).toBe(0)
  const [one, other] = [read(mine), read(theirs)]
  expect({ hops: other.hops, unknown: other.unknown }).toEqual({ hops: one.hops, unknown: one.unknown })
})

/** Somebody with the role that `kvup rbac kvup-view` prints, and no more. */
async function mayView(): Promise<Cluster> {
  const { writer } = sim.cluster()
  const namespace = 'openshift-cnv'
  const [everywhere, here] = rolesFor('kvup-view', namespace)
  const subjects = [{ kind: 'User', name: 'viewer', apiGroup: 'rbac.authorization.k8s.io' }]
  const bound = (kind: string, name: string) => ({
    metadata: { name, ...(kind === 'Role' && { namespace }) },
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind, name },
    subjects,
  })
  await writer.create(ClusterRoles, everywhere)
  await writer.create(Roles, here)
  const { apiVersion } = ClusterRoleBindings
  await writer.create(ClusterRoleBindings, {
    apiVersion,
    kind: 'ClusterRoleBinding',
    ...bound('ClusterRole', 'kvup-view'),
  })
  await writer.create(RoleBindings, { apiVersion, kind: 'RoleBinding', ...bound('Role', 'kvup-view') })
  return sim.cluster({ user: 'viewer' })
}

test('is sealed: what was edited is refused, what moved is named, what only ran is not', async () => {
  const { out } = await kvup(`eus plan ${files} -o yaml`)
  const sealed = readSealed(out, 'plan.yaml', 'EusPlan')
  expect(sealed.request).toEqual({ to: '4.20', graphFile: 'graph.json', catalogFile: 'catalog.yaml' })
  const edited = stringify({ ...(parse(out) as object), to: '4.22' })
  expect(() => readSealed(edited, 'plan.yaml', 'EusPlan')).toThrow(
    expect.objectContaining({ reason: 'plan-edited' }),
  )
  expect(() => readSealed(out, 'plan.yaml', 'UpgradePlan')).toThrow(
    expect.objectContaining({ reason: 'not-a-plan' }),
  )
  const drift = async () => driftLines(driftOf(sealed.seal.facts, await reliedNow(), () => false))
  expect(await drift()).toEqual([])
  await sim.cluster().writer.mergePatch(MachineConfigPools, { name: 'worker' }, { spec: { paused: true } })
  expect(await drift()).toEqual(['worker.paused of machineconfigpools was false, is true'])
  await sim.cluster().writer.mergePatch(MachineConfigPools, { name: 'worker' }, { spec: { paused: false } })
  await clock.sleep(10 * 60_000)
})

const reliedNow = async () => reliedOnByEus(await readEusCluster(sim.cluster(), clock))

test('exit codes: something to do, a graph that cannot be read, and what is no minor', async () => {
  expect((await kvup(`eus plan ${files} --exit-code`)).code).toBe(10)
  expect((await kvup('eus plan --exit-code')).code).toBe(3)
  expect((await kvup('eus plan --catalog-file nowhere.yaml')).code).toBe(2)
  const unread = await kvup('eus plan --graph-file nowhere.json')
  expect(unread.code).toBe(2)
  expect(unread.err).toContain('cannot read the update graph nowhere.json')
  const release = await kvup('eus plan --to 4.20.5')
  expect(release.code).toBe(2)
  expect(release.err).toContain('name the minor: 4.20')
})

const isAboutAlerts = (line: string) => line.startsWith('which alerts are firing: ')

test('from a snapshot the plan is the same', async () => {
  const file = fileIn('eus.ndjson.gz')
  expect((await kvup(`snapshot --to-file ${file}`)).code).toBe(0)
  const [live, saved] = [
    await kvup(`eus plan ${files} -o json`),
    await kvup(`eus plan ${files} --from ${file} -o json`, {} as Cluster),
  ]
  expect(saved.err).toBe('')
  const [one, other] = [read(live), read(saved)]
  const rest = (lines: readonly string[]) => lines.filter((line) => !isAboutAlerts(line))
  expect(rest(other.unknown)).toEqual(rest(one.unknown))
  // Who fires now is nothing that is kept: a live platform refuses, a file cannot be asked.
  expect(one.unknown.filter(isAboutAlerts)).toEqual([expect.stringContaining('answers 401')])
  expect(other.unknown.filter(isAboutAlerts)).toEqual([
    'which alerts are firing: a saved cluster does not contain alerts',
  ])
  expect(other.hops).toEqual(one.hops)
})
