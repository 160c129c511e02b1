import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { parse } from 'yaml'
import { small418 } from '../../scenario/eus/window-stage.ts'
import { fleetStage } from './fleet-stage.ts'

type Monitoring = 'open' | 'guarded'

const names = ['prod-0', 'prod-1', 'prod-2']
const planning = '--contexts prod-* --canary prod-0 --to v1.8.4 --method image-tag'.split(' ')
const alarmed = ['fleet', 'plan', ...planning, '--stop-on-alert', 'critical', '--accept', 'kubernetes-window']
const going = ['fleet', 'upgrade', '--plan', 'fleet-plan.yaml', '--yes']

async function staged(monitoring?: Monitoring) {
  const openshift = monitoring && { ...small418.openshift!, monitoring }
  const stage = await fleetStage(names, () => ({
    version: 'v1.7.4',
    operator: 'v1.8.4',
    method: 'image-tag',
    vms: 1,
    ...(openshift && { openshift }),
  }))
  onTestFinished(() => stage.stop())
  return stage
}

test('an alert that is new since the plan stops the run, one that fired before does not; without it the same line goes on', async () => {
  const stage = await staged('open')
  const known = { name: 'etcdMembersDown', severity: 'critical', namespace: 'openshift-etcd' }
  const late = { name: 'VirtAPIDown', severity: 'critical', namespace: 'kubevirt' }
  stage.cluster('prod-0').cluster.faults.set({ firing: [known] })
  const planned = await stage.run([...alarmed, '--to-file', 'fleet-plan.yaml'])
  expect({ code: planned.code, said: planned.stderr }).toMatchObject({ code: 0 })
  const plan = parse(readFileSync(join(stage.folder, 'fleet-plan.yaml'), 'utf8')) as {
    clusters: { firing: string[] }[]
  }
  expect(plan.clusters.map(({ firing }) => firing)).toEqual([
    ['etcdMembersDown in namespace openshift-etcd'],
    [],
    [],
  ])
  stage.cluster('prod-0').cluster.faults.set({ firing: [known, late] })
  const stopped = await stage.run(going)
  expect(stopped.code).toBe(3)
  expect(stopped.stderr).toContain('new since the plan was made: VirtAPIDown in namespace kubevirt')
  expect(stopped.stderr).not.toContain('etcdMembersDown')
  expect([stage.writes('prod-1'), stage.writes('prod-2')]).toEqual([0, 0])
  stage.cluster('prod-0').cluster.faults.set({ firing: [known] })
  expect(await stage.run(going)).toMatchObject({ code: 0 })
})

test('where alerts cannot be read no plan is made that promises to stop at them', async () => {
  const stage = await staged('guarded')
  const ran = await stage.run(alarmed)
  expect(ran.code).toBe(3)
  expect(ran.stderr).toContain('--stop-on-alert cannot be followed')
  expect(ran.stderr).toContain('--alerts=route')
  expect(await stage.run(['fleet', 'plan', ...planning, '--alerts', 'route'])).toMatchObject({ code: 2 })
})

test('planned, saved and carried out by one line; the plan that is there goes on by its own, and has a report', async () => {
  const stage = await staged()
  const line = ['fleet', 'upgrade', ...planning, '--to-file', 'fleet-plan.yaml', '--yes', '-o', 'json']
  expect(
    await stage.run(line.filter((word) => !['--to-file', 'fleet-plan.yaml'].includes(word))),
  ).toMatchObject({
    code: 2,
  })
  const ended = await stage.run(line)
  expect({ code: ended.code, said: ended.stderr }).toMatchObject({ code: 0 })
  const again = await stage.run(line)
  expect(again.code).toBe(2)
  expect(again.stderr).toMatch(/kvup fleet upgrade --yes .*--plan fleet-plan\.yaml +# goes on with it/u)
  expect(await stage.run(going)).toMatchObject({ code: 0 })
  writeFileSync(join(stage.folder, 'ended.json'), ended.stdout)
  const told = await stage.run(['report', 'ended.json', '-o', 'markdown'])
  expect(told.code).toBe(0)
  expect(told.stdout).toContain('# Fleet upgrade: v1.8.4')
  expect(told.stdout).toContain('KubeVirt to v1.8.4 on 3 clusters: 3 done')
  expect(told.stdout).toMatch(/\| prod-0 \| canary \| done \| v1\.7\.4 \| .+ \| +\|/u)
  expect(await stage.run(['report', 'ended.json', '--to-file', 'ended.html'])).toMatchObject({ code: 0 })
  const page = readFileSync(join(stage.folder, 'ended.html'), 'utf8')
  expect(page).toContain('3 done')
  expect(page).toContain('prod-2')
})
