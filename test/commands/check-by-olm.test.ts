import { afterAll, beforeAll, expect, test } from 'vitest'
import { SimClock } from '../../src/simulator/simulated-clock.ts'
import { okdOlm } from '../../src/simulator/olm/olm-shape.ts'
import { simulate, type SimulatedCluster } from '../../src/simulator/simulated-cluster.ts'
import { runText } from '../lib/run-text.ts'

const clock = new SimClock()
let sim: SimulatedCluster
beforeAll(async () => {
  sim = await simulate({ clock, methods: ['LiveMigrate'], workers: 1, controlPlanes: 1, olm: okdOlm() })
})
afterAll(() => sim.stop())

const kvup = (line: string) => runText(line.split(' '), { cluster: sim.cluster(), clock })

interface Judged {
  to?: string
  method?: string
  items: { findings: { id: string; level: string; summary: string; remedy: string[] }[] }[]
  findings?: { id: string; level: string }[]
}
const read = ({ out }: { out: string }) => JSON.parse(out) as Judged
const found = ({ items }: Judged) => items.flatMap(({ findings }) => findings)
const blockers = (all: readonly { id: string; level: string }[]) =>
  all.filter(({ level }) => level === 'blocker').map(({ id }) => id)

test.each(['1.18.1', 'v1.8.4'])(
  'where HyperConverged owns KubeVirt, check --to %s judges what upgrade would do',
  async (to) => {
    const report = read(await kvup(`check --to ${to} -o json`))
    expect(report).toMatchObject({ to: '1.18.1', method: 'olm' })
    const plan = read(await kvup(`plan --to ${to} -o json`))
    expect(blockers(found(report))).toEqual(blockers(plan.findings ?? []))
    const lines = found(report).flatMap(({ remedy }) => remedy)
    expect(lines.filter((line) => line.includes('patch kubevirt '))).toEqual([])
  },
)

test('a release that OLM does not lead to is refused in the words of upgrade, and all else is checked all the same', async () => {
  const ended = await kvup('check --to 1.18.9 --method olm -o json')
  expect(ended.code).toBe(3)
  const report = read(ended)
  const said = found(report).find(({ id }) => id === 'managed-by-hyperconverged')
  expect(said?.summary).toContain('no HyperConverged 1.18.9 is offered')
  expect(report.items.length).toBeGreaterThan(10)
})

test('by another method the way on is the one that upgrade tells, not a tag of KubeVirt as a release of HyperConverged', async () => {
  const report = read(await kvup('check --to 1.18.1 --method image-tag -o json'))
  const said = found(report).find(({ id }) => id === 'managed-by-hyperconverged')
  expect(said?.remedy).toEqual([
    'upgrade HyperConverged instead, without --method: its release brings KubeVirt',
  ])
})
