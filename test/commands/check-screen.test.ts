import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { allChecks } from '../../src/lib/checks/check-run.ts'
import type { CheckDocument } from '../../src/lib/output/views/check-report.ts'
import { okdOlm } from '../../src/simulator/olm/olm-shape.ts'
import { SimClock } from '../../src/simulator/simulated-clock.ts'
import { simulate, type SimulatedCluster } from '../../src/simulator/simulated-cluster.ts'
import { checkExample, clusterOf } from '../lib/checks/check-example.ts'
import { runText } from '../lib/run-text.ts'

const clock = new SimClock()
let sim: SimulatedCluster
let okd: SimulatedCluster
beforeAll(async () => {
  sim = await simulate({ clock, version: 'v1.8.4', methods: ['LiveMigrate'], vms: 3 })
  okd = await simulate({
    clock,
    methods: ['LiveMigrate'],
    workers: 1,
    controlPlanes: 1,
    olm: okdOlm({ installed: '1.16.0', channel: 'stable-v1.16' }),
  })
})
afterAll(async () => {
  await sim.stop()
  await okd.stop()
})

const address = { context: 'prod-eu', server: 'https://10.0.0.1:6443' }
const kvup = (line: string, of = sim, columns?: number) =>
  runText(line.split(' '), { cluster: { ...of.cluster(), address }, clock, ...(columns && { columns }) })
const linesOf = ({ out }: { out: string }) => out.trimEnd().split('\n')

describe('what stands on a terminal of 80 columns and 24 lines when kvup check ends', () => {
  test.each(['check', 'check --to v1.9.0'])('%s of a clean cluster has at most 10 lines', async (line) => {
    const clean = { ...clusterOf({}), columns: 80 }
    const ran = await runText(line.split(' '), clean)
    expect(ran.code).toBe(0)
    expect(linesOf(ran).length).toBeLessThanOrEqual(10)
    expect(ran.out).toMatch(/^READY/u)
    expect(linesOf(ran).slice(-2)[0]).toBe('READY')
  })

  test('of one with two blockers at most 24, both of them among these', async () => {
    const one = checkExample('node-ready/failing.json')
    const other = checkExample('control-plane-label/failing.json')
    const both = { ...one, changes: [...(one.changes ?? []), ...(other.changes ?? [])] }
    const ran = await runText(['check', '--to', 'v1.9.0'], { ...clusterOf(both), columns: 80 })
    const lines = linesOf(ran)
    expect(ran.code).toBe(3)
    expect(lines[0]).toMatch(/^NOT READY: 2 blockers/u)
    expect(lines.length).toBeLessThanOrEqual(24)
    expect(lines.filter((text) => text.startsWith(' ✖'))).toHaveLength(2)
    expect(lines.join('\n')).toMatch(/\nNOT READY: .*\([a-z-]+\), and\s+1 more\nNext: kubectl /su)
  })

  test('however much is found, the last lines name the worst', async () => {
    const { out, code } = await kvup('check --to v1.7.4', sim, 80)
    expect(code).toBe(3)
    const [verdict] = /^NOT READY: [^]*$/mu.exec(out.slice(out.lastIndexOf('\nNOT READY')).trimStart()) ?? []
    expect(verdict).toMatch(/\(downgrade\)/u)
    expect(verdict?.trimEnd().split('\n').length).toBeLessThan(6)
  })

  test('the head names cluster, versions and verdict', async () => {
    const { out } = await kvup('check --to v1.9.0')
    expect(out.split('\n')[0]).toMatch(/^READY: .* -> v1\.9\.0 on prod-eu \(https:\/\/10\.0\.0\.1:6443\)$/u)
  })
})

describe('one family of names: what is printed is what --accept and kvup explain take', () => {
  test('every name of a finding on the page', async () => {
    const page = await kvup('check --to v1.7.4 --all')
    const named = [...page.out.matchAll(/^ [x!?] .* \((?<id>[a-z0-9-]+)\)$/gmu)].map(
      ({ groups }) => groups?.['id'] ?? '',
    )
    expect(named.length).toBeGreaterThan(2)
    for (const id of named) {
      expect((await kvup(`explain ${id}`)).code).toBe(0)
      expect((await kvup(`check --to v1.7.4 --accept ${id}`)).code).not.toBe(2)
    }
  })

  test('--accept CHECK-ID that would be without effect is refused with the name of what it found', async () => {
    const line = 'check --to v1.7.4 --accept hop-supported=lab'
    const { code, err } = await kvup(line)
    expect(code).toBe(2)
    expect(err).toContain('hop-supported is a check, and --accept takes what it found: downgrade')
    expect(err).toContain('kvup check --to v1.7.4 --accept downgrade=lab')
  })

  test('plan refuses it as well', async () => {
    const { code, err } = await kvup('plan --to v1.7.4 --method image-tag --accept hop-supported')
    expect([code, err]).toEqual([2, expect.stringContaining('--accept takes what it found: downgrade')])
  })

  test('where the check found nothing it is no mistake', async () => {
    expect((await kvup('check --to v1.9.0 --accept hop-supported')).code).toBe(0)
  })
})

describe('what is not checked is said', () => {
  test('an upgrade by OLM over several minors leaves checks out, and says how many and why', async () => {
    const { out } = await kvup('check --to 1.18.1', okd)
    expect(out).toMatch(
      /^\d+ checks passed.*, \d+ need a target that is one minor of KubeVirt away \(each: --all\)$/mu,
    )
    const json = JSON.parse((await kvup('check --to 1.18.1 -o json', okd)).out) as CheckDocument
    const left = json.items.filter(({ is, why }) => is === 'skipped' && why !== undefined)
    expect(left.map(({ id }) => id)).toEqual(
      allChecks.filter(({ needsTarget, id }) => needsTarget && id !== 'manager').map(({ id }) => id),
    )
  })
})

describe('what to type next', () => {
  test.each([
    ['check', 'Next: kvup check --to v1.9.0 '],
    [
      'check --to v1.9.0 --method operator-manifest --strict --accept defaults-that-shift=tested',
      'Next: kvup upgrade --to v1.9.0 --method operator-manifest --accept defaults-that-shift=tested\n',
    ],
  ])('%s: the line with the flags that were typed', async (line, next) => {
    const ran = await kvup(line)
    expect([ran.code, ran.out]).toEqual([0, expect.stringContaining(next)])
  })

  test('nothing where the target is installed already', async () => {
    expect((await kvup('check --to v1.8.4')).out).not.toContain('Next:')
  })
})
