// Processes, and every command for each manner: more than 3 s of processor time.
import { mkdirSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { stripVTControlCharacters } from 'node:util'
import { parse } from 'yaml'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { connectionRecorder } from './connection-recorder.ts'
import { kvup, paste } from '../in-process.ts'
import { kvup as installed, type Setting, startProcess } from './program.ts'
import { type Alive, serveCluster } from './simulated.ts'

let alive: Alive
beforeAll(async () => {
  const shape = { version: 'v1.7.4', operator: 'v1.8.4', method: 'image-tag', speed: 1 } as const
  alive = await serveCluster({ ...shape, vms: 1, methods: ['LiveMigrate'], users: ['jane'] })
})
afterAll(() => alive.stop())

const nowhere = { kubeconfig: '/nonexistent/config' }
const unreachable = ['--server', 'http://127.0.0.1:1', '--request-timeout', '1s'] as const

/** Milliseconds of the processor, least of some runs: a clock would measure what else the machine does. */
async function processorTime(run: (setting: Setting) => Promise<{ stderr: string }>): Promise<number> {
  const atExit = `process.on('exit', () => { const { user, system } = process.cpuUsage(); process.stderr.write('used ' + (user + system) / 1000) })`
  const env = { NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(atExit)}` }
  const times: number[] = []
  for (let runs = 0; runs < 4; runs++) times.push(Number(/used (.*)$/.exec((await run({ env })).stderr)?.[1]))
  return Math.min(...times)
}

test('manner 1: help takes less than 100 ms more than Node itself', async () => {
  const bare = await processorTime((setting) => startProcess(process.execPath, ['-e', '0'], setting).ended)
  const late: string[] = []
  for (const argv of [['-h'], ['help', 'upgrade']]) {
    const took = (await processorTime((setting) => kvup(argv, { ...nowhere, ...setting }))) - bare
    if (took >= 100) late.push(`kvup ${argv.join(' ')}: ${took} ms`)
  }
  expect(late).toEqual([])
})

describe('manner 5: kvup version', () => {
  test.each([['--version'], ['-V']])('%s is the number alone', async (flag) => {
    const { code, stdout } = await installed([flag], nowhere)
    expect({ code, stdout }).toEqual({
      code: 0,
      stdout: expect.stringMatching(/^\d+\.\d+\.\d+\n$/) as string,
    })
  })

  test('--client needs no cluster, in every format', async () => {
    const [text, json, yaml] = await Promise.all([
      installed(['version', '--client'], nowhere),
      installed(['version', '--client', '-o', 'json'], nowhere),
      installed(['version', '--client', '-o', 'yaml'], nowhere),
    ])
    const document = { apiVersion: 'kvup.io/v1alpha1', kind: 'Version', status: 'complete' }
    expect([text.code, json.code, yaml.code]).toEqual([0, 0, 0])
    expect(text.stdout).toMatch(/^kvup +\d+\.\d+\.\d+\n$/)
    expect(JSON.parse(json.stdout)).toMatchObject(document)
    expect(parse(yaml.stdout)).toMatchObject(document)
  })

  test('with a cluster: kvup, the API server and KubeVirt', async () => {
    const { code, stdout } = await kvup(['version'], alive)
    expect({ code, lines: stdout.split('\n').map((line) => line.split(' ')[0]) }).toEqual({
      code: 0,
      lines: ['kvup', 'Kubernetes', 'KubeVirt', ''],
    })
  })

  test('a cluster that cannot be reached costs the answer nothing: it is on stdout, the failure on stderr', async () => {
    const [text, json] = await Promise.all([
      kvup(['version', ...unreachable], alive),
      kvup(['version', ...unreachable, '-o', 'json'], alive),
    ])
    expect(text).toMatchObject({ code: 8, stdout: expect.stringMatching(/^kvup +\d/) as string })
    expect(text.stderr).toMatch(/^error: .*127\.0\.0\.1:1/)
    expect(JSON.parse(json.stdout)).toMatchObject({
      client: expect.stringMatching(/^\d/) as string,
      status: 'failed',
      error: { code: 8 },
    })
  })
})

describe('manner 6: completion', () => {
  test.each(['bash', 'zsh', 'fish', 'powershell'])('%s has a script', async (shell) => {
    const { code, stdout, stderr } = await kvup(['completion', shell], nowhere)
    expect({ code, stderr, named: stdout.includes('kvup') }).toEqual({ code: 0, stderr: '', named: true })
  })

  test.each([
    [['--context', 'nosuch']],
    [['--server', 'http://127.0.0.1:1']],
    [['--kubeconfig', '/nonexistent']],
  ])('is silent on failure: %j', async (flags) => {
    const { stderr } = await kvup(['__complete', '--', ...flags, 'upgrade', '--to', ''], alive)
    expect(stderr).toBe('')
  })
})

describe('manner 9: words', () => {
  test('-- ends the flags', async () => {
    const { code, stdout, stderr } = await kvup(['status', '--', '-o', 'json'], alive)
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' })
    expect(stderr).toContain('too many arguments')
  })

  test('- is standard input', async () => {
    const { stdout } = await kvup(['snapshot'], alive)
    const { code, stdout: name } = await kvup(['status', '--from', '-', '-o', 'name'], {
      ...nowhere,
      stdin: stdout,
    })
    expect({ code, name }).toEqual({ code: 0, name: 'kubevirt/kubevirt\n' })
  })
})

test('manner 10: flag over environment over file over default, and config view says which', async () => {
  mkdirSync(join(alive.folder, 'kvup'), { recursive: true })
  writeFileSync(join(alive.folder, 'kvup/config.yaml'), 'timeout: 3h\nstable-for: 20s\ncolor: never\n')
  const env = { XDG_CONFIG_HOME: alive.folder, KVUP_STABLE_FOR: '10s', KVUP_COLOR: 'auto' }
  const line = ['config', 'view', '--show-origin', '--color', 'always', '-o', 'json']
  const { stdout } = await kvup(line, { ...nowhere, env })
  const { items } = JSON.parse(stdout) as { items: { name: string; value: string; origin: string }[] }
  const said = Object.fromEntries(items.map(({ name, value, origin }) => [name, `${value} ${origin}`]))
  expect(said).toMatchObject({
    color: 'always flag',
    'stable-for': '10s environment',
    timeout: '3h file',
    'request-timeout': '30s default',
  })
})

describe('manner 13: a proxy of the environment is used', () => {
  test.each(['HTTPS_PROXY', 'https_proxy'])('%s', async (name) => {
    const asked: string[] = []
    const proxy = createServer().on('connect', (request, socket) => {
      asked.push(request.url ?? '')
      socket.end('HTTP/1.1 502 Bad Gateway\r\n\r\n')
    })
    await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve))
    const env = { [name]: `http://127.0.0.1:${(proxy.address() as AddressInfo).port}` }
    const argv = ['status', '--server', 'https://api.example.invalid:6443', '--request-timeout', '2s']
    const { code } = await kvup(argv, { ...alive, env })
    proxy.close()
    expect({ code, asked: new Set(asked) }).toEqual({ code: 8, asked: new Set(['api.example.invalid:6443']) })
  })
})

describe('manner 14: a duration needs a unit', () => {
  test.each([
    ['upgrade', '--to', 'v1.8.4', '--timeout', '5'],
    ['upgrade', '--to', 'v1.8.4', '--stable-for', '5'],
    ['upgrade', '--to', 'v1.8.4', '--migrations-timeout', '5'],
    ['wait', '--for', 'healthy', '--timeout', '5'],
    ['restore-settings', '--timeout', '5'],
    ['status', '--request-timeout', '5'],
  ])('kvup %s %s %s %s %s', async (...argv) => {
    const words = argv.filter((word) => word !== undefined)
    const { code, stdout, stderr } = await kvup(words, alive)
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' })
    expect(stderr).toMatch(/"5" is not a duration: it needs a unit\n +5s for seconds, 5m for minutes\n$/)
  })

  test('nor in the environment', async () => {
    const { code, stderr } = await kvup(['status'], { ...alive, env: { KVUP_REQUEST_TIMEOUT: '5' } })
    expect({ code, stderr }).toEqual({
      code: 2,
      stderr: expect.stringContaining('KVUP_REQUEST_TIMEOUT') as string,
    })
  })
})

/** Without what a column's width and a second that passed change. */
const rows = (text: string) => text.replaceAll(/ +/g, ' ').replaceAll(/(?<=for at least )(?:\d+[dhms])+/g, '')

describe('manner 18: headings are capitals without blanks, and --no-headers leaves them out', () => {
  test.each([
    ['status', 'COMPONENT'],
    ['releases', 'VERSION'],
    ['explain', 'FINDING'],
    ['config view', 'SETTING'],
    ['demo --scenario list', 'NAME'],
  ])('kvup %s', async (line, first) => {
    const [table, bare] = await Promise.all([
      kvup(line.split(' '), alive),
      kvup([...line.split(' '), '--no-headers'], alive),
    ])
    const lines = table.stdout.split('\n')
    // One for each table that the command prints.
    const headings = lines.filter((row) => /^[A-Z-]+(?: {2,}[A-Z-]+)+ *$/.test(row))
    expect(headings).toContainEqual(expect.stringMatching(`^${first} `))
    expect(rows(bare.stdout)).toBe(rows(lines.filter((row) => !headings.includes(row)).join('\n')))
  })
})

test('manner 21: times in documents are RFC 3339 in UTC', async () => {
  const ended = await Promise.all([
    kvup(['status', '-o', 'json'], { ...alive, env: { TZ: 'Asia/Kolkata' } }),
    kvup(['check', '-o', 'json'], { ...alive, env: { TZ: 'Asia/Kolkata' } }),
  ])
  const times = ended.flatMap(({ stdout }) => stdout.match(/"\d{4}-\d\d-\d\dT[^"]*"/g) ?? [])
  expect(times.length).toBeGreaterThan(1)
  expect(times.filter((time) => !/^"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z"$/.test(time))).toEqual([])
})

describe('manner 22: --no-color is --color=never', () => {
  test.each([
    [['--no-color'], false],
    [['--no-color', '--color=always'], true],
    [['--color=always', '--no-color'], false],
  ])('%j', async (flags, isColoured) => {
    const env = { FORCE_COLOR: '1', KVUP_COLOR: 'always' }
    const [good, bad] = await Promise.all([
      kvup(['status', ...flags], { ...alive, env }),
      kvup(['upgrade', '--to', 'v1.9', ...flags], { ...alive, env }),
    ])
    expect([good.stdout.includes('\u001b['), bad.stderr.includes('\u001b[')]).toEqual([
      isColoured,
      isColoured,
    ])
    expect(stripVTControlCharacters(bad.stderr)).toContain('is not a full version')
  })
})

test('manner 24: in CI and on a pipe no byte of a terminal is written', async () => {
  const lines = ['status', 'check', 'history', 'upgrade --to v1.8.4 --dry-run=server', 'releases', 'upgrade']
  const ended = await Promise.all(
    lines.map((line) => kvup(line.split(' '), { ...alive, env: { CI: 'true' } })),
  )
  const said = ended.map(({ stdout, stderr }) => stdout + stderr).join('')
  for (const byte of ['\u001b', '\r', '\u0008']) expect(said).not.toContain(byte)
})

describe('manner 34: --no-input', () => {
  test('ends where a question would be asked, and changes nothing', async () => {
    const { code, stderr } = await kvup(['upgrade', '--to', 'v1.8.4', '--no-input'], alive)
    expect(code).toBe(2)
    expect(stderr).toMatch(/but --no-input forbids it\n.*--yes/)
  })
})

const remedy = ({ stdout }: { stdout: string }) =>
  (JSON.parse(stdout) as { error: { remedy: string[] } }).error.remedy

describe('manner 29: the line that helps works when it is pasted', () => {
  const bare = { env: { KUBECONFIG: '/nonexistent/config' } }

  test('with the connection flags that were typed, on the cluster that was named', async () => {
    const flags = ['--kubeconfig', alive.kubeconfig, '--context', 'sim']
    const { code, stderr } = await kvup(['upgrade', ...flags], bare)
    const [line = ''] = /(?<=→ )kvup upgrade --to v1\.8\.4.*/.exec(stderr) ?? []
    expect({ code, line }).toEqual({
      code: 2,
      line: `kvup upgrade --to v1.8.4 --kubeconfig ${alive.kubeconfig} --context sim`,
    })
    const pasted = await paste(`${line} --dry-run=client`, bare)
    expect(pasted).toMatchObject({ code: 0, stdout: expect.stringContaining('v1.8.4') as string })
  })

  test('a plan that was printed with them takes effect as it was sealed', async () => {
    const { stdout } = await kvup(['plan', '--to', 'v1.8.4', '--context', 'sim', '-o', 'json'], alive)
    const file = join(alive.folder, 'plan.json')
    writeFileSync(file, stdout)
    const planned = await kvup(['upgrade', '--plan', file, '--context', 'sim', '--dry-run=client'], alive)
    expect(planned).toMatchObject({ code: 0, stderr: '' })
  })

  test('in documents too, and not where the cluster was not named', async () => {
    const named = await kvup(['upgrade', '-o', 'json', '--context', 'sim', '-n', 'demo'], alive)
    const plain = await kvup(['upgrade', '-o', 'json'], alive)
    expect(remedy(named)).toContain('kvup upgrade --to v1.8.4 -o json --context sim -n demo')
    expect(remedy(plain)).toContain('kvup upgrade --to v1.8.4 -o json')
  })
})

test('manner 39: nobody but the cluster and what flags name is contacted; another host would be seen', async () => {
  const recorder = connectionRecorder(alive.folder)
  const here = { ...alive, env: recorder.env }
  const manifest = ['--manifest', alive.manifest('v1.8.4')]
  // One after the other, in one process.
  const lines = [
    ['--help'],
    ['version'],
    ['status'],
    ['check', '--to', 'v1.8.4', ...manifest],
    ['upgrade', '--to', 'v1.8.4', '--dry-run=server', ...manifest],
    ['upgrade', '--to', 'v1.7.4', '--yes'],
    ['upgrade'],
    ['history'],
    ['explain', 'evictions'],
    ['releases'],
    ['snapshot', '-o', 'name'],
    ['__complete', '--', 'upgrade', '--to', ''],
  ]
  const main = JSON.stringify(new URL('../../../dist/main.js', import.meta.url))
  const script = `const { main } = await import(${main})
for (const line of ${JSON.stringify(lines)}) await main(line, process)
console.error('all of them')`
  const argv = ['--input-type=module', '-e', script]
  const { stderr } = await startProcess(process.execPath, argv, here).ended
  expect(stderr).toMatch(/^all of them$/mu)
  expect(recorder.contacted()).toEqual([new URL(alive.url).host])
  await kvup(['status', ...unreachable], here)
  expect(recorder.contacted()).toContain('127.0.0.1:1')
})

test('nothing of all that changed anything', () => {
  expect(alive.writes()).toEqual([])
})
