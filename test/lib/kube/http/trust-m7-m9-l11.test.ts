import { mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { type Connection, describeConnection } from '../../../../src/lib/kube/http/target.ts'
import { redactBody } from '../../../../src/lib/kube/http/trace.ts'
import { ConfigMaps } from '../../../../src/lib/kube/kinds/core-kinds.ts'
import { shellWord } from '../../../../src/lib/kube/shell-line.ts'
import { opened } from './tiny-server.ts'

const kubeconfig = (cluster: object) => {
  const file = join(mkdtempSync(join(tmpdir(), 'kvup-trust-')), 'config')
  writeFileSync(
    file,
    JSON.stringify({
      clusters: [{ name: 'c', cluster }],
      contexts: [{ name: 'x', context: { cluster: 'c', user: 'u' } }],
      users: [{ name: 'u', user: { token: 'abc' } }],
      'current-context': 'x',
    }),
  )
  return { kubeconfig: file }
}

const variable = (name: string, value: string) => ({ spec: { containers: [{ env: [{ name, value }] }] } })
const applied = (inner: object) => ({
  metadata: {
    annotations: { 'kubectl.kubernetes.io/last-applied-configuration': JSON.stringify(inner) },
  },
})

const said = async (connection: Connection) => {
  const lines: string[] = []
  await opened(undefined, { connection, warn: (text) => lines.push(text) })
  return lines
}
/** What is said of a failure, wherever it is said. */
async function toldOf(connection: Connection, env: Record<string, string> = {}): Promise<string> {
  try {
    const { cluster } = await opened(undefined, { connection, env })
    await cluster.reader.get(ConfigMaps, { name: 'a', namespace: 'ns' })
  } catch (error) {
    const { message, notes, remedy } = error as { message: string; notes?: unknown; remedy?: unknown }
    return JSON.stringify({ message, notes, remedy })
  }
  throw new Error('it did not fail')
}

describe('trust M7: no password of a proxy or a server is printed', () => {
  const away = 'https://10.9.9.9:6443'
  test.each([
    ['HTTPS_PROXY', { server: away }, { HTTPS_PROXY: 'http://user:sekret@127.0.0.1:1' }],
    ['HTTPS_PROXY with an @ in it', { server: away }, { HTTPS_PROXY: 'http://user:x@sekret@127.0.0.1:1' }],
    ['HTTPS_PROXY without a scheme', { server: away }, { HTTPS_PROXY: 'user:sekret@127.0.0.1:1' }],
    ['proxy-url', kubeconfig({ server: away, 'proxy-url': 'http://user:sekret@127.0.0.1:1' }), {}],
    ['server', kubeconfig({ server: 'https://u:sekret@127.0.0.1:1' }), {}],
    ['--server', { server: 'http://u:sekret@127.0.0.1:1' }, {}],
    ['a server that is no address', { server: 'https://u:sek/sekret@127.0.0.1:1' }, {}],
    ['a server in the clear', { server: 'http://u:sekret@10.9.9.9:1' }, {}],
  ])('%s', async (_, connection, env) => {
    const told = await toldOf(connection, env)
    expect(told).not.toContain('sekret')
    expect(told).toContain('<redacted>@')
  })

  test('nor where a command is printed again, nor where the address itself is told', async () => {
    expect(shellWord('https://u:p@sekret@h:6443')).toBe("'https://<redacted>@h:6443'")
    expect(await describeConnection(kubeconfig({ server: 'https://u:sekret@h:1' }), {})).toMatchObject({
      server: 'https://<redacted>@h:1',
    })
  })

  test('the server itself is asked with it', async () => {
    const { tinyServer, reply, configMapBody } = await import('./tiny-server.ts')
    const server = await tinyServer((_, response) => reply(response, 200, configMapBody('a')))
    const { cluster } = await opened(server.url.replace('//', '//u:sekret@'))
    await cluster.reader.get(ConfigMaps, { name: 'a', namespace: 'ns' })
    await server.close()
    expect(server.asked[0]?.headers.authorization).toBe(`Basic ${Buffer.from('u:sekret').toString('base64')}`)
  })
})

describe('trust M9: -v 9 shows no secret', () => {
  const s = 'c2Vr-cmV0'
  const basic = `Basic ${Buffer.from('me:sekret').toString('base64')}`
  test.each<[string, object]>([
    ['an environment variable', variable('DB_PASSWORD', s)],
    ['one that is called otherwise', variable('PGPASS', s)],
    ['a token', variable('GITHUB_TOKEN_2', s)],
    ['HTTPS_PROXY with a password', variable('HTTPS_PROXY', `http://u:${s}@proxy:3128`)],
    ['an address in any value', { data: { any: `see https://u:${s}@host/path` } }],
    ['an address whose password has an @', { data: { any: `https://u:p@${s}@host/path` } }],
    ['Basic', { data: { header: `Authorization: ${basic}` } }],
    ['apiKey', { apiKey: s }],
    ['api_key', { deep: { api_key: s } }],
    ['passwd', { passwd: s }],
    ['access_token', { access_token: s }],
    ['accessKey', { accessKey: s, access_key: s, 'access-key-id': s }],
    ['credentials', { credentials: { any: s } }],
    ['what kubectl applied', applied(variable('DB_PASSWORD', s))],
    ['the same in YAML', { data: { pod: `env:\n- name: DB_PASSWORD\n  value: ${s}\n` } }],
    ['a file of settings', { data: { settings: `API_KEY=${s}\napiKey: ${s}\n"passwd": "${s}"` } }],
  ])('%s', (_, body) => {
    const shown = redactBody(JSON.stringify(body), '/api/v1/pods')
    expect(shown).not.toContain(s)
    expect(shown).not.toContain(basic.slice(6))
    expect(shown).toContain('<redacted>')
  })

  test('and leaves what is none', () => {
    const body = {
      ...variable('LOG_LEVEL', '2'),
      message: 'Basic authentication is off; see https://host/a@b, passwords: none at /x',
      more: ['https://[::1]:6443/api', 'mail me@host'],
    }
    const { message: _, ...shown } = JSON.parse(redactBody(JSON.stringify(body), '/api')) as typeof body
    const { message: __, ...rest } = body
    expect(shown).toEqual(rest)
    expect(redactBody('"Basic authentication is off, https://host/a@b"', '/')).toContain(
      'off, https://host/a@b',
    )
  })
})

describe('trust L11: a token in the clear is said', () => {
  const trusting = { insecureSkipTlsVerify: true }

  test('of a server elsewhere', async () => {
    const lines = await said({ ...kubeconfig({ server: 'http://u:pw@10.9.9.9:8080' }), ...trusting })
    expect(lines).toEqual([
      'http://<redacted>@10.9.9.9:8080 is not https: the credentials of u and all requests and answers are sent unencrypted',
    ])
  })
  test.each(['http://127.0.0.1:8001', 'http://localhost:8001', 'https://10.9.9.9:6443'])(
    'and not of %s',
    async (server) => expect(await said({ ...kubeconfig({ server }), ...trusting })).toEqual([]),
  )
})
