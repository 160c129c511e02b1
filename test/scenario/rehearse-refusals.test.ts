import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { systemClock } from '../../src/lib/kube/clock.ts'
import { interrupted } from '../../src/lib/kube/errors.ts'
import type { Cluster } from '../../src/lib/kube/cluster.ts'
import type { KubeObject } from '../../src/lib/kube/object.ts'
import { okdOlm } from '../../src/simulator/olm/olm-shape.ts'
import { scenarioNamed } from '../../src/simulator/scenarios.ts'
import { SimClock } from '../../src/simulator/simulated-clock.ts'
import { simulate, type Simulation } from '../../src/simulator/simulated-cluster.ts'
import { runText } from '../lib/run-text.ts'

const folder = mkdtempSync(join(tmpdir(), 'rehearse-refusals-'))
afterAll(() => rmSync(folder, { recursive: true }))

async function saved(name: string, shape: Omit<Simulation, 'clock'>): Promise<string> {
  const clock = new SimClock()
  const sim = await simulate({ ...shape, clock })
  try {
    await clock.sleep(60_000)
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

/** Nobody asks a cluster for what is read from a file. */
async function refused(from: string, ...flags: readonly string[]) {
  const place = { cluster: {} as Cluster, clock: systemClock }
  const { code, out, err } = await runText(['rehearse', '--from', from, ...flags], place)
  return { code, out, said: `${out}${err}` }
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
    const cut = write('cut.ndjson', objectsIn(plain).slice(0, 50))
    const { code, said } = await refused(cut, '--to', 'v1.9.0')
    expect(code).toBe(2)
    expect(said).toContain('it is truncated: 49 of')
  })

  test.each([
    ['Node', 'nodes'],
    ['VirtualMachine', 'VMs'],
    ['VirtualMachineInstance', 'VMIs'],
  ])('without a %s', async (kind, what) => {
    const [, ...objects] = objectsIn(plain)
    const half = write(
      `without-${kind}.ndjson`,
      objects.filter((object) => object.kind !== kind),
    )
    const { code, said } = await refused(half, '--to', 'v1.9.0')
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
  const place = { cluster: {} as Cluster, clock: systemClock, ...told }
  const running = runText(['rehearse', '--from', plain, '--to', 'v1.9.0'], place)
  user.abort(interrupted('SIGINT'))
  const { code, out, err } = await running
  expect(code).toBe(130)
  expect(`${out}${err}`).toContain(`kvup rehearse --from ${plain} --to v1.9.0`)
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

/** By OLM on a plain cluster, on OKD and on OpenShift, and a HyperConverged that nobody upgrades by OLM. */
const underOperator: Readonly<Record<string, Omit<Simulation, 'clock'>>> = {
  plain: { olm: okdOlm({ installed: '1.17.3', channel: 'stable-v1.17' }) },
  okd: scenarioNamed('okd')?.cluster ?? {},
  openshift: scenarioNamed('ocp-eus')?.cluster ?? {},
  'without-olm': {
    version: 'v1.8.4',
    hyperconverged: { stored: 'v1beta1', served: ['v1beta1'], conversion: 'None' },
  },
}

test.each(Object.keys(underOperator))(
  'what HyperConverged brings is not rehearsed: %s; the line that is offered plans it',
  async (name) => {
    const from = await saved(`under-${name}`, underOperator[name] ?? {})
    for (const to of ['1.18.1', '4.18.13', 'v1.9.0']) {
      const { code, out } = await refused(from, '--to', to, '-o', 'json')
      const { error } = JSON.parse(out) as { error: { reason: string; remedy: string[] } }
      expect({ code, reason: error.reason }).toEqual({ code: 3, reason: 'not-rehearsed' })
      const [line = ''] = error.remedy
      expect(line).toMatch(new RegExp(`^kvup plan --to ${to} --from ${from} `, 'u'))
    }
    const plan = await runText(['plan', '--to', '1.18.1', '--from', from], {
      cluster: {} as Cluster,
      clock: systemClock,
    })
    // Beyond what these have: another line, or nobody who would upgrade it.
    expect(plan).toMatchObject({ code: name === 'openshift' || name === 'without-olm' ? 3 : 0 })
  },
)

test('an OpenShift whose KubeVirt came by its manifest is rehearsed, and the platform named as missing', async () => {
  const { openshift } = scenarioNamed('ocp-eus')?.cluster ?? {}
  const from = await saved('bare', { version: 'v1.4.0', vms: 2, ...(openshift && { openshift }) })
  const { code, said } = await refused(from, '--to', 'v1.5.2')
  expect({ code, said }).toMatchObject({ code: 0, said: expect.stringContaining('The platform: ') as string })
})
