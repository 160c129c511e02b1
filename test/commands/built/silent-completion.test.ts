import { mkdirSync, writeFileSync } from 'node:fs'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { type AddressInfo, createServer as createSocket, type Server } from 'node:net'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { kvup } from '../in-process.ts'
import { kvup as installed, type Setting } from './program.ts'
import { type Alive, serveCluster } from './simulated.ts'

let alive: Alive
let silentPort = 0
const silent = createSocket(() => undefined)
beforeAll(async () => {
  alive = await serveCluster({
    version: 'v1.7.0',
    method: 'image-tag',
    operator: 'v1.8.4',
    speed: 1,
    users: ['jane'],
  })
  silentPort = await listening(silent)
})
afterAll(async () => {
  silent.close()
  await alive.stop()
})

async function listening(server: Server): Promise<number> {
  server.listen(0, '127.0.0.1')
  await new Promise<void>((resolve) => server.once('listening', resolve))
  return (server.address() as AddressInfo).port
}

let files = 0
function kubeconfig(server: string, user: object = {}): string {
  const file = join(alive.folder, `config-${++files}`)
  const config = {
    clusters: [{ name: 'a', cluster: { server } }],
    users: [{ name: 'a', user }],
    contexts: [{ name: 'a', context: { cluster: 'a', user: 'a' } }],
    'current-context': 'a',
  }
  writeFileSync(file, JSON.stringify(config))
  return file
}

function text(name: string, content: string): string {
  const file = join(alive.folder, name)
  writeFileSync(file, content)
  return file
}

const login = (script: string) => ({
  exec: {
    apiVersion: 'client.authentication.k8s.io/v1',
    command: '/bin/sh',
    args: ['-c', script],
    interactiveMode: 'Never',
  },
})

/** Half a second is its patience, a second what a person may wait; the rest is for a machine that is busy with other tests. */
const longest = 2500

/** `isInstalled`: a process of its own, which ends as well. */
type Place = Setting & { isInstalled?: true }

async function complete(line: string, setting: Place) {
  const run = setting.isInstalled ? installed : kvup
  const { code, stdout, stderr, ms } = await run(['__complete', '--', ...line.split(' ')], setting)
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
  expect(stdout).toMatch(/^:[04]\n$/m)
  expect(ms).toBeLessThan(longest)
  return stdout.split('\n').flatMap((row) => (/^(:|$)/.test(row) ? [] : [row]))
}

const values = async (line: string, setting: Place) =>
  (await complete(line, setting)).map((row) => row.split('\t')[0])

const broken: readonly (readonly [what: string, setting: () => Place])[] = [
  ['no kubeconfig', () => ({})],
  ['a KUBECONFIG that names no file', () => ({ kubeconfig: '/nonexistent/config' })],
  ['a file that is no kubeconfig', () => ({ kubeconfig: text('broken', '{ not: [yaml') })],
  ['a kubeconfig that may not be read', () => ({ kubeconfig: alive.folder })],
  ['a server that refuses', () => ({ kubeconfig: kubeconfig('http://127.0.0.1:1') })],
  [
    'a server that never answers',
    () => ({ kubeconfig: kubeconfig(`http://127.0.0.1:${silentPort}`), isInstalled: true }),
  ],
  ['no TLS where it is expected', () => ({ kubeconfig: kubeconfig(alive.url.replace('http:', 'https:')) })],
  ['a login that fails loudly', () => ({ kubeconfig: kubeconfig(alive.url, login('echo no >&2; exit 1')) })],
  [
    'a login that asks',
    () => ({
      kubeconfig: kubeconfig(alive.url, login('read answer; sleep 4')),
      stdin: 'open',
      isInstalled: true,
    }),
  ],
  ['a KVUP_CONTEXT that there is not', () => ({ ...alive, env: { KVUP_CONTEXT: 'nowhere' } })],
]

describe.each(broken)('%s', (_, setting) => {
  test('costs a moment, and what is known without is offered', async () => {
    expect(await values('upgrade --to ', setting())).toContain('v1.8.4')
    expect(await values('upgrade --to v1.8.4 --until ', setting())).toEqual([])
    expect(await values('status -n ', setting())).toEqual([])
  })
})

test('a user who may see nothing is told nothing of it', async () => {
  expect(await values('--context jane upgrade --to ', alive)).toContain('v1.6.6')
  expect(await values('--context jane upgrade --to v1.8.4 --until ', alive)).toEqual([])
  expect(await values('--context jane status -n ', alive)).toEqual([])
})

test('a broken configuration of kvup still completes', async () => {
  const folder = join(alive.folder, 'xdg', 'kvup')
  mkdirSync(folder, { recursive: true })
  writeFileSync(join(folder, 'config.yaml'), 'output: [json\nnonsense: 1')
  const env = { XDG_CONFIG_HOME: join(alive.folder, 'xdg'), KVUP_TIMEOUT: 'soon' }
  expect((await kvup(['config', 'view'], { ...alive, env })).code).toBe(2)
  expect(await values('stat', { ...alive, env })).toEqual(['status'])
  expect(await values('upgrade --to ', { ...alive, env })).toEqual(['v1.7.4', 'v1.8.4'])
})

/** A page of virtual machines. */
const vms = (more: string | undefined, ...namespaces: string[]) => ({
  apiVersion: 'kubevirt.io/v1',
  kind: 'VirtualMachineList',
  metadata: { resourceVersion: '1', ...(more && { continue: more }) },
  items: namespaces.map((namespace, index) => ({ metadata: { name: `vm${index}`, namespace } })),
})

type Answers = (request: IncomingMessage, url: URL) => object | undefined

const firstPageOnly: Answers = (_, { pathname, searchParams }) =>
  pathname.endsWith('/virtualmachines') && !searchParams.has('continue')
    ? vms('next', 'shop', 'shop', 'staging')
    : undefined

const answering = async (answers: Answers, ask: (setting: Setting) => Promise<void>) => {
  const server = createServer((request: IncomingMessage, response: ServerResponse) => {
    const answer = answers(request, new URL(request.url ?? '/', 'http://a'))
    if (answer) response.setHeader('content-type', 'application/json').end(JSON.stringify(answer))
  })
  const port = await listening(server)
  try {
    await ask({ kubeconfig: kubeconfig(`http://127.0.0.1:${port}`) })
  } finally {
    server.closeAllConnections()
    server.close()
  }
}

describe('a server that says what it likes', () => {
  test('what came before time was over is offered', async () => {
    await answering(firstPageOnly, async (setting) => {
      expect(await values('status -n ', setting)).toEqual(['shop', 'staging'])
    })
  })

  test('only what can be a namespace reaches the shell', async () => {
    const namespaces = [
      '$(touch pwned)',
      '--yes',
      'a\u001b[2J',
      'a\n:0',
      'a;b',
      'A',
      ' ',
      'x'.repeat(64),
      'shop',
    ]
    await answering(
      (_, { pathname }) =>
        pathname.endsWith('/virtualmachines') ? vms(undefined, ...namespaces) : undefined,
      async (setting) => {
        expect(await values('status -n ', setting)).toEqual(['shop'])
      },
    )
  })

  test('nor does its text beside a value', async () => {
    const name = 'kv\u001b]0;owned\u0007\n:0\tx\u202e'
    const version = '1.7.0\n$(touch pwned)'
    const kubevirts = {
      apiVersion: 'kubevirt.io/v1',
      kind: 'KubeVirtList',
      metadata: { resourceVersion: '1' },
      items: [{ metadata: { name, namespace: 'kubevirt' }, status: { observedKubeVirtVersion: version } }],
    }
    await answering(
      () => kubevirts,
      async (setting) => {
        const line = 'rbac kvup-view --namespace-of-kubevirt '
        expect(await complete(line, setting)).toEqual(['kubevirt\tof KubeVirt kv :0 x'])
        expect((await complete('upgrade --to ', setting)).join('\n')).not.toMatch(/touch|pwned/)
      },
    )
  })
})
