import { expect, onTestFinished, test } from 'vitest'
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
    expect({ job: jobOf(stage, name), grants: grants(stage, name) }).toEqual({ job: undefined, grants: [] })
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
  const other = planLine.with(-1, 'other.yaml').concat('--wave-size', '1')
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
