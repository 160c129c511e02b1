import { KubeConfig } from '@kubernetes/client-node'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import { clientNodeLogin } from '../../../../src/lib/kube/http/login-methods.ts'
import { compact, presented, readKubeconfig } from '../../../../src/lib/kube/http/kubeconfig.ts'
import { resolveTarget } from '../../../../src/lib/kube/http/target.ts'
import fixture from './presented.json' with { type: 'json' }

const dir = mkdtempSync(join(tmpdir(), 'kvup-presented-'))
afterAll(() => rmSync(dir, { recursive: true }))
const file = (name: string, text: string) => {
  writeFileSync(join(dir, name), text)
  return join(dir, name)
}
for (const name of ['ca.crt', 'me.crt', 'me.key']) file(name, `the text of ${name}`)
file('token', 'of-a-file\n')
file('empty-token', '')
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

const cases = fixture.entries as unknown as [string, Entry][]

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
