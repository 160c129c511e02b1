// Processes that get signals in the middle of an upgrade, and what resumes each: more than 3 s of processor time.
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { type Lease, Leases } from '../../../src/lib/kube/kinds/core-kinds.ts'
import { type KubeVirt, KubeVirts } from '../../../src/lib/kube/kinds/kubevirt-kinds.ts'
import { leaseName } from '../../../src/lib/engine/lease.ts'
import { kvup, paste } from '../in-process.ts'
import { type Live, startKvup } from './program.ts'
import { type Alive, serveCluster } from './simulated.ts'

let alive: Alive
beforeEach(async () => {
  const shape = { version: 'v1.7.4', operator: 'v1.8.4', method: 'image-tag' } as const
  alive = await serveCluster({ ...shape, vms: 1, methods: ['LiveMigrate'], workers: 6, speed: 40 })
})
afterEach(() => alive.stop())

const argv = ['upgrade', '--to', 'v1.8.4', '--yes', '--stable-for', '0s'] as const

function cr() {
  const found = alive.store.read(KubeVirts, { namespace: 'kubevirt', name: 'kubevirt' }) as KubeVirt
  return {
    observed: found.status?.observedKubeVirtVersion,
    methods: found.spec?.workloadUpdateStrategy?.workloadUpdateMethods,
  }
}

const holder = () =>
  (alive.store.read(Leases, { namespace: 'kubevirt', name: leaseName }) as Lease).spec?.holderIdentity

async function interruptedAt(phase: RegExp, signal: NodeJS.Signals) {
  const running: Live = startKvup(argv, alive)
  await running.until(phase)
  const began = performance.now()
  running.kill(signal)
  const ended = await running.ended
  return { ...ended, within: performance.now() - began, end: ended.stderr.split('error: ')[1] ?? '' }
}

/** What stands behind the labels, without what it is for. */
function lineThat(end: string, does: string): string {
  const line = end.split('\n').find((one) => /^(?:Next|Then|Or|Back): /u.test(one) && one.includes(does))
  return line?.replace(/^\w+: /, '').split(/ {3,}/)[0] ?? ''
}

const phases = {
  held: /automatic VM updates paused \(was/,
  rolling: /virt-handler: .*\d of 6 nodes/,
  'almost there': /virt-controller: .*\d of 2 pods/,
} as const

const [held, rolling, almostThere] = Object.entries(phases)

describe('an interrupted run leaves within 2 s, says what is borrowed, and its line that resumes works', () => {
  test.each([
    ['SIGINT', 130, held, 'kvup upgrade --to v1.7.4'],
    ['SIGTERM', 143, rolling, 'kvup upgrade --to v1.7.4'],
    // virt-controller is new: going back would be refused.
    ['SIGHUP', 143, almostThere, ''],
  ] as const)('%s, exit %i, while %j', async (signal, code, phase, back) => {
    const { within, end, ...ended } = await interruptedAt(phase?.[1] ?? /./, signal)
    expect(ended).toMatchObject({ code, stdout: '' })
    expect(within).toBeLessThan(2000)
    expect(end).toMatch(/paused \d+ s ago: automatic VM updates \(was LiveMigrate\); /)
    expect(lineThat(end, 'resumes automatic VM updates')).toBe('kvup workloads resume-updates')
    expect(lineThat(end, 'goes back')).toBe(back)
    expect(cr().methods).toEqual([])
    // In the middle of the roll the next test gives back instead.
    if (phase === rolling) return
    const resumed = await paste(lineThat(end, 'continues'), alive)
    expect(resumed).toMatchObject({
      code: 0,
      stdout: expect.stringContaining('✔ KubeVirt v1.8.4 on ') as string,
    })
    expect(cr()).toEqual({ observed: 'v1.8.4', methods: ['LiveMigrate'] })
  })
})

test('the line that gives back works as well, once it is settled', async () => {
  const { end } = await interruptedAt(phases.rolling, 'SIGINT')
  const restored = await paste(`${lineThat(end, 'resumes automatic VM updates')} --yes`, alive)
  expect(restored).toMatchObject({
    code: 0,
    stdout: expect.stringContaining('automatic VM updates are resumed') as string,
  })
  expect(cr().methods).toEqual(['LiveMigrate'])
  expect((await kvup(['history', '-o', 'jsonpath={.loans[*].id}'], alive)).stdout).toBe('')
})

test('a second Ctrl-C leaves at once', async () => {
  alive.faults.add({ is: 'slow', ms: 60_000, on: { resource: 'configmaps', verb: 'create' } })
  const running = startKvup(['upgrade', '--to', 'v1.8.4', '--yes'], alive)
  // It, and writes into its journal next.
  await vi.waitFor(() => expect(holder()).toMatch(/@/), { timeout: 20_000, interval: 5 })
  running.kill('SIGINT')
  await new Promise((next) => setTimeout(next, 50))
  const began = performance.now()
  running.kill('SIGINT')
  expect((await running.ended).code).toBe(130)
  expect(performance.now() - began).toBeLessThan(500)
})

test('status -w ends with Ctrl-C, and says nothing of it', async () => {
  const running = startKvup(['status', '-w'], alive)
  await running.until(/VMs? running/, 'stdout')
  running.kill('SIGINT')
  const { code, stderr } = await running.ended
  expect({ code, stderr }).toEqual({ code: 130, stderr: expect.not.stringContaining('bug') as string })
})

// In which of its calls it may be killed is played in test/scenario/killed-image-tag.test.ts.
test('killed with SIGKILL: who asks on the same machine is told that nobody is at work any more, and the next run ends where the first would have', async () => {
  const running = startKvup(argv, alive)
  await running.until(phases.rolling)
  running.kill('SIGKILL')
  expect(await running.ended).toMatchObject({ signal: 'SIGKILL' })
  const began = performance.now()
  const gone = new RegExp(`\\S+ ran kvup until \\d+ s ago on host \\S+ \\(pid ${running.pid} is gone\\)`, 'u')
  expect((await kvup(['status'], alive)).stdout).toMatch(
    /^Upgrade (?:v1\.7\.4 → )?v1\.8\.4 on sim interrupted by \S+ (?:just now|\d+ s ago), after it began step \d+ of \d+; /mu,
  )
  expect((await kvup(['history'], alive)).stdout).toMatch(gone)
  const again = await kvup(argv, alive)
  expect(again.code).toBe(0)
  expect(performance.now() - began).toBeLessThan(15_000)
  expect(cr()).toEqual({ observed: 'v1.8.4', methods: ['LiveMigrate'] })
  expect((await kvup(['history', '-o', 'jsonpath={.loans[*].id}'], alive)).stdout).toBe('')
})

test('two at once: the second exits 6 and names the first', async () => {
  const first = startKvup(['upgrade', '--to', 'v1.8.4', '--yes', '--stable-for', '60s'], alive)
  await first.until(phases.held)
  const second = await kvup(argv, alive)
  expect((await kvup(['status'], alive)).stdout).toMatch(
    /: another kvup is running: \S+@\S+ since \d\d:\d\d /u,
  )
  expect((await kvup(['history'], alive)).stdout).toMatch(
    new RegExp(`another kvup is running: \\S+/${first.pid}/[\\w-]+, last renewal \\d+ s ago`, 'u'),
  )
  expect(second).toMatchObject({ code: 6, stdout: '' })
  expect(second.stderr).toMatch(/error: another kvup is running: \S+ since /)
  expect(second.stderr).toContain(`--take-over=`)
  expect(second.stderr).toContain(String(first.pid))
  first.kill('SIGINT')
  expect((await first.ended).code).toBe(130)
})
