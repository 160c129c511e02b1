import { appendFile } from 'node:fs/promises'
import path from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { doubtIds } from '../../../src/lib/kubevirt/rollout-status.ts'
import type { UpgradeReport } from '../../../src/lib/upgrade/upgrade-report.ts'
import { expectRolled, nothingToDo, runAgain } from '../installation.ts'
import { killedOverAndOver } from '../killed.ts'
import { kvup, type Outcome } from '../kvup.ts'
import { type Lab, operatorManifest, type Release, startLab } from '../lab.ts'
import { type SeenOutside, type Watcher, watchFromOutside } from '../outside-watcher.ts'

export interface Pair {
  from: Release
  to: Release
  /** `image-tag`: under the operator of `to`, which has to be the newer one. */
  by: 'operator-manifest' | 'image-tag'
  workers?: number
  /** Known issues of these releases, by their id. */
  accept?: readonly string[]
  /** How often it is killed, at moments that are made from a seed. */
  kills?: number
}

const methods = ['LiveMigrate'] as const
const settleSeconds = 15
/** How late kvup may be behind KubeVirt besides `--stable-for`, and how much later where it names a doubt that it waited for. */
const reactionSeconds = 5
const doubtSeconds = 120

/** Of whatever is random in a run; another one each time, unless it is given. */
export const seed = Number(process.env['KVUP_E2E_SEED'] ?? Date.now() % 1_000_000)

/** The command line of a pair. */
export const upgradeOf = ({ to, by, accept = [] }: Pair): readonly string[] => [
  'upgrade',
  '--to',
  to,
  '--yes',
  '--stable-for',
  `${settleSeconds}s`,
  ...(by === 'operator-manifest' ? ['--manifest', operatorManifest(to)] : []),
  ...accept.flatMap((id) => ['--accept', id]),
]

/** A fresh cluster for a pair, with a watcher that is no part of kvup; both go at the end of the file. */
export function clusterFor({ from, to, by, workers = 3 }: Pair): { lab: () => Lab; watcher: () => Watcher } {
  let lab: Lab
  let watcher: Watcher
  beforeAll(async () => {
    lab = await startLab({
      name: `${from}-${to}-${by}-${workers}`,
      workers,
      methods,
      ...(by === 'image-tag' ? { operator: to, imageTag: from } : { operator: from }),
    })
    watcher = await watchFromOutside(lab)
  })
  afterAll(async () => {
    watcher?.stop()
    await lab?.stop()
  })
  return { lab: () => lab, watcher: () => watcher }
}

/** The tests of one pair of releases on the real operators, in a cluster of its own. */
export function testPair(pair: Pair): void {
  const { lab, watcher } = clusterFor(pair)
  testUpgrade(pair, lab, watcher)
}

/** What kvup rehearsed of it beforehand. */
const rehearsalFile = (lab: Lab): string => path.join(lab.dir, 'rehearsal.json')

async function rehearse(pair: Pair, lab: Lab): Promise<void> {
  const { to, by, accept = [] } = pair
  const how = ['--to', to, '--method', by, '--stable-for', `${settleSeconds}s`]
  const risks = accept.flatMap((id) => ['--accept', id])
  const { code, stderr } = await kvup(lab, ['rehearse', ...how, ...risks, '--to-file', rehearsalFile(lab)])
  if (code !== 0) throw new Error(`the rehearsal ended with ${code}: ${stderr}`)
}

/** Seconds pass over nothing here: the factor alone. */
const isWithin = ({ rehearsed = 0, took = 0 }: { rehearsed?: number; took?: number }): boolean =>
  took >= rehearsed / 2 && took <= rehearsed * 2

/** The twin is held to the real one: the same stages in the same order. How long each took is printed: it is that of a machine that does other things as well. */
function holdToRehearsal(pair: Pair, { stdout }: Outcome): void {
  const { rehearsal } = JSON.parse(stdout) as UpgradeReport
  const stages = rehearsal?.stages ?? []
  const both = stages.filter(({ agrees }) => agrees !== undefined)
  const score = `${both.filter(isWithin).length} of ${both.length} stages within ×0.5–×2`
  const each = stages.map(({ name, rehearsed = '–', took = '–' }) => `${name} ${rehearsed}/${took}`)
  process.stdout.write(
    `rehearsal of ${titleOf(pair)}: ${score} of what was rehearsed (rehearsed/took: ${each.join(', ')} s)\n`,
  )
  expect.soft(rehearsal?.sameOrder).toBe(true)
  expect.soft(stages.filter(({ agrees }) => agrees === undefined)).toEqual([])
}

/** kvup takes the cluster there, in time, and a second run writes nothing. */
export function testUpgrade(pair: Pair, lab: () => Lab, watcher: () => Watcher): void {
  const { to, kills = 0 } = pair
  const often = kills === 0 ? '' : `, killed ${kills} times (KVUP_E2E_SEED=${seed})`
  test(`${titleOf(pair)}${often}: exit 0, methods as they were, and in time`, async () => {
    if (kills === 0) await rehearse(pair, lab())
    const began = Date.now()
    const compared = kills === 0 ? ['--rehearsal', rehearsalFile(lab())] : []
    const inJson = [...upgradeOf(pair), ...compared, '-o', 'json']
    const killed = await killedOverAndOver(lab(), inJson, momentsFrom(seed, kills, { least: 0.3, most: 20 }))
    expect(killed.kills > 0).toBe(kills > 0)
    const outcome = killed.ended ?? (await kvup(lab(), inJson))
    const observed = await watcher().observed(to, methods, outcome.endedAt)
    const doubts = doubtsIn(outcome)
    await tell(pair, { outcome, observed, began, doubts })
    expect(outcome).toMatchObject({ code: 0 })
    if (kills === 0) holdToRehearsal(pair, outcome)
    await expectRolled(lab(), to, methods)
    expect(observed).toMatchObject({ doneSince: expect.any(Number), rolledSince: expect.any(Number) })
    const allowed = settleSeconds + reactionSeconds + (doubts.length > 0 ? doubtSeconds : 0)
    expect(lateness(observed, outcome.endedAt)).toBeLessThanOrEqual(allowed + observed.stalledMs / 1000)
    // What is said to be done stays so: nothing rolls behind the exit.
    await new Promise((resolve) => setTimeout(resolve, 10_000))
    expect(await watcher().unrest(to, outcome.endedAt, Date.now())).toEqual([])
  })
  test('a second run has nothing to do and writes nothing', async () => {
    expect(await runAgain(lab(), upgradeOf(pair))).toEqual(nothingToDo)
  })
}

const titleOf = ({ from, to, by, workers = 3 }: Pair): string =>
  `${from} → ${to} by ${by}, ${workers} ${workers === 1 ? 'worker' : 'workers'}`

/** Seconds from the last of KubeVirt's done and the end of the last roll to the exit. */
const lateness = ({ doneSince, rolledSince }: SeenOutside, exitAt: number): number =>
  (exitAt - Math.max(doneSince ?? exitAt, rolledSince ?? exitAt)) / 1000

/** Seconds from start to SIGKILL, the same for the same seed (a linear congruential generator is random enough to place a kill). */
export function momentsFrom(
  from: number,
  kills: number,
  { least, most }: { least: number; most: number },
): readonly number[] {
  let state = from
  const random = () => (state = (state * 1_103_515_245 + 12_345) % 2_147_483_648) / 2_147_483_648
  return Array.from({ length: kills }, () => least + random() * (most - least))
}

/** The doubts that a report names; none where it ended without one. */
function doubtsIn({ code, stdout }: Outcome): readonly string[] {
  if (code !== 0) return []
  const { findings } = JSON.parse(stdout) as { findings: readonly { id: string }[] }
  const known: ReadonlySet<string> = new Set(doubtIds)
  return findings.map(({ id }) => id).filter((id) => known.has(id))
}

interface Told {
  outcome: Outcome
  observed: SeenOutside
  began: number
  doubts: readonly string[]
}

/** A line of the table of seconds, which `test/e2e/run` prints at its end. */
async function tell(pair: Pair, { outcome, observed, began, doubts }: Told): Promise<void> {
  const at = (moment: number | undefined) =>
    moment === undefined ? '–' : ((moment - began) / 1000).toFixed(1)
  const row = [
    `${pair.from} → ${pair.to}`,
    pair.by,
    pair.workers ?? 3,
    pair.kills ?? 0,
    at(observed.rolledSince),
    at(observed.methodsSince),
    at(observed.doneSince),
    at(outcome.endedAt),
    lateness(observed, outcome.endedAt).toFixed(1),
    `${settleSeconds + reactionSeconds}${doubts.length > 0 ? ` + ${doubtSeconds}` : ''}`,
    (observed.stalledMs / 1000).toFixed(1),
    doubts.join(', '),
    outcome.code,
  ]
  const line = `| ${row.join(' | ')} |\n`
  process.stdout.write(line)
  const root = process.env['KVUP_LAB_ROOT']
  if (root !== undefined) await appendFile(path.join(root, 'seconds.md'), line)
}
