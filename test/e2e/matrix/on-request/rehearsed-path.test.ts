import { readFile } from 'node:fs/promises'
import path from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { compareVms } from '../../../../src/lib/rehearsal/comparison.ts'
import type { Rehearsal } from '../../../../src/lib/rehearsal/rehearsal.ts'
import type { UpgradeReport } from '../../../../src/lib/upgrade/upgrade-report.ts'
import { clusterOf } from '../../in-process.ts'
import { eventually, expectRolled } from '../../installation.ts'
import { kvup } from '../../kvup.ts'
import { type Lab, operatorManifest, startLab } from '../../lab.ts'
import { runMachines } from '../../machines.ts'

const hour = 3_600_000
const methods = ['LiveMigrate', 'Evict']
const base = path.dirname(path.dirname(operatorManifest('v1.8.4')))
const minors = ['v1.6.0', 'v1.7.0', 'v1.8.4'] as const
const target = [
  '--to',
  'v1.8.4',
  '--via',
  'v1.6.0,v1.7.0',
  '--accept',
  'issue-15373,kubernetes-window,evictions',
  '--stable-for',
  '15s',
]
let lab: Lab

beforeAll(async () => {
  lab = await startLab({ name: 'rehearsed-path', operator: 'v1.5.2', methods })
  // An upgrade path ends at VMs that cannot move: chain-stopped.test.ts.
  await runMachines(lab, [], ['failing', 'stuck'])
})
afterAll(() => lab?.stop())

test(
  'v1.5.2 → v1.8.4 over its minors goes as it was rehearsed on a snapshot: stages, their order, how long they take, VMs',
  async () => {
    const [snapshot, file] = [path.join(lab.dir, 'cluster.ndjson.gz'), path.join(lab.dir, 'rehearsal.json')]
    expect(await kvup(lab, ['snapshot', '--to-file', snapshot])).toMatchObject({ code: 0 })
    const played = await kvup(lab, ['rehearse', ...target, '--from', snapshot, '--to-file', file])
    expect(played).toMatchObject({ code: 0, stdout: expect.stringContaining('goes through') as string })

    const carriedOut = ['upgrade', ...target, '--manifest-base', base, '--rehearsal', file, '--yes']
    const since = new Date()
    const outcome = await kvup(lab, [...carriedOut, '-o', 'json'])
    expect(outcome).toMatchObject({ code: 0 })
    await expectRolled(lab, 'v1.8.4', methods)
    const { rehearsal } = JSON.parse(outcome.stdout) as UpgradeReport
    const { stages = [], sameOrder } = rehearsal ?? {}
    const agreed = stages.filter(({ agrees }) => agrees === true)
    const each = stages.map(({ name, rehearsed = '–', took = '–' }) => `  ${name}: ${rehearsed} s, ${took} s`)
    const score = `rehearsal of v1.5.2 → ${minors.join(' → ')}: ${agreed.length} of ${stages.length} stages as long as rehearsed`
    process.stdout.write(`${[`${score} (rehearsed, took)`, ...each].join('\n')}\n`)
    expect.soft(sameOrder).toBe(true)
    expect.soft(stages.filter(({ agrees }) => agrees === undefined)).toEqual([])
    for (const minor of minors)
      expect.soft(stages.filter(({ name }) => name.startsWith(`${minor}: `)).length).toBeGreaterThan(5)

    const { vms } = JSON.parse(await readFile(file, 'utf8')) as Rehearsal
    const { reader } = await clusterOf(lab)
    await eventually('KubeVirt came to every VM', 180, async () => {
      return (await compareVms(reader, vms, since))?.open === 0
    })
    const compared = await compareVms(reader, vms, since)
    process.stdout.write(`${compared?.agreed} of ${compared?.total} VMs as rehearsed\n`)
    expect(compared).toEqual({ total: 9, agreed: 9, open: 0, items: [] })
  },
  hour,
)
