import { KubeConfig } from '@kubernetes/client-node'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import { clientNodeLogin } from '../../../../src/lib/kube/http/login-methods.ts'
import { compact, presented, readKubeconfig } from '../../../../src/lib/kube/http/kubeconfig.ts'
import { resolveTarget } from '../../../../src/lib/kube/http/target.ts'

const dir = mkdtempSync(join(tmpdir(), 'kvup-presented-'))
afterAll(() => rmSync(dir, { recursive: true }))
const file = (name: string, text: string) => {
  writeFileSync(join(dir, name), text)
  return join(dir, name)
}
for (const name of ['ca.crt', 'me.crt', 'me.key']) file(name, `the text of ${name}`)
file('token', 'of-a-file\n')
file('empty-token', '')
const base64 = (text: string) => Buffer.from(text).toString('base64')

interface Entry {
  cluster?: object
  user?: object | null
}
const kubeconfig = ({ cluster = {}, user }: Entry) =>
  file(
    'config',
    JSON.stringify({
      'current-context': 'one',
      clusters: [{ name: 'c', cluster: { server: 'https://api:6443', ...cluster } }],
      contexts: [{ name: 'one', context: { cluster: 'c', user: 'u' } }],
      users: [{ name: 'u', user }],
    }),
  )

const certificates = {
  'client-certificate-data': base64('my certificate'),
  'client-key-data': base64('my key'),
}
const cases: [string, Entry][] = [
  ['nothing', { user: {} }],
  ['no user at all', { user: null }],
  ['certificate data', { user: certificates }],
  ['certificate files', { user: { 'client-certificate': 'me.crt', 'client-key': 'me.key' } }],
  [
    'files before data',
    { user: { ...certificates, 'client-certificate': 'me.crt', 'client-key': 'me.key' } },
  ],
  ['a token', { user: { token: 'abc' } }],
  ['a token with a line end', { user: { token: 'abc\n' } }],
  ['a token that is a number', { user: { token: 12345 } }],
  ['a token file', { user: { tokenFile: 'token' } }],
  ['a token file before a token', { user: { tokenFile: 'token', token: 'abc' } }],
  ['an empty token file', { user: { tokenFile: 'empty-token', username: 'me', password: 'pw' } }],
  ['a name and a password', { user: { username: 'me', password: 'pä:w' } }],
  ['a password that is a number', { user: { username: 'me', password: 42 } }],
  ['a token before a password', { user: { username: 'me', password: 'pw', token: 'abc' } }],
  ['a token and a certificate', { user: { ...certificates, token: 'abc' } }],
  ['an authority as data', { cluster: { 'certificate-authority-data': base64('the authority') }, user: {} }],
  ['an authority as a file', { cluster: { 'certificate-authority': 'ca.crt' }, user: {} }],
  ['no verification', { cluster: { 'insecure-skip-tls-verify': true }, user: {} }],
  ['another name', { cluster: { 'tls-server-name': 'kubernetes' }, user: {} }],
  ['plain http', { cluster: { server: 'http://127.0.0.1:8001' }, user: { token: 'abc' } }],
  ['a proxy', { cluster: { 'proxy-url': 'http://near:1' }, user: certificates }],
  ['impersonation', { user: { token: 'abc', as: 'jane', 'as-groups': ['g'] } }],
]

describe('without client-node', () => {
  test.each(cases)('%s is presented as client-node presents it', async (_, entry) => {
    const target = await resolveTarget({ kubeconfig: kubeconfig(entry) }, {})
    expect(presented(target)).toEqual(await (await clientNodeLogin(target))())
  })

  test.each(cases)('%s is read as client-node reads it', async (_what, entry) => {
    const path = kubeconfig(entry)
    const peer = new KubeConfig()
    peer.loadFromFile(path)
    peer.makePathsAbsolute(dirname(path))
    const { clusters, contexts, users, current } = await readKubeconfig(path)
    expect(clusters).toEqual(peer.clusters.map((cluster) => ({ ...compact(cluster), file: path })))
    expect(contexts).toEqual(peer.contexts.map(compact))
    expect(current).toBe(peer.currentContext)
    const { tokenFile, token, password } = (entry.user ?? {}) as {
      tokenFile?: string
      token?: string | number
      password?: string | number
    }
    const [{ login } = { login: undefined }] = users
    const { impersonateUser: _, ...known } = compact(peer.users[0] ?? {}) as Record<string, unknown>
    expect(login).toEqual({
      ...known,
      ...(token !== undefined && { token: String(token) }),
      ...(password !== undefined && { password: String(password) }),
      ...(tokenFile !== undefined && {
        token: undefined,
        authProvider: { name: 'tokenFile', config: { tokenFile: join(dir, tokenFile) } },
      }),
    })
  })

  test.each([
    ['a cluster without a name', { clusters: [{ cluster: { server: 'https://a' } }] }],
    ['a cluster without a body', { clusters: [{ name: 'a' }] }],
    ['a cluster without a server', { clusters: [{ name: 'a', cluster: {} }] }],
    ['a context without a cluster', { contexts: [{ name: 'a', context: { user: 'u' } }] }],
    ['a user without a name', { users: [{ user: {} }] }],
  ])('%s is refused, as client-node refuses it', async (_, content) => {
    const text = JSON.stringify(content)
    expect(() => new KubeConfig().loadFromString(text)).toThrow(/missing/)
    const failed = readKubeconfig(file('wrong', text))
    await expect(failed).rejects.toMatchObject({ exitCode: 2, reason: 'kubeconfig-invalid' })
  })

  test.each(['[a]', 'text', '7'])('%s is refused', async (text) => {
    const failed = readKubeconfig(file('wrong', text))
    await expect(failed).rejects.toMatchObject({ exitCode: 2, reason: 'kubeconfig-invalid' })
  })
})
