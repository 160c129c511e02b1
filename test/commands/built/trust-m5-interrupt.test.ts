// Processes that get signals while the API server is away: more than 3 s of processor time.
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { kvup, paste } from '../in-process.ts'
import { type Live, startKvup } from './program.ts'
import { type Alive, serveCluster } from './simulated.ts'

let alive: Alive
beforeEach(async () => {
  const shape = { version: 'v1.7.4', operator: 'v1.8.4', method: 'image-tag' } as const
  alive = await serveCluster({ ...shape, vms: 1, methods: ['LiveMigrate'], workers: 6, speed: 40 })
})
afterEach(() => alive.stop())

const argv = ['upgrade', '--to', 'v1.8.4', '--yes', '--stable-for', '0s']
const away = {
  silent: { is: 'slow', ms: 600_000 },
  'out of order': { is: 'refused', status: 503 },
} as const
const overridden = /paused \d+ s ago: automatic VM updates \(was LiveMigrate\); /

/** What stands behind the labels, without what it is for. */
const lineThat = (end: string, does: string): string =>
  /^\w+: (.*?)(?: {3,}|$)/u.exec(
    end.split('\n').find((one) => /^(?:Next|Then|Or|Back): /u.test(one) && one.includes(does)) ?? '',
  )?.[1] ?? ''

async function interrupted(running: Live, signal: NodeJS.Signals, fault: (typeof away)[keyof typeof away]) {
  await running.until(/virt-handler: .*\d of 6 nodes/)
  alive.faults.add(fault)
  // The watches are cut and a request is under way.
  await new Promise((next) => setTimeout(next, 500))
  const began = performance.now()
  running.kill(signal)
  const ended = await running.ended
  return { ...ended, within: performance.now() - began }
}

describe('trust M5: interrupted while the API server is away', () => {
  test('SIGINT, exit 130, while it is silent: its last lines say what is borrowed, and how to go on', async () => {
    const { within, ...ended } = await interrupted(startKvup(argv, alive), 'SIGINT', away.silent)
    expect(ended).toMatchObject({ code: 130, stdout: '' })
    expect(within).toBeLessThan(2000)
    const end = ended.stderr.split('error: ')[1] ?? ''
    expect(end).toMatch(overridden)
    expect(lineThat(end, 'resumes automatic VM updates')).toBe('kvup workloads resume-updates')
    expect(lineThat(end, 'continues')).toMatch(/^kvup upgrade --to v1\.8\.4/u)
  })

  test('SIGTERM, exit 143, while it is out of order: one document says all of it, and the line that resumes works', async () => {
    const running = startKvup([...argv, '-o', 'json'], alive)
    const { code, stdout, within } = await interrupted(running, 'SIGTERM', away['out of order'])
    expect(code).toBe(143)
    expect(within).toBeLessThan(2000)
    const document = JSON.parse(stdout) as { error: { remedy: string[] } }
    expect(document).toMatchObject({
      kind: 'UpgradeReport',
      status: 'failed',
      error: { reason: 'interrupted' },
    })
    expect(stdout).toMatch(overridden)
    alive.faults.clear()
    const [line = ''] = document.error.remedy.find((one) => one.includes('continues'))?.split(/ {3,}/u) ?? []
    const resumed = await paste(line, alive)
    expect(resumed).toMatchObject({ code: 0, stdout: expect.stringContaining('v1.8.4') as string })
  })
})

test('trust M5, M8: a silent server: --timeout ends it in time, and it knows what it borrowed', async () => {
  const running = startKvup([...argv, '--timeout', '8s', '--request-timeout', '30s'], alive)
  await running.until(/virt-handler: .*\d of 6 nodes/)
  alive.faults.add(away.silent)
  const { code, stderr, ms } = await running.ended
  expect(code).toBe(4)
  expect(ms).toBeLessThan(18_000)
  expect(stderr).not.toContain('could not be read')
  expect(stderr).toMatch(overridden)
})

test('trust M5: kvup status of a silent server says that it was interrupted', async () => {
  alive.faults.add(away.silent)
  const running = startKvup(['status', '-v', '7', '-o', 'json'], alive)
  await running.until(/^GET /mu)
  const began = performance.now()
  running.kill('SIGINT')
  const { code, stdout, stderr } = await running.ended
  expect(code).toBe(130)
  expect(performance.now() - began).toBeLessThan(2000)
  expect(stderr).toContain('interrupted by SIGINT')
  expect(JSON.parse(stdout)).toMatchObject({ kind: 'Status', status: 'failed' })
})

test('trust M6: a login plug-in that hangs is named, and ends with kvup', async () => {
  const { kubeconfig } = alive
  const { readFileSync, writeFileSync } = await import('node:fs')
  const { parse, stringify } = await import('yaml')
  const config = parse(readFileSync(kubeconfig, 'utf8')) as { users: { user: object }[] }
  const script = `require('node:fs').writeFileSync(process.env.HERE, String(process.pid)); setInterval(() => 0, 1000)`
  const here = `${kubeconfig}.pid`
  for (const one of config.users)
    one.user = {
      exec: {
        apiVersion: 'client.authentication.k8s.io/v1',
        command: process.execPath,
        args: ['-e', script],
        env: [{ name: 'HERE', value: here }],
        interactiveMode: 'Never',
      },
    }
  const file = `${kubeconfig}.hangs`
  writeFileSync(file, stringify(config))
  const running = startKvup(['status'], { kubeconfig: file })
  await running.until(/waiting for the login plug-in/)
  running.kill('SIGINT')
  expect(await running.ended).toMatchObject({ code: 130 })
  await new Promise((next) => setTimeout(next, 200))
  expect(() => process.kill(Number(readFileSync(here, 'utf8')), 0)).toThrow('ESRCH')
  expect((await kvup(['status'], { kubeconfig })).code).toBe(0)
})
