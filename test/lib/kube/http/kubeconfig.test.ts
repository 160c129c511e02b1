import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import { type Connection, describeConnection, resolveTarget } from '../../../../src/lib/kube/http/target.ts'
import { loadKubeconfig } from '../../../../src/lib/kube/http/kubeconfig.ts'
import { KvupError } from '../../../../src/lib/kube/errors.ts'

const home = mkdtempSync(join(tmpdir(), 'kvup-kubeconfig-'))
afterAll(() => rmSync(home, { recursive: true }))

const config = (name: string, more: object = {}) => ({
  apiVersion: 'v1',
  kind: 'Config',
  'current-context': name,
  clusters: [{ name, cluster: { server: `https://${name}:6443/`, 'certificate-authority': 'ca.crt' } }],
  contexts: [{ name, context: { cluster: name, user: name, namespace: `${name}-ns` } }],
  users: [{ name, user: { token: `token-of-${name}` } }],
  ...more,
})
const write = (file: string, content: object | string) => {
  const path = join(home, file)
  writeFileSync(path, typeof content === 'string' ? content : JSON.stringify(content))
  return path
}
const a = write('a', config('a'))
const b = write('b', {
  ...config('b'),
  users: [...config('b').users, { name: 'a', user: { token: 'not-this' } }],
})
const failure = async (connection: Connection, env = {}): Promise<KvupError> => {
  try {
    await resolveTarget(connection, env)
  } catch (error) {
    if (error instanceof KvupError) return error
  }
  throw new Error('expected a KvupError')
}

describe('which kubeconfig', () => {
  test('--kubeconfig before KUBECONFIG before ~/.kube/config', async () => {
    mkdirSync(join(home, '.kube'))
    write('.kube/config', config('home'))
    const env = { HOME: home, KUBECONFIG: b }
    expect((await describeConnection({ kubeconfig: a }, env)).context).toBe('a')
    expect((await describeConnection({}, env)).context).toBe('b')
    expect((await describeConnection({}, { HOME: home })).context).toBe('home')
  })

  test('several in KUBECONFIG: what comes first wins, a file that is not there is passed over', async () => {
    const env = { KUBECONFIG: [join(home, 'nowhere'), a, b].join(delimiter) }
    expect((await loadKubeconfig({}, env)).contexts.map(({ name }) => name)).toEqual(['a', 'b'])
    expect(await describeConnection({}, env)).toEqual({
      server: 'https://a:6443',
      context: 'a',
      namespace: 'a-ns',
      user: 'a',
    })
    expect((await resolveTarget({}, env)).login.token).toBe('token-of-a')
    expect((await describeConnection({ context: 'b' }, env)).server).toBe('https://b:6443')
  })

  test('files in it are beside it', async () => {
    expect((await resolveTarget({ kubeconfig: a }, {})).cluster.caFile).toBe(join(home, 'ca.crt'))
  })

  test('a missing file is exit 2 and named', async () => {
    const nowhere = join(home, 'nowhere')
    for (const error of [
      await failure({ kubeconfig: nowhere }),
      await failure({}, { KUBECONFIG: nowhere }),
    ]) {
      expect(error.exitCode).toBe(2)
      expect(error.message).toContain(nowhere)
    }
  })

  test('what is no kubeconfig is exit 2', async () => {
    const error = await failure({ kubeconfig: write('broken', 'clusters:\n- name: [') })
    expect(error).toMatchObject({ exitCode: 2, reason: 'kubeconfig-invalid' })
    const serverless = write('no-server', { clusters: [{ name: 'x', cluster: {} }] })
    expect((await failure({ kubeconfig: serverless })).exitCode).toBe(2)
  })

  test('none at all is exit 2: running it again finds none either', async () => {
    expect(await failure({}, { HOME: join(home, 'empty') })).toMatchObject({
      exitCode: 2,
      reason: 'no-cluster',
    })
  })

  test('one without a cluster, an empty one too, is exit 2 and named: another file is to be given', async () => {
    for (const empty of [
      write('blank', ''),
      write('empty-config', { clusters: [], contexts: [], users: [] }),
    ]) {
      const error = await failure({ kubeconfig: empty })
      expect(error).toMatchObject({ exitCode: 2, reason: 'no-cluster' })
      expect(error.message).toBe(`there is no cluster in the kubeconfig ${empty}`)
    }
    const aimless = write('no-current-context', {
      clusters: [{ name: 'x', cluster: { server: 'https://x:6443' } }],
    })
    const error = await failure({}, { KUBECONFIG: aimless })
    expect(error).toMatchObject({ exitCode: 2, reason: 'no-cluster' })
    expect(error.message).toContain(`${aimless} has no current context`)
  })
})

describe('flags', () => {
  const env = { KUBECONFIG: [a, b].join(delimiter) }

  test.each(['context', 'cluster', 'user'] as const)(
    'an unknown --%s is exit 2 and names those there are',
    async (flag) => {
      const error = await failure({ [flag]: 'typo' }, env)
      expect(error.exitCode).toBe(2)
      expect(error.message).toContain('"typo"; it has: a, b')
    },
  )

  test('--cluster and --user change their half of the context', async () => {
    const target = await resolveTarget({ cluster: 'b', user: 'b' }, env)
    expect(target).toMatchObject({
      context: 'a',
      namespace: 'a-ns',
      cluster: { name: 'b' },
      login: { name: 'b' },
    })
  })

  test('--server and the TLS flags are laid over the cluster', async () => {
    const flags = {
      server: 'https://other:1',
      certificateAuthority: '/my/ca.crt',
      tlsServerName: 'kubernetes',
      insecureSkipTlsVerify: true,
      clientCertificate: '/my/crt',
      clientKey: '/my/key',
    }
    const { cluster, login } = await resolveTarget(flags, env)
    expect(cluster).toMatchObject({
      server: 'https://other:1',
      caFile: '/my/ca.crt',
      tlsServerName: 'kubernetes',
      skipTLSVerify: true,
    })
    expect(login).toMatchObject({ certFile: '/my/crt', keyFile: '/my/key', token: 'token-of-a' })
  })

  test('plain http is for this machine alone', async () => {
    expect((await resolveTarget({ server: 'http://127.0.0.1:8001' }, {})).cluster.server).toBe(
      'http://127.0.0.1:8001',
    )
    expect(await failure({ server: 'http://api.example.com' })).toMatchObject({
      exitCode: 2,
      reason: 'server-not-https',
    })
    expect(await failure({ server: 'nonsense' })).toMatchObject({ exitCode: 2, reason: 'server-invalid' })
  })

  test("the cluster's proxy-url goes before the environment's", async () => {
    const proxied = config('p', {
      clusters: [{ name: 'p', cluster: { server: 'https://p:6443', 'proxy-url': 'http://near:1' } }],
    })
    const all = { HTTPS_PROXY: 'http://far:1' }
    expect((await resolveTarget({ kubeconfig: write('p', proxied) }, all)).cluster.proxyUrl).toBe(
      'http://near:1',
    )
    expect((await resolveTarget({ kubeconfig: a }, all)).cluster.proxyUrl).toBe('http://far:1')
    expect(
      (await resolveTarget({ kubeconfig: a }, { ...all, NO_PROXY: 'a' })).cluster.proxyUrl,
    ).toBeUndefined()
  })
})
