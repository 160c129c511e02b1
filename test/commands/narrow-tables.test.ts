import { beforeAll, expect, test } from 'vitest'
import { KubeVirts } from '../../src/lib/kube/kinds/kubevirt-kinds.ts'
import { SimClock } from '../../src/simulator/simulated-clock.ts'
import { simulate, type SimulatedCluster } from '../../src/simulator/simulated-cluster.ts'
import { mixedVms } from '../../src/simulator/vm-shape.ts'
import { runText } from '../lib/run-text.ts'

/** Where an upgrade has just ended and no update methods are set: every VM is outdated, and none may be migrated or evicted. */
let sim: SimulatedCluster
beforeAll(async () => {
  const clock = new SimClock()
  sim = await simulate({
    clock,
    version: 'v1.7.4',
    operator: 'v1.8.4',
    method: 'image-tag',
    vms: mixedVms,
  })
  const kubevirt = { name: 'kubevirt', namespace: 'kubevirt' }
  await sim.cluster().writer.mergePatch(KubeVirts, kubevirt, { spec: { imageTag: 'v1.8.4' } })
  await clock.sleep(400_000)
  await sim.stop()
})

async function shown(line: string, columns: number): Promise<string> {
  const clock = new SimClock('2026-01-03T00:00:00Z')
  return (await runText(line.split(' '), { cluster: sim.cluster(), clock, columns })).out
}
const inOneLine = (text: string) => text.replaceAll(/\s+/gu, ' ')

const disk = 'not migratable: a disk is not shared (DisksNotLiveMigratable)'
const outdated = { line: 'workloads outdated', why: disk }
const forecast = {
  line: 'workloads forecast --methods LiveMigrate,Evict',
  why: `${disk}; Evict is on; runStrategy Always restarts it; loses data on containerDisk root`,
}
const widths = [120, 100, 80, 60, 40]

test.each(
  [outdated, forecast].flatMap((one) => widths.map((columns) => [one.line, columns, one.why] as const)),
)('%s, %i columns: names and reasons are there whole', async (line, columns, why) => {
  const text = await shown(line, columns)
  for (const { name } of mixedVms) expect(text).toMatch(new RegExp(`^demo {8}${name} {2,}worker-\\d`, 'mu'))
  expect(inOneLine(text)).toContain(why)
  expect(text).not.toContain('…')
})

test.each([120, 100, 80])('-o wide, %i columns: what helps can be pasted', async (columns) => {
  const lines = (await shown('workloads outdated -o wide', columns)).split('\n')
  expect(lines.join('\n')).toMatch(/^ {2}→ virtctl restart pet -n demo(?: {3,}|\n +# )restarts the guest; /mu)
})
