// Whole runs of every command, for what they print: more than 3 s of processor time.
import { mkdtempSync, readdirSync, readFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, onTestFinished, test } from 'vitest'
import type { Cluster, Reader } from '../../../src/lib/kube/cluster.ts'
import {
  KubeVirts,
  MigrationPolicies,
  type MigrationPolicy,
  VirtualMachineInstanceMigrations,
  VirtualMachines,
} from '../../../src/lib/kube/kinds/kubevirt-kinds.ts'
import { SimClock } from '../../../src/simulator/simulated-clock.ts'
import { okdOlm } from '../../../src/simulator/olm/olm-shape.ts'
import type { SimulatedCluster, Simulation } from '../../../src/simulator/simulated-cluster.ts'
import { mixedVms } from '../../../src/simulator/vm-shape.ts'
import { systemClock } from '../../../src/lib/kube/clock.ts'
import { ApiError } from '../../../src/lib/kube/errors.ts'
import { example, exampleNames } from '../kubevirt/example.ts'
import { readSchema, validate } from './json-schema.ts'
import { small418 } from '../../scenario/eus/window-stage.ts'
import type { Place } from '../run-text.ts'
import { fleetStage } from '../../commands/fleet/fleet-stage.ts'
import { runKvup } from './run-kvup.ts'
import { settled } from '../settled.ts'

const folder = 'docs/schema'
const files = readdirSync(folder).filter((name) => name.endsWith('.json'))
const schemas = new Map(files.map((name) => [name, readSchema(folder, name)]))
const fileOf = (kind: string) => `${kind.replaceAll(/(?<!^)[A-Z]/gu, '-$&').toLowerCase()}.json`
/** Kinds that were really printed here. */
const printed = new Set<string>()

/** What does not fit its schema. */
function wrongIn(documents: readonly { kind: string }[]): { document: object; wrong: string[] }[] {
  for (const { kind } of documents) printed.add(kind)
  return documents
    .map((document) => ({ document, wrong: validate(document, fileOf(document.kind), schemas) }))
    .filter(({ wrong }) => wrong.length > 0)
}

const running: SimulatedCluster[] = []
afterAll(() => Promise.all(running.map((one) => one.stop())))

async function simulated(simulation: Omit<Simulation, 'clock'>) {
  const clock = new SimClock()
  const sim = await settled({ clock, ...simulation })
  running.push(sim)
  const stdin = sim.operatorManifest('v1.8.4').map((object) => `---\n${JSON.stringify(object)}\n`)
  const place = { cluster: sim.cluster(), clock, stdin: stdin.join('') }
  const kvup = (line: string, terminal: Pick<Place, 'decide'> = {}) =>
    runKvup(line.split(' '), { ...place, ...terminal })
  return { sim, clock, kvup }
}

const methods = ['LiveMigrate']
const offline = { cluster: {} as Cluster, clock: systemClock }

interface Script {
  name: string
  /** Default: there is no cluster. */
  simulation?: Omit<Simulation, 'clock'>
  policies?: MigrationPolicy[]
  /** `sleep`: so many ms before it; `exit`: where that is a question here; `has`: what its documents have, `$any` some text. */
  runs: readonly { run: string; exit?: number; has?: readonly object[]; sleep?: number }[]
}
const scripts = JSON.parse(readFileSync('test/lib/docs/schema-runs.json', 'utf8'), (_, value: unknown) =>
  value === '$any' ? (expect.any(String) as unknown) : value,
) as Script[]

test.each(scripts)('$name', async ({ simulation, policies = [], runs }) => {
  const found = simulation && (await simulated(simulation))
  for (const policy of policies) found?.sim.store.put(MigrationPolicies, policy)
  for (const { run, exit, has, sleep } of runs) {
    if (sleep !== undefined) await found?.clock.sleep(sleep)
    const { code, documents } = await (found?.kvup(run) ?? runKvup(run.split(' '), offline))
    expect({ run, code, wrong: wrongIn(documents) }).toEqual({ run, code: exit ?? code, wrong: [] })
    expect(documents).toMatchObject(has ?? documents)
  }
})

test('demo --serve: where it was, once Ctrl-C has ended it', async () => {
  const ran = await runKvup(['demo', '--serve', '-o', 'json'], { ...offline, signal: AbortSignal.abort() })
  expect({ code: ran.code, wrong: wrongIn(ran.documents) }).toEqual({ code: 0, wrong: [] })
})

test('wait -o ndjson: an event for each look that differs, and last the document of -o json', async () => {
  const { sim, kvup } = await simulated({ version: 'v1.7.4', operator: 'v1.8.4', method: 'image-tag' })
  sim.faults.set({ unpullable: 'virt-handler:v1.8.4' })
  const { namespace, name } = { namespace: 'kubevirt', name: 'kubevirt' }
  const { writer } = sim.cluster()
  await writer.mergePatch(KubeVirts, { namespace, name }, { spec: { imageTag: 'v1.8.4' } })
  const { code, documents } = await kvup('wait --for version=v1.8.4 --stalled-after 1m -o ndjson')
  expect(wrongIn(documents)).toEqual([])
  expect(code).toBe(4)
  const events = documents.slice(0, -1) as unknown as {
    event: string
    verdict: string
    waitingFor?: string
  }[]
  expect(new Set(events.map(({ event }) => event))).toEqual(new Set(['wait-observed']))
  expect(events.map(({ verdict }) => verdict)).toEqual(expect.arrayContaining(['Updating', 'Stalled']))
  expect(events.every(({ waitingFor }) => waitingFor !== undefined)).toBe(true)
  const [alone] = (await kvup('wait --for version=v1.8.4 --stalled-after 1m -o json')).documents
  expect(Object.keys(documents.at(-1) ?? {})).toEqual(Object.keys(alone ?? {}))
})

test('check -o ndjson: a line for each check, and last the document of -o json', async () => {
  const { kvup } = await simulated({ version: 'v1.8.4', vms: 1, methods })
  const { documents } = await kvup('check --to v1.9.0 -o ndjson')
  expect(wrongIn(documents)).toEqual([])
  const checks = documents.slice(0, -1) as unknown as { event: string; check: object }[]
  const last = documents.at(-1) as unknown as { kind: string; items: object[] }
  expect(last.kind).toBe('CheckReport')
  expect(checks.map(({ check }) => check)).toEqual(last.items)
  expect(checks.every(({ event }) => event === 'check-made')).toBe(true)
})

test('snapshot, to stdout and to a file', async () => {
  const { kvup } = await simulated({ version: 'v1.8.4', vms: 1 })
  const file = join(mkdtempSync(join(tmpdir(), 'kvup-')), 'snapshot.ndjson.gz')
  const documents = [
    ...(await kvup('snapshot -o json')).documents,
    ...(await kvup(`snapshot --redact --to-file ${file} -o json`)).documents,
    ...(await kvup(`snapshot --to-file ${file}/no -o json`)).documents,
    ...(await kvup(`status --from ${file} -o json`)).documents,
  ]
  expect(documents.map(({ kind }) => kind)).toEqual(['Snapshot', 'SavedSnapshot', 'SavedSnapshot', 'Status'])
  expect(wrongIn(documents)).toEqual([])
})

test('rehearse: through, over its time, blocked', async () => {
  const shape = { version: 'v1.7.4', operator: 'v1.8.4', method: 'image-tag', vms: mixedVms } as const
  const { kvup } = await simulated({ ...shape, methods: ['LiveMigrate', 'Evict'] })
  const file = join(mkdtempSync(join(tmpdir(), 'kvup-')), 'snapshot.ndjson')
  await kvup(`snapshot --to-file ${file} -o json`)
  const line = `rehearse --to v1.8.4 --from ${file} -o json`
  const ends = [
    await runKvup(line.split(' '), offline),
    await runKvup(`${line} --accept evictions`.split(' '), offline),
    await runKvup(`${line} --accept evictions --timeout 30s`.split(' '), offline),
  ]
  expect(ends.map(({ code }) => code)).toEqual([3, 0, 4])
  expect(wrongIn(ends.flatMap(({ documents }) => documents))).toEqual([])
})

test.each(exampleNames)('status of the cluster %s', async (name) => {
  const { reader, clock } = example(name)
  const { documents } = await runKvup(['status', '-o', 'json'], {
    cluster: { reader } as Cluster,
    clock,
  })
  expect(wrongIn(documents)).toEqual([])
})

test('outdated workloads: held, of a part, with another count, and where KubeVirt may not be read', async () => {
  const { kvup, sim, clock } = await simulated({
    version: 'v1.7.4',
    operator: 'v1.8.4',
    method: 'image-tag',
    vms: mixedVms,
    methods,
  })
  const none = await kvup('workloads outdated -o json')
  await kvup('upgrade --to v1.8.4 --yes --stable-for 1s --leave-paused -o json')
  const { reader, ...rest } = sim.cluster()
  const narrow = new Proxy(reader, {
    get: (all, name) => (name === 'list' ? unreadable(all) : Reflect.get(all, name)?.bind(all)),
  })
  const ran = [
    none,
    await kvup('workloads outdated -o json --exit-code'),
    await kvup('workloads outdated -n demo -o json --node worker-1'),
    await runKvup('workloads outdated -o json'.split(' '), { cluster: { ...rest, reader: narrow }, clock }),
  ]
  expect(ran.map(({ code }) => code)).toEqual([0, 10, 0, 7])
  expect(ran.map(({ documents }) => documents[0])).toMatchObject([
    { items: [] },
    { paused: {}, count: {}, alert: { expected: true } },
    { selection: { namespace: 'demo', node: 'worker-1' } },
    { status: 'partial', unread: [{ what: 'kubevirts' }] },
  ])
  expect(ran.flatMap(({ documents }) => wrongIn(documents))).toEqual([])
})

test('a forecast: of an upgrade, with other methods, of a part, not readable', async () => {
  const { sim, clock } = await simulated({ version: 'v1.7.4', vms: mixedVms, methods })
  const cluster = sim.cluster()
  const kvup = async (line: string) => runKvup(line.split(' '), { cluster, clock })
  const { reader, ...rest } = cluster
  const narrow = new Proxy(reader, {
    get: (all, name) => (name === 'list' ? unreadable(all) : Reflect.get(all, name)?.bind(all)),
  })
  const ran = [
    await kvup('workloads forecast --to v1.8.4 --methods LiveMigrate,Evict -o json'),
    await kvup('workloads forecast -n demo -l kubevirt.io/vm=pet -o json'),
    await runKvup('workloads forecast -o json'.split(' '), { cluster: { ...rest, reader: narrow }, clock }),
  ]
  expect(ran.map(({ code }) => code)).toEqual([0, 0, 7])
  expect(ran.flatMap(({ documents }) => wrongIn(documents))).toEqual([])
})

const unreadable =
  (reader: Reader): Reader['list'] =>
  async (kind, where) => {
    if (kind.plural === 'kubevirts') throw new ApiError(403, 'Forbidden', 'kubevirts is forbidden')
    return reader.list(kind, where)
  }

test('unblock and restore of VMs: rehearsed, done, done before, asked, refused', async () => {
  const disk = { notMigratable: 'DisksNotLiveMigratable' }
  const vms = [
    { name: 'db', ...disk },
    { name: 'job', runStrategy: 'RerunOnFailure', ...disk },
    { name: 'web' },
  ]
  const { sim, kvup } = await simulated({ version: 'v1.8.4', vms, methods })
  const unblock = 'workloads unblock --all --yes -o json'
  const documents = [
    await kvup(`${unblock} --dry-run=server`),
    await kvup(unblock),
    await kvup(`${unblock} --accept data-loss`),
    await kvup('workloads unblock web db -n demo -o json'),
    await kvup('restore-settings --dry-run=client -o json'),
    await kvup('status -o json'),
    await kvup('history -o json'),
  ]
  expect(documents.at(-2)?.documents).toMatchObject([{ overrides: { vms: 2 } }])
  expect(documents.at(-1)?.documents).toMatchObject([
    { vms: [{ name: 'db', kept: ['evictionStrategy was LiveMigrate'] }, { name: 'job' }] },
  ])
  const body = { spec: { template: { spec: { evictionStrategy: 'External' } } } }
  sim.store.patch(VirtualMachines, { name: 'db', namespace: 'demo' }, { type: 'merge', body })
  const asked = await kvup('restore-settings --yes -o json')
  const ran = [...documents, asked, await kvup('restore-settings --keep-current --yes -o json')]
  expect(ran.map(({ code }) => code)).toEqual([0, 3, 0, 0, 0, 0, 0, 3, 0])
  expect(asked.documents).toMatchObject([
    {
      vms: [
        { name: 'job', outcome: 'restored' },
        { name: 'db', outcome: 'asks' },
      ],
      error: {},
    },
  ])
  expect(ran.flatMap((one) => wrongIn(one.documents))).toEqual([])
})

test('migrations: running, waiting, failing, over', async () => {
  const vms = [
    { name: 'failing', migration: 'fail' },
    { name: 'web' },
    { name: 'slow', migration: 'hang' },
  ] as const
  const { sim, kvup, clock } = await simulated({ version: 'v1.8.4', vms, methods })
  for (const { name } of vms)
    await sim.cluster().writer.create(VirtualMachineInstanceMigrations, {
      apiVersion: VirtualMachineInstanceMigrations.apiVersion,
      kind: VirtualMachineInstanceMigrations.kind,
      metadata: { name: `by-hand-${name}`, namespace: 'demo' },
      spec: { vmiName: name },
    })
  const ran = [await kvup('workloads migrations -o json')]
  await clock.sleep(20_000)
  ran.push(
    await kvup('workloads migrations -o json'),
    await kvup('workloads migrations --history -n demo -o json'),
  )
  expect(ran.at(-1)?.documents).toMatchObject([
    { totals: { running: 1, succeeded: 1, failed: 1 }, items: [{ vm: 'slow', state: 'running' }, {}, {}] },
  ])
  expect(ran.flatMap((one) => wrongIn(one.documents))).toEqual([])
})

test('rollout: shown, set, rehearsed, refused, and what waits for a restart', async () => {
  const { sim, clock, kvup } = await simulated({ version: 'v1.8.4', vms: 2, methods })
  const change = (name: string, cpu: object) =>
    sim.cluster().writer.mergePatch(
      VirtualMachines,
      { name, namespace: 'demo' },
      {
        spec: { template: { spec: { domain: { cpu } } } },
      },
    )
  await change('web-1', { cores: 2, sockets: 2 })
  await clock.sleep(60_000)
  const ran = [
    await kvup('workloads live-update show -o json'),
    await kvup('workloads live-update set Stage --dry-run=server -o json'),
    await kvup('workloads live-update set Stage --yes -o json'),
    await kvup('workloads live-update set Stage --yes -o json'),
    await kvup('workloads live-update set Stage --add-gate --yes -o json'),
    await kvup('workloads restart-required -o json'),
    await kvup('workloads restart-required -l , -o json'),
    await kvup('workloads restart --dry-run=client --accept data-loss=test -o json'),
    await kvup('workloads restart --yes -o json'),
    await kvup('workloads restart --yes --accept data-loss=test -o json'),
    await kvup('workloads restart --parallel 0 -o json'),
  ]
  expect(ran.map(({ code }) => code)).toEqual([0, 0, 0, 0, 2, 0, 2, 0, 3, 0, 2])
  expect(ran[5]?.documents).toMatchObject([{ items: [{ name: 'web-1' }] }])
  expect(ran.flatMap((one) => wrongIn(one.documents))).toEqual([])
})

test('an upgrade by OLM: its plan, its report and nothing to do', async () => {
  const { kvup } = await simulated({ olm: okdOlm(), methods, workers: 1, controlPlanes: 1 })
  const upgrade = 'upgrade --to 1.18.1 --method olm --yes --stable-for 1s'
  const plan = await kvup(`${upgrade} --dry-run=client -o json`)
  const stopped = await kvup(`${upgrade} --until approve-1.18.1 -o json`)
  const done = await kvup(`${upgrade} -o json`)
  const none = await kvup(`${upgrade} -o json`)
  const refused = await kvup('upgrade --to 1.17.3 --method olm --yes -o json')
  const all = [plan, stopped, done, none, refused]
  expect(all.map(({ code }) => code)).toEqual([0, 0, 0, 0, 3])
  expect(wrongIn(all.flatMap(({ documents }) => documents))).toEqual([])
  expect(plan.documents).toMatchObject([{ to: 'v1.8.4', operator: { to: '1.18.1', approval: 'Manual' } }])
  expect(done.documents).toMatchObject([{ method: 'olm', operator: { from: '1.17.3', to: '1.18.1' } }])
})

test('what is measured beside an upgrade, and in its history', async () => {
  const { sim, clock, kvup } = await simulated({
    version: 'v1.7.4',
    operator: 'v1.8.4',
    method: 'image-tag',
    vms: 3,
    methods,
  })
  const web = { namespace: 'demo', name: 'web-1' }
  void clock.sleep(20_000).then(() => sim.cluster().writer.delete(VirtualMachines, web))
  const upgraded = await kvup(
    'upgrade --to v1.8.4 --yes --stable-for 1s --measure --measure-namespace nowhere -o json',
  )
  const history = await kvup('history -o json')
  expect([upgraded, history].flatMap(({ documents }) => wrongIn(documents))).toEqual([])
  expect(JSON.stringify(history.documents)).toContain('"availability":')
  for (const part of ['"availability":', '"ended":', '"how":"deleted"'])
    expect(JSON.stringify(upgraded.documents)).toContain(part)
})

test('a stall and a timeout', async () => {
  const { sim, kvup } = await simulated({ version: 'v1.7.4', operator: 'v1.8.4', method: 'image-tag' })
  sim.faults.set({ crashing: 'virt-handler:v1.8.4' })
  const failed = await kvup('upgrade --to v1.8.4 --yes --timeout 5m -o ndjson')
  expect(failed.code).toBe(4)
  expect(failed.documents).toContainEqual(
    expect.objectContaining({ event: 'step-waiting', state: expect.objectContaining({ is: 'stalled' }) }),
  )
  expect(wrongIn([...failed.documents, ...(await kvup('status -o json')).documents])).toEqual([])
})

test('a fleet: looked at, checked and planned; with one that does not answer', async () => {
  const stage = await fleetStage(['prod-0', 'prod-1'], () => ({
    version: 'v1.7.4',
    operator: 'v1.8.4',
    method: 'image-tag',
    vms: 1,
  }))
  onTestFinished(() => stage.stop())
  const fleet = async (line: string) => {
    const { code, stdout } = await stage.run(['fleet', ...line.split(' '), '-o', 'json'])
    return { code, documents: [JSON.parse(stdout) as { kind: string }] }
  }
  const plan = 'plan --contexts prod-* --canary prod-0 --to v1.8.4 --method image-tag --to-folder'
  const ran = [
    await fleet('status --contexts prod-*'),
    await fleet('check --contexts prod-* --to v1.8.4'),
    await fleet(`${plan} ${join(stage.folder, 'plans')}`),
  ]
  await stage.cluster('prod-1').stop()
  const lost = [
    await fleet('status --contexts prod-*'),
    await fleet('check --contexts prod-* --to v1.8.4'),
    await fleet(`${plan} ${join(stage.folder, 'lost')}`),
  ]
  expect(wrongIn([...ran, ...lost].flatMap(({ documents }) => documents))).toEqual([])
  expect(lost.map(({ code }) => code)).toEqual([8, 8, 8])
}, 180_000)

test('every schema was met by something that was printed', async () => {
  const window = await (await simulated(small418)).kvup('eus run --approve --dry-run=client -o json')
  expect({ code: window.code, wrong: wrongIn(window.documents) }).toEqual({ code: 0, wrong: [] })
  const known = await (
    await simulated({ version: 'v1.7.4', operator: 'v1.8.4', method: 'image-tag' })
  ).kvup('upgrade -o json', { decide: () => false })
  expect({ code: known.code, wrong: wrongIn(known.documents) }).toEqual({ code: 0, wrong: [] })
  const met = new Set([...printed].map(fileOf))
  expect(files.filter((file) => file !== 'common.json' && !met.has(file))).toEqual([])
})

test('every schema is in the table of documents', () => {
  const page = readFileSync(`${folder}/README.md`, 'utf8')
  const listed = new Set([...page.matchAll(/\]\(([a-z-]+\.json)\)/gu)].map(([, file]) => file))
  expect(files.filter((file) => file !== 'common.json' && !listed.has(file))).toEqual([])
})

test('the validator bites: a field that is missing, of another type, or that no schema names', () => {
  const good = { apiVersion: 'kvup.io/v1alpha1', kind: 'Version', client: '0.1.0', status: 'complete' }
  expect(validate(good, 'version.json', schemas)).toEqual([])
  expect(validate({ ...good, client: undefined }, 'version.json', schemas)).toContain('.client: is missing')
  expect(validate({ ...good, client: 1 }, 'version.json', schemas)).toEqual(['.client: 1 is no string'])
  expect(validate({ ...good, more: 1 }, 'version.json', schemas)).toEqual(['.more: no schema names it'])
  expect(validate({ ...good, status: 'failed' }, 'version.json', schemas)).toEqual(['.error: is missing'])
})
