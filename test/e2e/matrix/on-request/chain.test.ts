import path from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { expectRolled } from '../../installation.ts'
import { kvup, startKvup } from '../../kvup.ts'
import { type Lab, operatorManifest, type Release, startLab } from '../../lab.ts'
import { instances, runMachines } from '../../machines.ts'
import { momentsFrom, seed } from '../pair.ts'

const hour = 3_600_000
const methods = ['LiveMigrate', 'Evict']
const hops: readonly Release[] = ['v1.5.2', 'v1.6.0', 'v1.7.0']
const base = path.dirname(path.dirname(operatorManifest('v1.8.4')))
const upgrade = [
  'upgrade',
  '--to',
  'v1.8.4',
  '--manifest-base',
  base,
  '--via',
  hops.join(','),
  '--accept',
  'issue-15373,kubernetes-window,evictions',
  '--yes',
  '--stable-for',
  '15s',
]
/** None of them has anything against moving; `pet` restarts and `once` stops when it is evicted, which their specs ask for. */
const moving = ['web-1', 'web-2', 'web-3', 'web-4', 'web-5', 'web-6', 'slow'].map((name) => `demo/${name}`)
let lab: Lab

beforeAll(async () => {
  lab = await startLab({ name: 'chain', operator: 'v1.4.0', methods })
  await runMachines(lab, [], ['failing', 'stuck'])
})
afterAll(() => lab?.stop())

const uids = async () => {
  const now = await instances(lab)
  return Object.fromEntries(moving.map((key) => [key, now.get(key)?.uid]))
}

/** Killed there, and begun on another machine until it gets the lock of the dead one. */
async function killedAfter(seconds: number, host: string): Promise<number> {
  const run = startKvup(lab, upgrade, { host })
  const timer = setTimeout(() => run.signal('SIGKILL'), seconds * 1000)
  const { code } = await run.ended
  clearTimeout(timer)
  return code
}

test(
  `one command takes v1.4.0 over four releases to v1.8.4, killed three times and resumed elsewhere (KVUP_E2E_SEED=${seed})`,
  async () => {
    const before = await uids()
    expect(Object.values(before)).not.toContain(undefined)
    const codes: number[] = []
    for (const [index, seconds] of momentsFrom(seed, 3, { least: 30, most: 180 }).entries())
      codes.push(await killedAfter(seconds, `laptop-${index}`))
    expect(codes).toEqual([137, 137, 137])
    const outcome = await kvup(lab, upgrade, { host: 'the-last' })
    expect(outcome).toMatchObject({ code: 0 })
    await expectRolled(lab, 'v1.8.4', methods)
    expect(await uids()).toEqual(before)
  },
  2 * hour,
)
