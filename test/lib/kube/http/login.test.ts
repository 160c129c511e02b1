import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, describe, expect, test } from 'vitest'
import { ConfigMaps } from '../../../../src/lib/kube/kinds/core-kinds.ts'
import {
  type Asked,
  configMapBody,
  opened,
  refuse,
  reply,
  tinyServer,
  type TinyServer,
} from './tiny-server.ts'

const dir = mkdtempSync(join(tmpdir(), 'kvup-login-'))
afterAll(() => rmSync(dir, { recursive: true }))
let server: TinyServer | undefined
afterEach(() => server?.close())

const file = (name: string, text: string) => {
  writeFileSync(join(dir, name), text)
  return join(dir, name)
}
const kubeconfig = (url: string, user: object, name = 'config') =>
  file(
    name,
    JSON.stringify({
      'current-context': 'one',
      clusters: [{ name: 'c', cluster: { server: url } }],
      contexts: [{ name: 'one', context: { cluster: 'c', user: 'u' } }],
      users: [{ name: 'u', user }],
    }),
  )
const through = async (path: string) =>
  (await opened(undefined, { connection: { kubeconfig: path } })).cluster
const accepting = async (token: string | (() => string)) =>
  (server = await tinyServer(({ headers }, response) => {
    const right = typeof token === 'string' ? token : token()
    if (headers.authorization === `Bearer ${right}`) reply(response, 200, configMapBody('x'))
    else refuse(response, 401, 'Unauthorized')
  }))
const bearers = (asked: Asked[]) => asked.map(({ headers }) => headers.authorization?.replace('Bearer ', ''))
const impersonated = (asked: Asked | undefined) =>
  (asked?.rawHeaders ?? []).flatMap((name, i, all) =>
    i % 2 === 0 && name.toLowerCase().startsWith('impersonate')
      ? [`${name.toLowerCase()}: ${all[i + 1]}`]
      : [],
  )
const ref = { name: 'x', namespace: 'ns' }

const part = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url')

describe('credentials', () => {
  test('a token of the kubeconfig', async () => {
    const { url } = await accepting('abc')
    const cluster = await through(kubeconfig(url, { token: 'abc' }))
    expect((await cluster.reader.get(ConfigMaps, ref)).is).toBe('object')
  })

  test('are read again after 401, once: a new login in the kubeconfig is taken up', async () => {
    const { url, asked } = await accepting('new')
    const cluster = await through(kubeconfig(url, { token: 'old' }))
    kubeconfig(url, { token: 'new' })
    expect((await cluster.reader.get(ConfigMaps, ref)).is).toBe('object')
    expect(bearers(asked)).toEqual(['old', 'new'])
  })

  test('a write is repeated after 401 too: the server did not act', async () => {
    const { url, asked } = await accepting('new')
    const cluster = await through(kubeconfig(url, { token: 'old' }))
    kubeconfig(url, { token: 'new' })
    await cluster.writer.mergePatch(ConfigMaps, ref, { data: { a: '1' } })
    expect(asked).toHaveLength(2)
  })

  test('that stay refused are ApiError 401', async () => {
    const { url, asked } = await accepting('other')
    const cluster = await through(kubeconfig(url, { token: 'old' }))
    const failed = cluster.reader.get(ConfigMaps, ref)
    await expect(failed).rejects.toMatchObject({ status: 401, exitCode: 7, reason: 'unauthorized' })
    expect(asked).toHaveLength(2)
  })

  test('never come from another context, whatever became the current one', async () => {
    const { url, asked } = await accepting('new')
    const cluster = await through(kubeconfig(url, { token: 'old' }))
    file(
      'config',
      JSON.stringify({
        'current-context': 'two',
        clusters: [{ name: 'c', cluster: { server: url } }],
        contexts: [
          { name: 'two', context: { cluster: 'c', user: 'w' } },
          { name: 'one', context: { cluster: 'c', user: 'u' } },
        ],
        users: [
          { name: 'w', user: { token: 'wrong' } },
          { name: 'u', user: { token: 'new' } },
        ],
      }),
    )
    await cluster.reader.get(ConfigMaps, ref)
    expect(bearers(asked)).toEqual(['old', 'new'])
  })

  test('a token file, relative to the kubeconfig, is read again when it changed', async () => {
    file('token', 'first\n')
    let right = 'first'
    const { url, asked } = await accepting(() => right)
    const cluster = await through(kubeconfig(url, { tokenFile: 'token', token: 'ignored' }))
    await cluster.reader.get(ConfigMaps, ref)
    file('token', 'second\n')
    right = 'second'
    await cluster.reader.get(ConfigMaps, ref)
    expect(bearers(asked)).toEqual(['first', 'first', 'second'])
  })

  test('--token-file goes before what the kubeconfig says', async () => {
    const { url } = await accepting('mine')
    const connection = { kubeconfig: kubeconfig(url, { token: 'abc' }), tokenFile: file('mine', 'mine') }
    const { cluster } = await opened(undefined, { connection })
    expect((await cluster.reader.get(ConfigMaps, ref)).is).toBe('object')
  })

  test('manner 11: a plug-in is run, told the cluster, and run again when its token is refused', async () => {
    file(
      'plugin.mjs',
      `import { appendFileSync, readFileSync } from 'node:fs'
       const told = JSON.parse(process.env.KUBERNETES_EXEC_INFO)
       appendFileSync(${JSON.stringify(join(dir, 'runs'))}, told.spec.cluster.server + '\\n')
       const runs = readFileSync(${JSON.stringify(join(dir, 'runs'))}, 'utf8').trim().split('\\n').length
       console.log(JSON.stringify({ kind: 'ExecCredential', status: { token: process.env.PREFIX + runs } }))`,
    )
    const exec = {
      apiVersion: 'client.authentication.k8s.io/v1',
      command: process.execPath,
      args: [join(dir, 'plugin.mjs')],
      env: [{ name: 'PREFIX', value: 't' }],
      provideClusterInfo: true,
    }
    const { url, asked } = await accepting('t2')
    const cluster = await through(kubeconfig(url, { exec }))
    await cluster.reader.get(ConfigMaps, ref)
    await cluster.reader.get(ConfigMaps, ref)
    expect(bearers(asked)).toEqual(['t1', 't2', 't2'])
  })

  test('a kubeconfig that is gone when it is read again does not hide the 401', async () => {
    const { url } = await accepting('new')
    const path = kubeconfig(url, { token: 'old' }, 'soon-gone')
    const cluster = await through(path)
    rmSync(path)
    await expect(cluster.reader.get(ConfigMaps, ref)).rejects.toMatchObject({ status: 401 })
  })

  test('an OIDC token that is still good', async () => {
    const token = `${part({ alg: 'none' })}.${part({ exp: 4_000_000_000 })}.signature`
    const { url } = await accepting(token)
    const user = { 'auth-provider': { name: 'oidc', config: { 'id-token': token } } }
    const cluster = await through(kubeconfig(url, user))
    expect((await cluster.reader.get(ConfigMaps, ref)).is).toBe('object')
  })

  test('a name and a password', async () => {
    const wanted = `Basic ${Buffer.from('me:pw').toString('base64')}`
    server = await tinyServer(({ headers }, response) =>
      headers.authorization === wanted
        ? reply(response, 200, configMapBody('x'))
        : refuse(response, 401, 'Unauthorized'),
    )
    const path = kubeconfig(server.url, { username: 'me', password: 'pw' })
    const cluster = await through(path)
    expect((await cluster.reader.get(ConfigMaps, ref)).is).toBe('object')
  })

  test('are asked for through the proxy of the cluster', async () => {
    const { url, asked } = await accepting('abc')
    const path = kubeconfig('http://api.example.invalid', { token: 'abc' })
    const text = readFileSync(path, 'utf8').replace(
      '"server"',
      `"proxy-url":"${url}","insecure-skip-tls-verify":true,"server"`,
    )
    const cluster = await through(file('proxied', text))
    expect((await cluster.reader.get(ConfigMaps, ref)).is).toBe('object')
    expect(asked[0]?.headers.host).toBe('api.example.invalid')
  })

  test('a plug-in that is not installed is named, with its own hint', async () => {
    const exec = { command: 'no-such-plugin', installHint: 'brew install it' }
    const cluster = await through(kubeconfig('http://127.0.0.1:1', { exec }))
    const failed = cluster.reader.version()
    await expect(failed).rejects.toMatchObject({ exitCode: 2, remedy: ['brew install it'] })
    await expect(failed).rejects.toThrow(/no-such-plugin/)
  })

  test('a plug-in that fails says why, exit 7', async () => {
    const exec = {
      command: process.execPath,
      args: ['-e', 'console.error("session expired"); process.exit(1)'],
    }
    const path = kubeconfig('http://127.0.0.1:1', { exec })
    const cluster = await through(path)
    const failed = cluster.reader.version()
    await expect(failed).rejects.toMatchObject({ exitCode: 7, status: 401, reason: 'unauthorized' })
    await expect(failed).rejects.toThrow(/session expired/)
  })

  test('a certificate file that is missing is named, exit 2', async () => {
    const path = kubeconfig('http://127.0.0.1:1', {})
    const connection = { kubeconfig: path, clientCertificate: join(dir, 'no.crt') }
    const { cluster } = await opened(undefined, { connection })
    const failed = cluster.reader.version()
    await expect(failed).rejects.toMatchObject({ exitCode: 2, reason: 'file-missing' })
    await expect(failed).rejects.toThrow(/no\.crt/)
  })
})

const answering = async () =>
  (server = await tinyServer((_, response) => reply(response, 200, configMapBody('x'))))

describe('impersonation', () => {
  test('by flags: each group in a header of its own', async () => {
    const { url, asked } = await answering()
    const connection = { as: 'jane', asGroup: ['a', 'b,c'], asUid: '42' }
    await (await opened(url, { connection })).cluster.reader.get(ConfigMaps, ref)
    expect(impersonated(asked[0])).toEqual([
      'impersonate-user: jane',
      'impersonate-group: a',
      'impersonate-group: b,c',
      'impersonate-uid: 42',
    ])
  })

  test('by the kubeconfig', async () => {
    const { url, asked } = await answering()
    const user = { as: 'jane', 'as-groups': ['a'], 'as-user-extra': { 'Reason/x': ['night'] } }
    const path = kubeconfig(url, user)
    await (await opened(undefined, { connection: { kubeconfig: path } })).cluster.reader.get(ConfigMaps, ref)
    expect(impersonated(asked[0])).toEqual([
      'impersonate-user: jane',
      'impersonate-group: a',
      'impersonate-extra-reason%2fx: night',
    ])
  })

  test('of groups alone is refused', async () => {
    await expect(opened('http://127.0.0.1:1', { connection: { asGroup: ['a'] } })).rejects.toMatchObject({
      exitCode: 2,
    })
  })
})
