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
  test.each([
    ['SIGINT', 130, 'silent'],
    ['SIGTERM', 143, 'out of order'],
  ] as const)(
    '%s, exit %i, while it is %s: its last lines say what is borrowed, and the line that resumes works',
    async (signal, code, how) => {
      const { within, ...ended } = await interrupted(startKvup(argv, alive), signal, away[how])
      expect(ended).toMatchObject({ code, stdout: '' })
      expect(within).toBeLessThan(2000)
      const end = ended.stderr.split('error: ')[1] ?? ''
      expect(end).toMatch(overridden)
      expect(lineThat(end, 'resumes automatic VM updates')).toBe('kvup workloads resume-updates')
      alive.faults.clear()
      const resumed = await paste(lineThat(end, 'continues'), alive)
      expect(resumed).toMatchObject({
        code: 0,
        stdout: expect.stringContaining('✔ KubeVirt v1.8.4 on ') as string,
      })
    },
  )

  test('with -o json one document says all of it', async () => {
    const running = startKvup([...argv, '-o', 'json'], alive)
    const { code, stdout, within } = await interrupted(running, 'SIGTERM', away.silent)
    expect(code).toBe(143)
    expect(within).toBeLessThan(2000)
    expect(JSON.parse(stdout)).toMatchObject({
      kind: 'UpgradeReport',
      status: 'failed',
      error: {
        reason: 'interrupted',
        remedy: expect.arrayContaining([expect.stringContaining('continues') as string]) as string[],
      },
    })
    expect(stdout).toMatch(overridden)
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

test.each([
  ['status', []],
  ['status', ['-o', 'json']],
])('trust M5: kvup %s %j of a silent server says that it was interrupted', async (command, more) => {
  alive.faults.add(away.silent)
  const running = startKvup([command, '-v', '7', ...more], alive)
  await running.until(/^GET /mu)
  const began = performance.now()
  running.kill('SIGINT')
  const { code, stdout, stderr } = await running.ended
  expect(code).toBe(130)
  expect(performance.now() - began).toBeLessThan(2000)
  expect(stderr).toContain('interrupted by SIGINT')
  const documents = stdout === '' ? [] : [JSON.parse(stdout) as unknown]
  expect(documents).toMatchObject(more.length > 0 ? [{ kind: 'Status', status: 'failed' }] : [])
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
