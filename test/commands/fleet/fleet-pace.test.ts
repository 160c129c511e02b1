import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import type { FleetReport } from '../../../src/lib/fleet/fleet-report.ts'
import { isWrite } from '../../../src/simulator/api/api-request.ts'
import { type FleetStage, fleetStage } from './fleet-stage.ts'

const to = '--to v1.8.4 --method image-tag --stable-for 5s --to-file fleet-plan.yaml'.split(' ')
const upgrade = ['fleet', 'upgrade', '--plan', 'fleet-plan.yaml', '--yes', '-o', 'json']
const minutes = 60_000

/** At the target already: those in `there`. */
async function staged(count: number, there: readonly string[] = []): Promise<FleetStage> {
  const names = Array.from({ length: count }, (_, index) => `prod-${index}`)
  const shapeOf = (name: string) =>
    ({
      version: there.includes(name) ? 'v1.8.4' : 'v1.7.4',
      operator: 'v1.8.4',
      method: 'image-tag',
      vms: 1,
    }) as const
  const stage = await fleetStage(names, shapeOf)
  onTestFinished(() => stage.stop())
  return stage
}

async function planned(stage: FleetStage, ...flags: readonly string[]): Promise<void> {
  const ran = await stage.run(['fleet', 'plan', ...flags, ...to])
  expect({ code: ran.code, said: ran.stderr }).toMatchObject({ code: 0 })
}

const outcomes = (stdout: string): readonly string[] =>
  (JSON.parse(stdout) as FleetReport).items.map(({ outcome }) => outcome)

const writesTo = (stage: FleetStage, name: string) =>
  stage
    .cluster(name)
    .cluster.store.audit.filter((record) => record.userAgent.startsWith('kvup/') && isWrite(record))

const clockAt = (at: number): string => new Date(at).toISOString().slice(11, 16)

/** `daily 10:05-10:35 UTC`, so many minutes after this time. */
function windowAfter(
  now: Date,
  from: number,
  until: number,
): { text: string; opens: number; closes: number } {
  const whole = Math.ceil(now.getTime() / minutes) * minutes
  const [opens, closes] = [whole + from * minutes, whole + until * minutes]
  return { text: `daily ${clockAt(opens)}-${clockAt(closes)} UTC`, opens, closes }
}

test('a window of the fleet file is waited for by the time of its cluster; the others of its wave do not wait', async () => {
  const stage = await staged(2)
  const { store } = stage.cluster('prod-1').cluster
  const { text, opens } = windowAfter(store.clock.now(), 12, 60)
  writeFileSync(
    join(stage.folder, 'fleet.yaml'),
    `apiVersion: kvup.io/v1alpha1\nkind: Fleet\nclusters:\n- context: prod-0\n- context: prod-1\n  window: ${text}\n`,
  )
  await planned(stage, '--file', 'fleet.yaml')
  const ended = await stage.run(upgrade)
  expect({ code: ended.code, said: ended.stderr }).toMatchObject({ code: 0 })
  expect(ended.stderr).toContain(
    `prod-1: waits for its time window, which opens at ${new Date(opens).toISOString()}`,
  )
  expect(outcomes(ended.stdout)).toEqual(['done', 'done'])
  expect(writesTo(stage, 'prod-1')[0]?.at.getTime()).toBeGreaterThanOrEqual(opens)
  expect(writesTo(stage, 'prod-0')[0]?.at.getTime()).toBeLessThan(opens)
})

test('who waits for its window is not begun once the canary beside it has failed', async () => {
  const stage = await staged(2)
  const { store } = stage.cluster('prod-1').cluster
  const { text } = windowAfter(store.clock.now(), 20, 90)
  writeFileSync(
    join(stage.folder, 'fleet.yaml'),
    `apiVersion: kvup.io/v1alpha1\nkind: Fleet\nclusters:\n- context: prod-0\n  canary: true\n- context: prod-1\n  canary: true\n  window: ${text}\n`,
  )
  await planned(stage, '--file', 'fleet.yaml')
  stage.cluster('prod-0').cluster.faults.set({ unpullable: 'virt-handler:v1.8.4' })
  const ended = await stage.run([...upgrade, '--timeout', '4m'])
  expect({ code: ended.code, said: ended.stderr }).toMatchObject({ code: 4 })
  expect(ended.stderr).toContain('prod-1: waits for its time window')
  expect(ended.stderr).toContain('the canary failed on prod-0')
  expect(outcomes(ended.stdout)).toEqual(['failed', 'not-begun'])
  expect(stage.writes('prod-1')).toBe(0)
})

test('--only: not before the waves before it are done; then that cluster alone', async () => {
  const stage = await staged(4, ['prod-1'])
  await planned(stage, '--contexts', 'prod-*', '--canary', 'prod-0', '--wave-size', '1')
  const only = (name: string) => stage.run([...upgrade, '--only', name])
  const early = await only('prod-2')
  expect({ code: early.code, said: early.stderr }).toMatchObject({ code: 3 })
  expect(early.stderr).toContain('prod-2 is of wave 2, and prod-0 of an earlier wave is not done')
  // It is nobody's failure, and the line that helps is another one.
  expect(outcomes(early.stdout)).not.toContain('failed')
  expect(early.stderr).toMatch(
    /kvup fleet upgrade --plan fleet-plan\.yaml(?! .*--only).*begins with the first wave/u,
  )
  expect(stage.clusters.map(({ name }) => stage.writes(name))).toEqual([0, 0, 0, 0])
  const first = await only('prod-0')
  expect({ code: first.code, said: first.stderr }).toMatchObject({ code: 0 })
  // prod-1 needed no upgrade: it is no reason to wait.
  const later = await only('prod-2')
  expect({ code: later.code, said: later.stderr }).toMatchObject({ code: 0 })
  expect(outcomes(later.stdout)).toEqual(['done', 'done', 'done', 'not-begun'])
  expect(['prod-1', 'prod-3'].map((name) => stage.writes(name))).toEqual([0, 0])
  const nobody = await only('prod-9')
  expect(nobody.code).toBe(2)
  expect(nobody.stderr).toContain('prod-0')
})

test('--stop-after 50%: less than that goes on to the end, which is no success; that much ends it', async () => {
  const stage = await staged(4)
  await planned(stage, '--contexts', 'prod-*', '--wave-size', '1', '--stop-after', '50%')
  const fail = (name: string, unpullable: string | undefined) =>
    stage.cluster(name).cluster.faults.set({ unpullable })
  fail('prod-0', 'virt-handler:v1.8.4')
  const short = [...upgrade, '--timeout', '4m']
  const one = await stage.run(short)
  expect(outcomes(one.stdout)).toEqual(['failed', 'done', 'done', 'done'])
  expect(one.code).toBe(4)
  expect(one.stderr).toContain('1 cluster of 4 failed: prod-0')
  fail('prod-0', undefined)
  const mended = await stage.run(upgrade)
  expect({ code: mended.code, said: mended.stderr }).toMatchObject({ code: 0 })
  expect(outcomes(mended.stdout)).toEqual(['done', 'done', 'done', 'done'])

  const other = await staged(4)
  await planned(other, '--contexts', 'prod-*', '--wave-size', '1', '--stop-after', '50%')
  for (const name of ['prod-0', 'prod-1'])
    other.cluster(name).cluster.faults.set({ unpullable: 'virt-handler:v1.8.4' })
  const two = await other.run(short)
  expect({ code: two.code, said: two.stderr }).toMatchObject({ code: 4 })
  expect(two.stderr).toContain('2 failed (--stop-after 50%)')
  expect(outcomes(two.stdout)).toEqual(['failed', 'failed', 'not-begun', 'not-begun'])
  expect([other.writes('prod-2'), other.writes('prod-3')]).toEqual([0, 0])
})

test('--replace-run gives up a run that is not over, by its uid: the new one is carried out, and the old one is refused', async () => {
  const stage = await staged(2)
  await planned(stage, '--contexts', 'prod-*', '--canary', 'prod-0')
  expect(await stage.run([...upgrade, '--only', 'prod-0'])).toMatchObject({ code: 0 })
  const line = ['fleet', 'plan', '--contexts', 'prod-*', ...to.slice(0, -1), 'other.yaml']
  expect(await stage.run(line)).toMatchObject({ code: 0 })
  const other = ['fleet', 'upgrade', '--plan', 'other.yaml', '--yes', '-o', 'json']
  const refused = await stage.run(other)
  expect({ code: refused.code, said: refused.stderr }).toMatchObject({ code: 6 })
  const { uid = '' } = /belongs to fleet run (?<uid>[-0-9a-f]+)/u.exec(refused.stderr)?.groups ?? {}
  const wrong = await stage.run([...other, '--replace-run', '00000000-0000-4000-8000-000000000000'])
  expect(wrong.code).toBe(6)
  const replaced = await stage.run([...other, '--replace-run', uid])
  expect({ code: replaced.code, said: replaced.stderr }).toMatchObject({ code: 0 })
  expect(outcomes(replaced.stdout)).toEqual(['nothing-to-do', 'done'])
})
