import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest'
import { Leases } from '../../../src/lib/kube/kinds/core-kinds.ts'
import { KubeVirts } from '../../../src/lib/kube/kinds/kubevirt-kinds.ts'
import type { FleetReport } from '../../../src/lib/fleet/fleet-report.ts'
import { type FleetStage, fleetStage } from './fleet-stage.ts'

const shape = () => ({ version: 'v1.7.4', operator: 'v1.8.4', method: 'image-tag', vms: 1 }) as const
const to = '--to v1.8.4 --method image-tag --to-file fleet-plan.yaml'.split(' ')
const upgrade = ['fleet', 'upgrade', '--plan', 'fleet-plan.yaml', '--yes', '-o', 'json']

/** Not so fast that a busy machine is late with its answers. */
async function staged(count: number, speed = 30): Promise<FleetStage> {
  const names = Array.from({ length: count }, (_, index) => `prod-${index}`)
  const stage = await fleetStage(names, shape, speed)
  onTestFinished(() => stage.stop())
  return stage
}

async function planned(stage: FleetStage, ...flags: readonly string[]): Promise<void> {
  const ran = await stage.run(['fleet', 'plan', '--contexts', 'prod-*', ...flags, ...to])
  expect({ code: ran.code, said: ran.stderr }).toMatchObject({ code: 0 })
}

const outcomes = (stdout: string): Record<string, string> =>
  Object.fromEntries((JSON.parse(stdout) as FleetReport).items.map(({ name, outcome }) => [name, outcome]))

test('a cluster is gone in the middle of a run: a failure, the rest of its wave ends, and no further wave begins', async () => {
  const stage = await staged(4)
  await planned(stage, '--wave-size', '2')
  const live = stage.start([...upgrade, '--timeout', '5m'])
  await live.until(/prod-0: .+\n/u)
  // In the middle of a write it would be exit 8; here kvup waits for what it has written down.
  await vi.waitFor(() => expect(stage.journal('prod-0')).toContain('"what":"applied"'), 30_000)
  await pause(500)
  await stage.cluster('prod-0').stop()
  const ended = await live.ended
  expect({ code: ended.code, said: ended.stderr }).toMatchObject({ code: 4 })
  expect(ended.stderr).toContain('kvup could not reach the cluster')
  expect(outcomes(ended.stdout)).toEqual({
    'prod-0': 'failed',
    'prod-1': 'done',
    'prod-2': 'not-begun',
    'prod-3': 'not-begun',
  })
  expect([stage.writes('prod-2'), stage.writes('prod-3')]).toEqual([0, 0])
})

test('a cluster of an earlier wave is gone: the next wave does not begin', async () => {
  const stage = await staged(2)
  await planned(stage, '--canary', 'prod-0', '--soak', '5m')
  const live = stage.start(upgrade)
  await live.until(/begins in /u)
  await stage.cluster('prod-0').stop()
  const ended = await live.ended
  expect({ code: ended.code, said: ended.stderr }).toMatchObject({ code: 8 })
  expect(outcomes(ended.stdout)).toEqual({ 'prod-0': 'unreachable', 'prod-1': 'not-begun' })
  expect(stage.writes('prod-1')).toBe(0)
  // Nor in another process.
  expect(await stage.run(upgrade, 'another')).toMatchObject({ code: 8 })
  expect(stage.writes('prod-1')).toBe(0)
})

test('two contexts of one cluster are one cluster of the plan, which is said; it is upgraded once', async () => {
  const stage = await staged(1)
  const file = join(stage.folder, 'kubeconfig')
  const config = JSON.parse(readFileSync(file, 'utf8')) as { contexts: object[] }
  config.contexts.push({ name: 'prod-again', context: { cluster: 'prod-0', user: 'admin' } })
  writeFileSync(file, JSON.stringify(config))
  const ran = await stage.run(['fleet', 'plan', '--contexts', 'prod-*', ...to])
  expect({ code: ran.code, said: ran.stderr }).toMatchObject({ code: 0 })
  expect(ran.stdout + ran.stderr).toContain('prod-again is a context of the same cluster as prod-0')
  const ended = await stage.run(upgrade)
  expect({ code: ended.code, said: ended.stderr }).toMatchObject({ code: 0 })
  expect(outcomes(ended.stdout)).toEqual({ 'prod-0': 'done' })
  expect(stage.journal('prod-0').match(/"what":"finished"/gu)).toHaveLength(1)
})

test('two contexts of a plan that lead to one cluster now: refused, and no success that leaves one of them out', async () => {
  const stage = await staged(2)
  await planned(stage)
  const file = join(stage.folder, 'kubeconfig')
  const config = JSON.parse(readFileSync(file, 'utf8')) as { contexts: { context: { cluster: string } }[] }
  for (const { context } of config.contexts) context.cluster = 'prod-0'
  writeFileSync(file, JSON.stringify(config))
  const ran = await stage.run(upgrade)
  expect({ code: ran.code, said: ran.stderr }).toMatchObject({ code: 2 })
  expect(ran.stderr).toContain('context prod-1 leads to another cluster')
  expect([stage.writes('prod-0'), stage.writes('prod-1')]).toEqual([0, 0])
})

test('somebody else upgrades a cluster right now: it is left to him, and nothing further begins; once he is done the same line goes on', async () => {
  const stage = await staged(2, 60)
  await planned(stage, '--wave-size', '1')
  const { faults } = stage.cluster('prod-0').cluster
  faults.set({ unpullable: 'virt-handler:v1.8.4' })
  const other = stage.start(
    'upgrade --context prod-0 --to v1.8.4 --method image-tag --yes'.split(' '),
    'elsewhere',
  )
  await other.until(/cannot pull/u)
  const refused = await stage.run(upgrade)
  expect({ code: refused.code, said: refused.stderr }).toMatchObject({ code: 5 })
  expect(refused.stderr).toContain('the fleet run stopped in wave 1: a person is needed on prod-0')
  expect(refused.stderr).toContain('kvup fleet plan --help')
  expect(refused.stderr).not.toContain('--to-file')
  expect(outcomes(refused.stdout)).toEqual({ 'prod-0': 'needs-person', 'prod-1': 'not-begun' })
  expect(stage.writes('prod-1')).toBe(0)
  expect(stage.journal('prod-0')).not.toContain('"fleet"')
  faults.set({ unpullable: undefined })
  const his = await other.ended
  expect({ code: his.code, said: his.stderr }).toMatchObject({ code: 0 })
  const ended = await stage.run(upgrade)
  expect({ code: ended.code, said: ended.stderr }).toMatchObject({ code: 0 })
  expect(outcomes(ended.stdout)).toEqual({ 'prod-0': 'nothing-to-do', 'prod-1': 'done' })
  expect(stage.journal('prod-0').match(/"what":"finished"/gu)).toHaveLength(1)
})

test('the lock of a cluster is held: exit 6 with who holds it; without it the same line goes on', async () => {
  const stage = await staged(2)
  await planned(stage, '--wave-size', '1')
  const { store } = stage.cluster('prod-0').cluster
  const { writer } = stage.cluster('prod-0').cluster.cluster()
  const place = { name: 'kvup', namespace: 'kubevirt' }
  const now = () => `${store.clock.now().toISOString().slice(0, -1)}000Z`
  await writer.create(Leases, {
    apiVersion: Leases.apiVersion,
    kind: Leases.kind,
    metadata: place,
    spec: {
      holderIdentity: 'anna@bastion/4711/0123',
      leaseDurationSeconds: 15,
      acquireTime: now(),
      renewTime: now(),
    },
  })
  const renewal = setInterval(() => {
    void writer.mergePatch(Leases, place, { spec: { renewTime: now() } })
  }, 100)
  onTestFinished(() => clearInterval(renewal))
  const refused = await stage.run(upgrade)
  expect({ code: refused.code, said: refused.stderr }).toMatchObject({ code: 6 })
  expect(refused.stderr).toContain('anna@bastion')
  expect(outcomes(refused.stdout)).toEqual({ 'prod-0': 'needs-person', 'prod-1': 'not-begun' })
  expect([stage.writes('prod-0'), stage.writes('prod-1')]).toEqual([0, 0])
  clearInterval(renewal)
  await writer.delete(Leases, place)
  expect(await stage.run(upgrade)).toMatchObject({ code: 0 })
})

test('a person is needed in the middle of a wave: what runs beside it comes to its end, and no further wave begins', async () => {
  const stage = await staged(3)
  await planned(stage, '--wave-size', '2', '--stop-after', '3')
  const { writer } = stage.cluster('prod-1').cluster.cluster()
  await writer.mergePatch(
    KubeVirts,
    { name: 'kubevirt', namespace: 'kubevirt' },
    { spec: { imageRegistry: 'registry.example.com/kubevirt' } },
  )
  const ended = await stage.run(upgrade)
  expect(ended.code).not.toBe(0)
  expect(outcomes(ended.stdout)).toEqual({
    'prod-0': 'done',
    'prod-1': 'needs-person',
    'prod-2': 'not-begun',
  })
  expect(ended.stderr).toContain('a person is needed on prod-1')
  expect([stage.writes('prod-1'), stage.writes('prod-2')]).toEqual([0, 0])
})

describe('an edited plan file', () => {
  let stage: FleetStage
  beforeAll(async () => {
    stage = await fleetStage(['prod-0', 'prod-1'], shape)
    await planned(stage)
  })
  afterAll(() => stage.stop())
  test.each([
    ['the order of the waves', /"wave": 1\b|wave: 1\b/u, 'wave: 2'],
    ['how many may fail', /stopAfter: .+/u, 'stopAfter: "9"'],
    ['the soak', /soakSeconds: .+/u, 'soakSeconds: 1'],
    ['which cluster', /^( +)uid: .+/mu, '$1uid: 00000000-0000-4000-8000-000000000000'],
    ['a window', /windows: \[\]/u, 'windows: [daily 00:00-01:00 UTC]'],
    ['a context', /context: prod-1/u, 'context: prod-0'],
    ['the version of one', /to: v1\.8\.4(?![^]*to: v1\.8\.4)/u, 'to: v1.8.3'],
  ])(
    'a plan file in which somebody edited %s is refused, and nothing is asked of any cluster',
    async (_, from, into) => {
      const file = join(stage.folder, 'fleet-plan.yaml')
      const text = readFileSync(file, 'utf8')
      const changed = text.replace(from, into)
      expect(changed).not.toBe(text)
      writeFileSync(join(stage.folder, 'edited.yaml'), changed)
      const asked = () => stage.clusters.map(({ cluster }) => askedBy(cluster))
      const before = asked()
      const ran = await stage.run(['fleet', 'upgrade', '--plan', 'edited.yaml', '--yes'])
      expect({ code: ran.code, said: ran.stderr }).toMatchObject({ code: 2 })
      expect(ran.stderr).toContain('was edited after it was sealed')
      expect(asked()).toEqual(before)
    },
  )
})

const askedBy = ({ store }: FleetStage['clusters'][number]['cluster']): number =>
  store.audit.filter(({ userAgent }) => userAgent.startsWith('kvup/')).length
