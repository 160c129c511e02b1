import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { gunzipSync, gzipSync } from 'node:zlib'
import { afterAll, afterEach, describe, expect, test } from 'vitest'
import { stringify } from 'yaml'
import { history } from '../../src/commands/history.ts'
import { readerFor } from '../../src/lib/kubevirt/snapshot.ts'
import { snapshot } from '../../src/commands/snapshot.ts'
import { status } from '../../src/commands/status/status.ts'
import type { Cluster, Reader, Where } from '../../src/lib/kube/cluster.ts'
import type { Kind, KubeObject } from '../../src/lib/kube/object.ts'
import { DataVolumes, KubeVirts, VirtualMachines } from '../../src/lib/kube/kinds/kubevirt-kinds.ts'
import { Deployments } from '../../src/lib/kube/kinds/workload-kinds.ts'
import { Namespaces, Secrets } from '../../src/lib/kube/kinds/core-kinds.ts'
import { takeFullSnapshot } from '../../src/lib/kubevirt/full-snapshot.ts'
import { storeCluster } from '../../src/simulator/api/store-client.ts'
import { SimClock } from '../../src/simulator/simulated-clock.ts'
import type { SimulatedCluster, Simulation } from '../../src/simulator/simulated-cluster.ts'
import { mixedVms } from '../../src/simulator/vm-shape.ts'
import type { Clock } from '../../src/lib/kube/clock.ts'
import { ApiError } from '../../src/lib/kube/errors.ts'
import { example } from '../lib/kubevirt/example.ts'
import { contextOf, fileIn, folder as files, judged, judgedFrom } from './saved.ts'
import { settled } from '../lib/settled.ts'

afterAll(() => rmSync(files, { recursive: true, force: true }))

const running: SimulatedCluster[] = []
afterEach(async () => {
  await Promise.all(running.splice(0).map(async (sim) => sim.stop()))
})

async function simulated(
  shape: Omit<Simulation, 'clock'>,
): Promise<{ cluster: Cluster; clock: SimClock; sim: SimulatedCluster }> {
  const clock = new SimClock()
  const sim = await settled({ clock, workers: 2, controlPlanes: 1, ...shape })
  running.push(sim)
  return { cluster: sim.cluster(), clock, sim }
}

async function saved(cluster: Cluster, clock: Clock, file: string, redact = false) {
  const { cx, recorded } = contextOf(cluster, clock)
  const path = fileIn(file)
  await snapshot(cx, { toFile: path, redact })
  return { path, recorded, text: textOf(path) }
}

function textOf(path: string): string {
  const bytes = readFileSync(path)
  return path.endsWith('.gz') ? gunzipSync(bytes).toString() : bytes.toString()
}

const objectsIn = (text: string) =>
  text
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as KubeObject)

const shapes: Record<string, Omit<Simulation, 'clock'>> = {
  'mixed VMs': { version: 'v1.8.4', vms: mixedVms, methods: ['LiveMigrate'] },
  'an older tag': { version: 'v1.7.0', operator: 'v1.8.4', method: 'image-tag', vms: 4 },
  'images that are pinned': {
    version: 'v1.8.4',
    pinned: { VIRT_API_IMAGE: 'quay.io/kubevirt/virt-api@sha256:1' },
  },
}

describe('judged the same', () => {
  test.each(Object.entries(shapes))('%s', async (name, shape) => {
    const { cluster, clock } = await simulated(shape)
    const live = await judged(cluster, clock)
    const { path } = await saved(cluster, clock, `${name}.ndjson.gz`)
    expect(await judgedFrom(path, clock)).toEqual(live)
  })

  test('in the middle of an update', async () => {
    const { cluster, clock, sim } = await simulated({
      version: 'v1.7.0',
      operator: 'v1.8.4',
      method: 'image-tag',
    })
    sim.faults.set({ unpullable: 'virt-handler:v1.8.4' })
    const ref = { name: 'kubevirt', namespace: 'kubevirt' }
    await cluster.writer.mergePatch(KubeVirts, ref, { spec: { imageTag: 'v1.8.4' } })
    await clock.sleep(200_000)
    const live = await judged(cluster, clock)
    expect(live).toMatchObject({ status: { verdict: 'Stalled' } })
    const { path } = await saved(cluster, clock, 'middle.ndjson')
    expect(await judgedFrom(path, clock)).toEqual(live)
  })

  test('of a user who may not see everything', async () => {
    const { cluster, clock, sim } = await simulated({ version: 'v1.8.4', vms: 2 })
    const narrow = refusing(sim.cluster().reader, ['nodes', 'virtualmachines', 'customresourcedefinitions'])
    const behind = { ...cluster, reader: narrow }
    const live = await judged(behind, clock)
    const { path, recorded } = await saved(behind, clock, 'narrow.ndjson')
    expect(await judgedFrom(path, clock)).toEqual(live)
    expect(recorded.lines.join('\n')).toContain('! not in it: nodes: no')
  })
})

function refusing(reader: Reader, plurals: readonly string[]): Reader {
  const refuse = ({ plural }: Kind): void => {
    if (plurals.includes(plural)) throw new ApiError(403, 'Forbidden', `${plural}: no`)
  }
  return {
    get: async (kind, ref) => (refuse(kind), reader.get(kind, ref)),
    list: async (kind, where) => (refuse(kind), reader.list(kind, where)),
    async *pages<T extends KubeObject>(kind: Kind<T>, where?: Where) {
      refuse(kind)
      yield* reader.pages(kind, where)
    },
    watch: (kind, where, signal) => reader.watch(kind, where, signal),
    versions: async (group) => reader.versions(group),
    version: async () => reader.version(),
    log: async (pod) => reader.log(pod),
  }
}

test('status --from prints the same as live', async () => {
  for (const name of ['healthy', 'wrong-tag', 'operator-without-kubevirt', 'node-not-ready']) {
    const { store, clock } = example(name)
    const cluster = storeCluster(store)
    const live = contextOf(cluster, clock)
    await status(live.cx, {})
    const { path } = await saved(cluster, clock, `${name}.json.gz`)
    const then = contextOf(undefined, new SimClock())
    await status(then.cx, { from: path })
    // What lives is watched where a Lease is old; what was saved stands still.
    const [first = ''] = live.recorded.lines
    const answered = /^the Lease of \S+ has expired: waiting/.test(first)
      ? live.recorded.lines.slice(1)
      : live.recorded.lines
    // What can be reached from here is offered on a cluster that is there.
    const offered = answered
      .filter((line) => !line.startsWith('Next: kvup upgrade --to v1.9.0'))
      .map((line) => line.replace('. Update available: v1.9.0', ''))
    expect(then.recorded.lines).toEqual(offered)
  }
})

test('history --from prints the journal that was saved', async () => {
  const { cluster, clock } = await simulated({ version: 'v1.8.4' })
  const { path } = await saved(cluster, clock, 'history.ndjson')
  const { cx, recorded } = contextOf(undefined, clock)
  await history(cx, { from: path })
  expect(recorded.documents).toMatchObject([{ kind: 'History', items: [], namespace: 'kubevirt' }])
})

describe('redacted', () => {
  const shape: Omit<Simulation, 'clock'> = {
    version: 'v1.8.4',
    registry: 'registry.corp.example:5000/team/kubevirt',
    vms: mixedVms,
    methods: ['LiveMigrate', 'Evict'],
  }

  test('the same is judged, and no private name is in it', async () => {
    const { cluster, clock } = await simulated(shape)
    const live = await judged(cluster, clock)
    const { path, text } = await saved(cluster, clock, 'redacted.ndjson', true)
    const vmObjects = await cluster.reader.list(VirtualMachines)
    const names = new Set(vmObjects.flatMap(({ metadata: { name, namespace = '' } }) => [name, namespace]))
    for (const name of [...names, 'worker-1', 'cp-1', 'corp.example', 'kubernetes-admin'])
      expect(text).not.toMatch(new RegExp(`(?<![A-Za-z0-9-])${name}(?![A-Za-z0-9-])`))
    const outlines = [live, await judgedFrom(path, clock)].map(outline)
    expect(outlines[1]).toEqual(outlines[0])
  })

  test('a VM that is called like a component does not change the judgement', async () => {
    const [first] = mixedVms
    if (!first) throw new Error('no VM')
    const vms = ['virt-api', 'kubevirt', 'patch', 'v1', 'quay.io'].map((name) =>
      Object.assign({}, first, { name }),
    )
    const { cluster, clock } = await simulated({ version: 'v1.8.4', vms })
    const live = await judged(cluster, clock)
    const { path, text } = await saved(cluster, clock, 'tricky.ndjson', true)
    const outlines = [live, await judgedFrom(path, clock)].map(outline)
    expect(outlines[1]).toEqual(outlines[0])
    const vmObjects = objectsIn(text).filter(({ kind }) => kind === 'VirtualMachine')
    expect(vmObjects.map(({ metadata }) => metadata.name).toSorted()).toEqual([
      'vm-1',
      'vm-2',
      'vm-3',
      'vm-4',
      'vm-5',
    ])
  })
})

/** Verdicts, ids, levels and numbers: everything but names. */
function outline(all: object): object {
  const {
    status: observed,
    checks,
    tallies,
  } = JSON.parse(JSON.stringify(all)) as {
    status: { verdict: string; components: { name: string; state: string }[]; why: { kind: string }[] }
    checks: { id: string; is: string; findings: { id: string; level: string; objects?: string[] }[] }[]
    tallies: { items: Record<string, number | { count: number }>[] }
  }
  const counts = Object.entries(tallies.items[0] ?? {}).map(([name, value]) =>
    typeof value === 'object' && 'count' in value
      ? [name, value.count]
      : [name, typeof value === 'number' ? value : 0],
  )
  return {
    verdict: observed.verdict,
    why: observed.why.map(({ kind }) => kind),
    components: observed.components.map(({ name, state }) => [name, state]),
    checks: checks.map(({ id, is, findings }) => [
      id,
      is,
      findings.map((f) => [f.id, f.level, f.objects?.length]),
    ]),
    counts,
  }
}

test('no Secret, no disk, no password is in it', async () => {
  const { cluster, clock } = await simulated({ version: 'v1.8.4', vms: 1 })
  const [vm] = await cluster.reader.list(VirtualMachines)
  if (!vm) throw new Error('no VM')
  const cloudInit = { name: 'init', cloudInitNoCloud: { userData: 'password: hunter2' } }
  await cluster.writer.mergePatch(VirtualMachines, vm.metadata, {
    spec: { template: { spec: { volumes: [cloudInit] } } },
  })
  const { text } = await saved(cluster, clock, 'secrets.ndjson')
  expect((await cluster.reader.list(Secrets)).length).toBeGreaterThan(0)
  expect(objectsIn(text).map(({ kind }) => kind)).not.toContain('Secret')
  expect(text).not.toContain('hunter2')
  expect(text).toContain('cloudInitNoCloud')
  const kinds = objectsIn(text)
    .filter(({ metadata }) => metadata.managedFields)
    .map(({ kind }) => kind)
  expect(kinds).not.toContain('VirtualMachine')
  expect(kinds).not.toContain('Pod')
})

const kubectl = async (...kinds: readonly Kind[]) => {
  const { cluster, clock } = await simulated({ version: 'v1.8.4', vms: 1 })
  const items = (await Promise.all(kinds.map(async (kind) => cluster.reader.list(kind)))).flat()
  return { list: { apiVersion: 'v1', kind: 'List', items }, clock }
}

describe('without an index, as kubectl prints it', () => {
  test.each(['yaml', 'json', 'documents', 'ndjson'] as const)(
    '%s: what is not in it is not known',
    async (form) => {
      const { list, clock } = await kubectl(KubeVirts, Deployments)
      const path = fileIn(`kubectl.${form}`)
      const texts = {
        yaml: () => stringify(list),
        json: () => JSON.stringify(list, undefined, 2),
        documents: () => list.items.map((item) => stringify(item)).join('---\n'),
        ndjson: () => list.items.map((item) => JSON.stringify(item)).join('\n'),
      }
      writeFileSync(path, texts[form]())
      const { cluster } = await readerFor(contextOf(undefined, clock).cx, path)
      const observed = await takeFullSnapshot(cluster, clock)
      const known = Object.entries(observed).filter(([, part]) => part.known === true)
      expect(known.map(([name]) => name).toSorted()).toEqual(['deployments', 'kubevirts', 'operators'])
      expect(observed.daemonsets).toEqual({
        known: false,
        why: expect.stringContaining('does not contain daemonsets.apps'),
      })
      expect(observed.dataJobs).toMatchObject({ known: false })
      expect(observed.serverVersion).toBeUndefined()
    },
  )

  test('a typed list without items says that there are none', async () => {
    const { list, clock } = await kubectl(KubeVirts)
    const path = fileIn('empty-list.yaml')
    writeFileSync(
      path,
      `${stringify(list)}---\n${stringify({ apiVersion: 'v1', kind: 'NamespaceList', items: [] })}`,
    )
    const { cluster } = await readerFor(contextOf(undefined, clock).cx, path)
    expect(await cluster.reader.list(Namespaces)).toEqual([])
    await expect(cluster.reader.list(DataVolumes)).rejects.toMatchObject({ reason: 'not-saved', exitCode: 2 })
  })

  test('its time is the latest that it speaks of', async () => {
    const { list, clock } = await kubectl(KubeVirts)
    const path = fileIn('time.yaml')
    writeFileSync(path, stringify(list))
    const { clock: then } = await readerFor(contextOf(undefined, clock).cx, path)
    const times = [...JSON.stringify(list).matchAll(/"\d{4}-[^"]+Z"/g)]
      .map(([time]) => time.slice(1, -1))
      .toSorted()
    expect(then.now().toISOString().slice(0, 19)).toBe(times.at(-1)?.slice(0, 19))
  })

  test('without a KubeVirt it is refused', async () => {
    const { list, clock } = await kubectl(Deployments)
    const path = fileIn('no-kubevirt.yaml')
    writeFileSync(path, stringify(list))
    await expect(readerFor(contextOf(undefined, clock).cx, path)).rejects.toMatchObject({
      exitCode: 2,
      message: expect.stringContaining('it has no KubeVirt'),
    })
  })
})

test('a folder of files, and what was printed as one document', async () => {
  const { cluster, clock } = await simulated({ version: 'v1.8.4' })
  const live = await judged(cluster, clock)
  const { cx, recorded } = contextOf(cluster, clock)
  await snapshot(cx, {})
  const [document] = recorded.documents
  writeFileSync(fileIn('stdout.yaml'), stringify(document, { aliasDuplicateObjects: false }))
  expect(await judgedFrom(fileIn('stdout.yaml'), clock)).toEqual(live)
  writeFileSync(fileIn('stdout.ndjson'), recorded.lines.join('\n'))
  expect(await judgedFrom(fileIn('stdout.ndjson'), clock)).toEqual(live)
  mkdirSync(fileIn('folder/deep'), { recursive: true })
  writeFileSync(fileIn('folder/readme.txt'), 'no YAML: {')
  writeFileSync(
    fileIn('folder/deep/kv.yaml'),
    stringify({ apiVersion: 'v1', kind: 'List', items: await cluster.reader.list(KubeVirts) }),
  )
  writeFileSync(
    fileIn('folder/apps.json.gz'),
    gzipSync(
      JSON.stringify({ apiVersion: 'v1', kind: 'List', items: await cluster.reader.list(Deployments) }),
    ),
  )
  const folder = await readerFor(contextOf(undefined, clock).cx, fileIn('folder'))
  expect(await folder.cluster.reader.list(Deployments)).toEqual(await cluster.reader.list(Deployments))
})

const attempt = async (name: string, content: string | Uint8Array) => {
  writeFileSync(fileIn(name), content)
  return readerFor(contextOf(undefined, new SimClock()).cx, fileIn(name)).then(
    () => {
      throw new Error('it was read')
    },
    (error: unknown) => error,
  )
}

describe('broken files: exit 2, with file and line', () => {
  test('a snapshot that is cut off, in the middle of a line, between two, and as a gz', async () => {
    const { cluster, clock } = await simulated({ version: 'v1.8.4' })
    const { text } = await saved(cluster, clock, 'whole.ndjson')
    const lines = text.split('\n')
    expect(await attempt('cut.ndjson', text.slice(0, -200))).toMatchObject({
      exitCode: 2,
      message: `${fileIn('cut.ndjson')}:${lines.length - 1}: it is truncated here`,
    })
    const whole = lines.length - 2
    expect(await attempt('short.ndjson', lines.slice(0, 10).join('\n'))).toMatchObject({
      exitCode: 2,
      message: expect.stringContaining(`it is truncated: 9 of ${whole} objects are there`),
    })
    expect(await attempt('one.ndjson', `${lines[0]}\n`)).toMatchObject({
      message: expect.stringContaining(`0 of ${whole}`),
    })
    expect(await attempt('cut.ndjson.gz', gzipSync(text).subarray(0, 2000))).toMatchObject({
      exitCode: 2,
      message: expect.stringContaining(`${fileIn('cut.ndjson.gz')}:1: the gz is truncated`),
    })
  })

  test.each([
    ['empty.yaml', '', /:1: it is empty/],
    ['bad.yaml', 'apiVersion: v1\nkind: List\nitems:\n- a: [1\nb: 2\n', /bad\.yaml:[45]: it is no YAML/],
    ['bad.json', '{\n "kind": "List",\n "items": [,]\n}', /bad\.json:3: it is no JSON/],
    ['cut.json', '{\n "kind": "List",\n "items": [', /cut\.json:3: it is truncated here/],
    ['text.yaml', 'hello', /text\.yaml:1: there is no Kubernetes object/],
    ['bare.yaml', '---\na: 1\n', /bare\.yaml:\d: an object lacks apiVersion/],
    ['binary', 'a\0b', /:1: it is a binary file/],
  ])('%s', async (name, content, message) => {
    expect(await attempt(name, content)).toMatchObject({
      exitCode: 2,
      message: expect.stringMatching(message),
    })
  })

  test('two snapshots, and none', async () => {
    const { cluster, clock } = await simulated({ version: 'v1.8.4' })
    const { text } = await saved(cluster, clock, 'twice.ndjson')
    mkdirSync(fileIn('two'), { recursive: true })
    mkdirSync(fileIn('none'), { recursive: true })
    writeFileSync(fileIn('two/a.ndjson'), text)
    writeFileSync(fileIn('two/b.ndjson'), text)
    const { cx } = contextOf(undefined, clock)
    await expect(readerFor(cx, fileIn('two'))).rejects.toThrow('it has 2 snapshots')
    await expect(readerFor(cx, fileIn('none'))).rejects.toThrow('the folder has no .yaml')
    await expect(readerFor(cx, fileIn('nowhere'))).rejects.toMatchObject({
      exitCode: 2,
      message: expect.stringContaining('the file or folder does not exist'),
    })
  })
})

test('nothing can be changed in it', async () => {
  const { cluster, clock } = await simulated({ version: 'v1.8.4' })
  const { path } = await saved(cluster, clock, 'still.ndjson')
  const { cluster: still } = await readerFor(contextOf(undefined, clock).cx, path)
  const ref = { name: 'kubevirt', namespace: 'kubevirt' }
  await expect(still.writer.mergePatch(KubeVirts, ref, { spec: { imageTag: 'x' } })).rejects.toMatchObject({
    exitCode: 2,
  })
})
