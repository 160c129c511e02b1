import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { systemClock } from '../../src/lib/kube/clock.ts'
import { interrupted } from '../../src/lib/kube/errors.ts'
import type { Cluster } from '../../src/lib/kube/cluster.ts'
import { ClusterVersions } from '../../src/lib/kube/kinds/openshift-kinds.ts'
import type { KubeObject } from '../../src/lib/kube/object.ts'
import { servedCatalog } from '../../src/simulator/olm/catalog-content.ts'
import { ocpOlm } from '../../src/simulator/olm/olm-shape.ts'
import { servedGraph } from '../../src/simulator/openshift/cluster-updates.ts'
import { ocp418to420 } from '../../src/simulator/openshift/openshift-shape.ts'
import { scenarioNamed } from '../../src/simulator/scenarios.ts'
import { SimClock } from '../../src/simulator/simulated-clock.ts'
import { simulate, type SimulatedCluster, type Simulation } from '../../src/simulator/simulated-cluster.ts'
import { runText } from '../lib/run-text.ts'

const folder = mkdtempSync(join(tmpdir(), 'rehearse-refusals-'))
afterAll(() => rmSync(folder, { recursive: true }))

async function saved(
  name: string,
  shape: Omit<Simulation, 'clock'>,
  before?: (sim: SimulatedCluster, clock: SimClock) => Promise<void>,
): Promise<string> {
  const clock = new SimClock()
  const sim = await simulate({ ...shape, clock })
  try {
    await clock.sleep(60_000)
    await before?.(sim, clock)
    const file = join(folder, `${name}.ndjson`)
    await runText(['snapshot', '--to-file', file], { cluster: sim.cluster(), clock })
    return file
  } finally {
    await sim.stop()
  }
}

const objectsIn = (file: string): KubeObject[] =>
  readFileSync(file, 'utf8')
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as KubeObject)

function write(name: string, objects: readonly object[]): string {
  const file = join(folder, name)
  mkdirSync(dirname(file), { recursive: true })
  writeFileSync(file, `${objects.map((object) => JSON.stringify(object)).join('\n')}\n`)
  return file
}

const files = {
  'graph.json': servedGraph(ocp418to420),
  'catalog.yaml': servedCatalog(ocpOlm(), undefined),
}

/** Nobody asks a cluster for what is read from a file. */
async function refused(from: string, ...flags: readonly string[]) {
  const place = { cluster: {} as Cluster, clock: systemClock, files }
  const { code, out, err } = await runText(['rehearse', '--from', from, ...flags], place)
  return { code, said: `${out}${err}` }
}

let platform: string
let plain: string
let other: string
beforeAll(async () => {
  platform = await saved('platform', scenarioNamed('ocp-eus')?.cluster ?? {})
  plain = await saved('plain', { version: 'v1.8.4', vms: 2 })
  other = await saved('other', { version: 'v1.8.4', vms: 2, workers: 2 })
})

describe('a snapshot of half a cluster names what it lacks', () => {
  test('one that was cut off', async () => {
    const cut = write('cut.ndjson', objectsIn(platform).slice(0, 50))
    const { code, said } = await refused(cut, '--to', '4.18.13')
    expect(code).toBe(2)
    expect(said).toContain('it is truncated: 49 of')
  })

  test.each([
    ['Node', 'nodes'],
    ['MachineConfigPool', 'MachineConfigPools'],
    ['ClusterVersion', 'the ClusterVersion'],
    ['ClusterOperator', 'ClusterOperators'],
    ['Subscription', 'Subscriptions'],
    ['ClusterServiceVersion', 'ClusterServiceVersions'],
    ['HyperConverged', 'HyperConverged'],
    ['VirtualMachine', 'VMs'],
    ['VirtualMachineInstance', 'VMIs'],
    ['PackageManifest', 'the catalog'],
  ])('without a %s', async (kind, what) => {
    const [, ...objects] = objectsIn(platform)
    const half = write(
      `without-${kind}.ndjson`,
      objects.filter((object) => object.kind !== kind),
    )
    const { code, said } = await refused(half, '--to', '4.18.13')
    expect(said).toContain(`kvup cannot rehearse without ${what}`)
    expect(said).toContain('kvup snapshot --to-file')
    expect(code).toBe(2)
  })
})

describe('a snapshot of another kvup', () => {
  test('another version alone is no reason to refuse it', async () => {
    const [index, ...objects] = objectsIn(plain)
    const older = write('older.ndjson', [{ ...index, takenBy: 'kvup/0.0.1' }, ...objects])
    expect((await refused(older, '--to', 'v1.9.0')).code).toBe(0)
  })

  test('another format is named', async () => {
    const [index, ...objects] = objectsIn(plain)
    const later = write('later.ndjson', [{ ...index, apiVersion: 'kvup.io/v2' }, ...objects])
    const { code, said } = await refused(later, '--to', 'v1.9.0')
    expect({ code, isNamed: said.includes('its format is kvup.io/v2') }).toEqual({ code: 2, isNamed: true })
  })

  test('an index without a part that this kvup needs', async () => {
    const [index, ...objects] = objectsIn(plain)
    const { unread: _, ...rest } = index as KubeObject & { unread?: unknown }
    const older = write('part.ndjson', [{ ...rest, takenBy: 'kvup/0.0.1' }, ...objects])
    const { code, said } = await refused(older, '--to', 'v1.9.0')
    expect(code).toBe(2)
    expect(said).toContain('its index lacks unread, which this kvup needs: kvup/0.0.1 wrote it')
  })
})

function indexed(takenAt: string): string {
  const [index, ...objects] = objectsIn(plain)
  return write('when.ndjson', [{ ...index, takenAt }, ...objects])
}

async function triedIn(file: string): Promise<unknown> {
  const { said } = await refused(file, '--to', 'v1.9.0', '-o', 'json')
  return (JSON.parse(said) as { vms: unknown }).vms
}

describe('when it was taken', () => {
  test('at no time', async () => {
    const { code, said } = await refused(indexed('yesterday'), '--to', 'v1.9.0')
    expect({ code, isNamed: said.includes('does not say when it was taken') }).toEqual({
      code: 2,
      isNamed: true,
    })
  })

  test('before what is in it was made: what KubeVirt does with the VMs is the same', async () => {
    expect(await triedIn(indexed('1970-01-01T00:00:00Z'))).toEqual(await triedIn(plain))
  })
})

test('who interrupts a rehearsal is told the line that plays it, and none that changes the cluster', async () => {
  const user = new AbortController()
  const told = { columns: 100, signal: user.signal }
  const place = { cluster: {} as Cluster, clock: systemClock, files, ...told }
  const running = runText(['rehearse', '--from', plain, '--to', 'v1.9.0', '--faults', 'all'], place)
  setTimeout(() => user.abort(interrupted('SIGINT')), 2000)
  const { code, out, err } = await running
  expect(code).toBe(130)
  expect(`${out}${err}`).toContain(`kvup rehearse --from ${plain} --to v1.9.0 --faults all`)
  expect(`${out}${err}`).not.toContain('kvup upgrade')
})

describe('files of two clusters in one', () => {
  test('two snapshots in a file', async () => {
    const both = write('both.ndjson', [...objectsIn(plain), ...objectsIn(other)])
    const { code, said } = await refused(both, '--to', 'v1.9.0')
    expect({ code, isNamed: said.includes('it has 2 snapshots') }).toEqual({ code: 2, isNamed: true })
  })

  test('what kubectl printed of two clusters in a file', async () => {
    const both = write('printed.ndjson', [...objectsIn(plain).slice(1), ...objectsIn(other).slice(1)])
    const { code, said } = await refused(both, '--to', 'v1.9.0')
    expect({ code, isNamed: said.includes('it contains two clusters') }).toEqual({ code: 2, isNamed: true })
  })

  test('two snapshots in a folder', async () => {
    write('folder/a.ndjson', objectsIn(plain))
    write('folder/b.ndjson', objectsIn(other))
    const { code, said } = await refused(join(folder, 'folder'), '--to', 'v1.9.0')
    expect({ code, isNamed: said.includes('more than one moment') }).toEqual({ code: 2, isNamed: true })
  })

  test('nodes of another cluster beside its own', async () => {
    const strange = objectsIn(plain).filter(({ kind }) => kind === 'Node')
    for (const { metadata } of strange) metadata.uid = `other-${metadata.uid}`
    const both = write('nodes.ndjson', [...objectsIn(plain).slice(1), ...strange])
    const { code, said } = await refused(both, '--to', 'v1.9.0')
    expect({ code, isNamed: said.includes('is there with two uids') }).toEqual({ code: 2, isNamed: true })
  })

  test('a cluster with HyperConverged beside one without', async () => {
    const both = write('mixed.ndjson', [...objectsIn(plain).slice(1), ...objectsIn(platform).slice(1)])
    const { code, said } = await refused(both, '--to', 'v1.9.0')
    expect({ code, isNamed: said.includes('it contains two clusters') }).toEqual({ code: 2, isNamed: true })
  })
})

describe('what does not fit the cluster, or one another', () => {
  test.each([
    [['--eus', '--to', 'v1.9.0'], 2, 'is no minor of OKD or OpenShift'],
    [
      ['--eus', '--to', '4.20', '--method', 'image-tag'],
      2,
      '--eus and --method image-tag exclude each other',
    ],
    [['--eus', '--to', '4.20', '--via', 'v1.8.4'], 2, '--eus and --via exclude each other'],
    [
      ['--to', '4.18.13', '--graph-file', 'graph.json'],
      2,
      '--graph-file is for a rehearsal of an EUS upgrade',
    ],
    [['--to', '4.18.13', '--approval', 'Manual'], 2, '--approval is for a rehearsal of an EUS upgrade'],
    [['--to', '4.18.13', '--fault', 'meteor'], 2, 'there is no fault "meteor"'],
    [
      ['--eus', '--to', '4.20', '--graph-file', 'nowhere.json'],
      2,
      'cannot read the update graph nowhere.json',
    ],
    [['--eus', '--to', '4.33'], 3, 'kvup knows no upgrade from 4.18 to 4.33'],
    [['--eus', '--to', '4.16'], 3, 'kvup knows no upgrade from 4.18 to 4.16'],
    [['--eus'], 3, 'a rehearsal to 4.20 needs the graph of the update service'],
    [['--eus', '--graph-file', 'graph.json'], 3, 'the cluster does not show the catalog of 4.20'],
    [['--eus', '--to', '4.22', '--graph-file', 'graph.json'], 3, 'graph.json has no release of 4.22'],
    [['--to', '4.30.1'], 3, 'update the platform first'],
  ] as const)('%j', async (flags, expected, sentence) => {
    const { code, said } = await refused(platform, ...flags)
    expect(said).toContain(sentence)
    expect(code).toBe(expected)
  })

  test('a graph of another channel is kept, and the line names the other one once', async () => {
    const { said } = await refused(platform, '--eus', '--to', '4.22', '--graph-file', 'graph.json')
    expect(said).toContain('curl -fo graph-4.22.json ')
    expect(said).toContain('kvup rehearse --eus --to 4.22 --graph-file graph-4.22.json ')
  })

  test('an EUS upgrade of a plain cluster', async () => {
    const { code, said } = await refused(plain, '--eus')
    expect({ code, isNamed: said.includes('not OKD or OpenShift') }).toEqual({ code: 3, isNamed: true })
  })

  test('what the cluster has already', async () => {
    const { code, said } = await refused(platform, '--to', '4.18.13', '--faults', 'all')
    expect(code).toBe(0)
    expect(said).toContain('there is nothing to do')
  })
})

test('a platform that is being updated is not played', async () => {
  const shape = scenarioNamed('ocp-eus')?.cluster ?? {}
  const file = await saved('updating', shape, async (sim, clock) => {
    const { writer } = sim.cluster()
    const desiredUpdate = { version: '4.18.24' }
    await writer.mergePatch(ClusterVersions, { name: 'version' }, { spec: { desiredUpdate } })
    await clock.sleep(5 * 60_000)
  })
  const { code, said } = await refused(file, '--to', '4.18.13')
  expect({ code, isNamed: said.includes('the platform is being updated') }).toEqual({
    code: 3,
    isNamed: true,
  })
})
