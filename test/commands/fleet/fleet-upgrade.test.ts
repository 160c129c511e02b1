import { expect, onTestFinished, test } from 'vitest'
import { setTimeout as pause } from 'node:timers/promises'
import { fleetStage } from './fleet-stage.ts'

const shape = () => ({ version: 'v1.7.4', operator: 'v1.8.4', method: 'image-tag', vms: 1 }) as const
const planLine = (...more: readonly string[]) =>
  'fleet plan --contexts prod-* --canary prod-0 --to v1.8.4 --method image-tag --to-file fleet-plan.yaml'
    .split(' ')
    .concat(more)
const upgradeLine = ['fleet', 'upgrade', '--plan', 'fleet-plan.yaml', '--yes']

async function staged(count: number) {
  const names = Array.from({ length: count }, (_, index) => `prod-${index}`)
  const stage = await fleetStage(names, shape)
  onTestFinished(() => stage.stop())
  return { ...stage, names }
}

const versions = (stage: Awaited<ReturnType<typeof staged>>) =>
  Promise.all(
    stage.names.map(async (name) => {
      const ran = await stage.run(['status', '--context', name, '-o', 'jsonpath={.observed.version}'])
      return ran.stdout.trim()
    }),
  )

test('killed twice, and another machine goes on: canary first, then the waves, each cluster once', async () => {
  const stage = await staged(4)
  const planned = await stage.run(planLine('--wave-size', '2', '--soak', '10s'))
  expect(planned).toMatchObject({ code: 0 })
  for (const until of [/prod-0: .+\n/u, /prod-[12]: .+\n/u]) {
    const live = stage.start(upgradeLine)
    await live.until(until)
    await pause(300)
    live.kill('SIGKILL')
    await live.ended
  }
  const ended = await stage.run([...upgradeLine, '-o', 'json'], 'another')
  expect({ code: ended.code, said: ended.stderr }).toMatchObject({ code: 0 })
  expect(await versions(stage)).toEqual(['v1.8.4', 'v1.8.4', 'v1.8.4', 'v1.8.4'])
  const { items, fleet } = JSON.parse(ended.stdout) as {
    fleet: string
    items: { name: string; wave: number; outcome: string }[]
  }
  expect(items.map(({ name, wave }) => [name, wave])).toEqual([
    ['prod-0', 0],
    ['prod-1', 1],
    ['prod-2', 1],
    ['prod-3', 2],
  ])
  for (const name of stage.names) {
    expect(stage.journal(name)).toContain(`"fleet":{"uid":"${fleet}"`)
    expect(stage.journal(name).match(/"what":"finished"/gu)).toHaveLength(1)
    expect(stage.journal(name)).toContain('"over":true')
  }
  // Nothing is left to do, and nothing is written.
  const writes = stage.names.map((name) => stage.writes(name))
  expect(await stage.run(upgradeLine)).toMatchObject({ code: 0 })
  expect(stage.names.map((name) => stage.writes(name))).toEqual(writes)
})

test('the canary fails: nothing else is touched, and a second fleet run is refused by name', async () => {
  const stage = await staged(3)
  expect(await stage.run(planLine())).toMatchObject({ code: 0 })
  stage.cluster('prod-0').cluster.faults.set({ unpullable: 'virt-handler:v1.8.4' })
  const ended = await stage.run([...upgradeLine, '--timeout', '4m'])
  expect({ code: ended.code, said: ended.stderr }).toMatchObject({ code: 4 })
  expect(ended.stderr).toContain('the canary failed on prod-0')
  expect([stage.writes('prod-1'), stage.writes('prod-2')]).toEqual([0, 0])
  stage.cluster('prod-0').cluster.faults.set({})
  const other = [
    'fleet',
    'plan',
    '--contexts',
    'prod-0',
    '--to',
    'v1.8.4',
    '--method',
    'image-tag',
    '--to-file',
    'other.yaml',
  ]
  const replanned = await stage.run(other)
  expect({ code: replanned.code, said: replanned.stderr }).toMatchObject({ code: 0 })
  const refused = await stage.run(['fleet', 'upgrade', '--plan', 'other.yaml', '--yes'])
  expect(refused.code).toBe(6)
  expect(refused.stderr).toMatch(/cluster prod-0 belongs to fleet run [-0-9a-f]+, which is not over: wave 0/u)
})
