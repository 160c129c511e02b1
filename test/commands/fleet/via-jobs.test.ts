import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, onTestFinished, test, vi } from 'vitest'
import {
  ClusterRoleBindings,
  ClusterRoles,
  RoleBindings,
  Roles,
} from '../../../src/lib/kube/kinds/extension-kinds.ts'
import type { Kind } from '../../../src/lib/kube/object.ts'
import { type FleetStage, fleetStage } from './fleet-stage.ts'
import { image, jobOf, playJobs, writesOfJob } from './played-jobs.ts'

const shape = () => ({ version: 'v1.7.4', operator: 'v1.8.4', method: 'image-tag', vms: 1 }) as const
const planLine =
  'fleet plan --contexts prod-* --canary prod-0 --to v1.8.4 --method image-tag --to-file fleet-plan.yaml'.split(
    ' ',
  )
const line = ['fleet', 'upgrade', '--plan', 'fleet-plan.yaml', '--via-jobs', '--image', image, '--yes']

async function staged(count: number, options: Parameters<typeof playJobs>[1] = {}) {
  const names = Array.from({ length: count }, (_, index) => `prod-${index}`)
  const stage = await fleetStage(names, shape)
  onTestFinished(() => stage.stop())
  const kubelets = playJobs(stage, options)
  onTestFinished(() => kubelets.stop())
  expect(await stage.run(planLine)).toMatchObject({ code: 0 })
  return { stage, kubelets, names }
}

/** What is left of a Job and its rights. */
const leftIn = (stage: FleetStage, name: string) => ({ job: jobOf(stage, name), grants: grants(stage, name) })
const nothing = { job: undefined, grants: [] }

/** Roles and bindings of a Job. */
const grants = (stage: FleetStage, name: string) =>
  [ClusterRoleBindings, RoleBindings, ClusterRoles, Roles].flatMap((kind: Kind) =>
    stage
      .cluster(name)
      .cluster.store.list(kind)
      .items.filter(({ metadata }) => metadata.name.startsWith('kvup-run:')),
  )

test('each cluster is upgraded by its Job; killed, the same line finds the Job that runs; nothing is left but journals', async () => {
  const { stage, kubelets, names } = await staged(2)
  const first = stage.start(line)
  await first.until(/prod-0: Job runs/u)
  first.kill('SIGKILL')
  await first.ended
  const uid = jobOf(stage, 'prod-0')?.metadata.uid
  expect(uid).toBeDefined()
  const ended = await stage.run(line, 'another')
  expect({ code: ended.code, said: ended.stderr }).toMatchObject({ code: 0 })
  expect(ended.stderr).toContain('Rights of the Jobs: kvup-upgrade on 2 clusters')
  expect(ended.stderr).toMatch(/prod-0: goes on with Job kvup-fleet/u)
  expect(kubelets.started.map(({ cluster }) => cluster).toSorted()).toEqual(names)
  for (const name of names) {
    expect(stage.journal(name)).toMatch(/"fleet":\{"uid":"[-0-9a-f]+","wave":[01]\}/u)
    expect(stage.journal(name).match(/"what":"finished"/gu)).toHaveLength(1)
    expect(stage.journal(name)).toContain('"over":true')
    expect(writesOfJob(stage, name)).toBeGreaterThan(0)
    expect(leftIn(stage, name)).toEqual(nothing)
  }
})

test('a Job that fails is the failure of its cluster: rights go, the lines that show and remove it are told, the next wave does not begin', async () => {
  const { stage } = await staged(2, { ends: { 'prod-0': 9 } })
  const ended = await stage.run(line)
  expect({ code: ended.code, said: ended.stderr }).toMatchObject({ code: 9 })
  expect(ended.stderr).toMatch(
    /the canary failed on prod-0: its Job failed: pod \S+ ended with exit 9 \(lost\)/u,
  )
  expect(ended.stderr).toContain('kvup job delete --context prod-0 --name kvup-fleet')
  expect(grants(stage, 'prod-0')).toEqual([])
  expect([jobOf(stage, 'prod-0') !== undefined, stage.writes('prod-1')]).toEqual([true, 0])
  // Another plan finds the Job of this one.
  const other = [...planLine.slice(0, -1), 'other.yaml', '--wave-size', '1']
  expect(await stage.run(other)).toMatchObject({ code: 0 })
  const refused = await stage.run(line.with(3, 'other.yaml'))
  expect({ code: refused.code, said: refused.stderr }).toMatchObject({ code: 3 })
  expect(refused.stderr).toContain(
    'there is a Job kvup-fleet in namespace kvup-run, and it runs another line',
  )
  expect(stage.writes('prod-1')).toBe(0)
})

test('without an image, by a tag, and an image without Jobs: exit 2, and nothing is written', async () => {
  const { stage } = await staged(1)
  const without = line.filter((word) => word !== '--image' && word !== image)
  const ran = await Promise.all([
    stage.run(without),
    stage.run([...without, '--image', 'quay.io/kvup:v1']),
    stage.run(line.filter((word) => word !== '--via-jobs')),
  ])
  expect(ran.map(({ code }) => code)).toEqual([2, 2, 2])
  expect(ran[2].stderr).toContain('--via-jobs')
  expect(stage.writes('prod-0')).toBe(0)
})

test('killed while its Job runs, which then comes to its end: the same line removes what is left of it, and begins nothing', async () => {
  const { stage, kubelets } = await staged(1)
  const first = stage.start(line)
  await first.until(/prod-0: Job runs/u)
  first.kill('SIGKILL')
  await first.ended
  expect(await kubelets.started[0]?.live.ended).toMatchObject({ code: 0 })
  await vi.waitFor(
    () =>
      expect(jobOf(stage, 'prod-0')?.status?.conditions).toContainEqual(
        expect.objectContaining({ type: 'Complete' }),
      ),
    { timeout: 10_000 },
  )
  expect(grants(stage, 'prod-0')).not.toEqual([])
  const ended = await stage.run(line)
  expect({ code: ended.code, said: ended.stderr }).toMatchObject({ code: 0 })
  expect(ended.stderr).not.toContain('Job kvup-fleet in namespace kvup-run begins')
  expect(kubelets.started).toHaveLength(1)
  expect(leftIn(stage, 'prod-0')).toEqual(nothing)
})

test('a time window closes before the pod of its Job can begin a step: the next window makes the next Job, with its own deadline', async () => {
  const stage = await fleetStage(['prod-0'], shape)
  onTestFinished(() => stage.stop())
  const kubelets = playJobs(stage)
  onTestFinished(() => kubelets.stop())
  const { clock } = stage.cluster('prod-0').cluster.store
  const minute = 60_000
  const whole = Math.ceil(clock.now().getTime() / minute)
  const at = (minutes: number) => new Date((whole + minutes) * minute).toISOString()
  const window = (from: number, until: number) =>
    `daily ${at(from).slice(11, 16)}-${at(until).slice(11, 16)} UTC`
  writeFileSync(
    join(stage.folder, 'fleet.yaml'),
    `apiVersion: kvup.io/v1alpha1\nkind: Fleet\nclusters:\n- context: prod-0\n  window: [${window(20, 22)}, ${window(30, 200)}]\n`,
  )
  const planned = await stage.run([...planLine.slice(0, 2), '--file', 'fleet.yaml', ...planLine.slice(6)])
  expect({ code: planned.code, said: planned.stderr }).toMatchObject({ code: 0 })
  const ended = await stage.run(line)
  expect({ code: ended.code, said: ended.stderr }).toMatchObject({ code: 0 })
  for (const opens of [at(20), at(30)])
    expect(ended.stderr).toContain(`prod-0: waits for its time window, which opens at ${opens}`)
  expect(ended.stderr.match(/Job kvup-fleet in namespace kvup-run begins/gu)).toHaveLength(2)
  // Its pod came only after the window, or had no time left.
  expect([2, 4]).toContain((await kubelets.started[0]?.live.ended)?.code)
  expect(stage.journal('prod-0').match(/"what":"finished"/gu)).toHaveLength(1)
  expect(leftIn(stage, 'prod-0')).toEqual(nothing)
}, 150_000)
