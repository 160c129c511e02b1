import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import type { IncomingHttpHeaders, ServerResponse } from 'node:http'
import { createServer, type Server } from 'node:https'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import type { RouteAnswer, RouteCall } from '../../../../src/lib/kube/cluster.ts'
import type { Connection } from '../../../../src/lib/kube/http/target.ts'
import { opened } from './tiny-server.ts'

const dir = mkdtempSync(join(tmpdir(), 'kvup-route-'))
const pki = fileURLToPath(new URL('../../../e2e/lab/pki.mjs', import.meta.url))
const read = (name: string) => readFileSync(join(dir, 'pki', name), 'utf8')

let server: Server
let port = 0
let observed: { url: string | undefined; headers: IncomingHttpHeaders }[] = []
let answer: (response: ServerResponse) => void

beforeAll(async () => {
  execFileSync(process.execPath, [pki, dir, 'https://127.0.0.1:1'])
  server = createServer({ cert: read('apiserver.crt'), key: read('apiserver.key') }, (asked, response) => {
    observed.push({ url: asked.url, headers: asked.headers })
    answer(response)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  port = (server.address() as AddressInfo).port
})
beforeEach(() => {
  observed = []
  answer = (response) => response.setHeader('content-type', 'application/json').end('{"data":{"alerts":[]}}')
})
afterAll(() => {
  server.closeAllConnections()
  server.close()
  rmSync(dir, { recursive: true })
})

const withToken = { token: 'mine' }

interface Login {
  user?: object
  /** In the kubeconfig, of the API server. */
  cluster?: object
  flags?: Connection
}

/** By an authority of its own, which is that of the call unless it is said otherwise. */
async function ask(
  { user = withToken, cluster: api = {}, flags = {} }: Login = {},
  call: Partial<RouteCall> = {},
): Promise<RouteAnswer> {
  const kubeconfig = join(dir, 'config')
  const config = {
    'current-context': 'x',
    contexts: [{ name: 'x', context: { cluster: 'x', user: 'x' } }],
    clusters: [{ name: 'x', cluster: { server: 'https://127.0.0.1:1', ...api } }],
    users: [{ name: 'x', user }],
  }
  writeFileSync(kubeconfig, JSON.stringify(config))
  const { cluster } = await opened(undefined, { connection: { kubeconfig, ...flags } })
  const whole = { host: '127.0.0.1', port, path: '/api/v1/alerts', authorities: [read('ca.crt')], ...call }
  const found = await cluster.reader.askRoute?.(whole)
  if (found === undefined) throw new Error('there is nobody to ask')
  return found
}

test('the token of this user goes to who is verified, by one GET, and nothing else of the login does', async () => {
  expect(await ask()).toEqual({ text: '{"data":{"alerts":[]}}' })
  expect(observed.map(({ url, headers }) => [url, headers.authorization])).toEqual([
    ['/api/v1/alerts', 'Bearer mine'],
  ])
  expect(Object.keys(observed[0]?.headers ?? {}).filter((name) => name.startsWith('impersonate'))).toEqual([])
})

test.each([
  ['as a file', () => ({ 'certificate-authority': join(dir, 'pki', 'ca.crt') })],
  ['in itself', () => ({ 'certificate-authority-data': Buffer.from(read('ca.crt')).toString('base64') })],
])('the authority that the kubeconfig has %s vouches for it too', async (_, cluster) => {
  expect(await ask({ cluster: cluster() }, { authorities: [] })).toHaveProperty('text')
})

test('who is not verified is sent nothing', async () => {
  expect(await ask({}, { authorities: [] })).toHaveProperty('why')
  expect(observed).toEqual([])
})

test('an authority that is no certificate, and a token that is none, are an answer', async () => {
  expect(await ask({}, { authorities: [5 as never] })).toMatchObject({
    why: expect.stringContaining('ca') as string,
  })
  expect(await ask({ user: { token: 'mi\ne' } })).toHaveProperty('why')
  expect(observed).toEqual([])
})

test('with insecure-skip-tls-verify nothing is asked, be it verified or not', async () => {
  const skipped = { why: expect.stringContaining('insecure-skip-tls-verify') as string }
  expect(await ask({ flags: { insecureSkipTlsVerify: true } })).toMatchObject(skipped)
  expect(await ask({ cluster: { 'insecure-skip-tls-verify': true } })).toMatchObject(skipped)
  expect(observed).toEqual([])
})

test('a login without a token, and one that impersonates, ask nothing and say so', async () => {
  const password = { username: 'me', password: 'secret' }
  expect(await ask({ user: password })).toMatchObject({ why: expect.stringContaining('no token') as string })
  expect(await ask({ user: {} })).toMatchObject({ why: expect.stringContaining('no token') as string })
  expect(await ask({ flags: { as: 'somebody' } })).toMatchObject({
    why: expect.stringContaining('somebody, who is impersonated') as string,
  })
  expect(observed).toEqual([])
})

const answers: readonly (readonly [what: string, why: RegExp, answer: (response: ServerResponse) => void])[] =
  [
    [
      'a redirect is not followed',
      /redirects \(302\), which kvup does not follow/u,
      (response) => response.writeHead(302, { location: `https://127.0.0.1:${port}/elsewhere` }).end(),
    ],
    [
      'a page is no answer',
      /the Route answered HTML/u,
      (response) => response.writeHead(200, { 'content-type': 'text/html' }).end('<html></html>'),
    ],
    ['who may not read alerts is told so', /answers 403/u, (response) => response.writeHead(403).end()],
    ['what is away is said', /answers 503/u, (response) => response.writeHead(503).end()],
    [
      'an answer without an end is cut',
      /more than 4 MiB/u,
      (response) => {
        response.writeHead(200, { 'content-type': 'application/json' })
        const more = () => response.write(Buffer.alloc(1024 * 1024, 0x20), (error) => error ?? more())
        more()
      },
    ],
  ]

test.each(answers)('%s', async (_, why, one) => {
  answer = one
  expect(await ask()).toMatchObject({ why: expect.stringMatching(why) as string })
  expect(observed.length).toBe(1)
})

test('one that never answers is waited for five seconds', async () => {
  answer = () => undefined
  expect(await ask()).toEqual({ why: 'the Route did not answer within 5 s' })
}, 15_000)
