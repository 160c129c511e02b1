import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, type Server } from 'node:https'
import { type AddressInfo, connect, createServer as createSocketServer, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TLSSocket } from 'node:tls'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import type { Connection } from '../../../../src/lib/kube/http/target.ts'
import { ConfigMaps } from '../../../../src/lib/kube/kinds/core-kinds.ts'
import { configMapBody, opened } from './tiny-server.ts'

const dir = mkdtempSync(join(tmpdir(), 'kvup-tls-'))
const pki = fileURLToPath(new URL('../../../e2e/lab/pki.mjs', import.meta.url))
const ref = { name: 'x', namespace: 'ns' }
let server: Server
let observed: { who: string | undefined; port: number | undefined; resumed: boolean }[] = []
let url = ''

beforeAll(async () => {
  execFileSync(process.execPath, [pki, dir, 'https://127.0.0.1:1'])
  const read = (name: string) => readFileSync(join(dir, 'pki', name))
  const own = { cert: read('apiserver.crt'), key: read('apiserver.key'), ca: read('ca.crt') }
  const options = { ...own, requestCert: true, rejectUnauthorized: false }
  server = createServer(options, ({ socket, url: path }, response) => {
    const peer = socket as TLSSocket
    const { CN } = (peer.getPeerCertificate() as { subject?: { CN?: string } }).subject ?? {}
    observed.push({ who: CN, port: peer.remotePort, resumed: peer.isSessionReused() })
    response.setHeader('content-type', 'application/json')
    if (path?.endsWith('/never') !== true) response.end(JSON.stringify(configMapBody('x')))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  url = `https://127.0.0.1:${(server.address() as AddressInfo).port}`
})
beforeEach(() => (observed = []))
afterAll(() => {
  server.closeAllConnections()
  server.close()
  rmSync(dir, { recursive: true })
})

const connection = (more: Connection = {}): Connection => ({
  kubeconfig: join(dir, 'kubeconfig'),
  server: url,
  ...more,
})
const find = async (more?: Connection) =>
  (await opened(undefined, { connection: connection(more) })).cluster.reader.get(ConfigMaps, ref)

describe('over TLS', () => {
  test('we show our certificate, and the server must show one that our authority has signed', async () => {
    expect((await find()).is).toBe('object')
    expect(observed).toMatchObject([{ who: 'lab-admin' }])
  })

  test('one connection serves one request after the other', async () => {
    const { cluster } = await opened(undefined, { connection: connection() })
    for (let i = 0; i < 3; i++) await cluster.reader.get(ConfigMaps, ref)
    expect(new Set(observed.map(({ port }) => port)).size).toBe(1)
  })

  test('several at once have a connection each, and only the first a whole handshake', async () => {
    const { cluster } = await opened(undefined, { connection: connection() })
    await cluster.reader.get(ConfigMaps, ref)
    await Promise.all([1, 2, 3].map(() => cluster.reader.get(ConfigMaps, ref)))
    expect(new Set(observed.map(({ port }) => port)).size).toBe(3)
    expect(observed.filter(({ resumed }) => resumed)).toHaveLength(2)
    expect(new Set(observed.map(({ who }) => who))).toEqual(new Set(['lab-admin']))
  })

  test('a server that nobody vouches for is refused, with what helps', async () => {
    const certificateAuthority = join(dir, 'pki/front-proxy-ca.crt')
    const failed = find({ certificateAuthority })
    await expect(failed).rejects.toMatchObject({
      exitCode: 8,
      remedy: expect.arrayContaining([expect.stringContaining('--certificate-authority')]) as string[],
    })
    expect(observed).toEqual([])
  })

  test('without an authority of its own this machine decides, and does not know ours', async () => {
    const file = JSON.parse(readFileSync(join(dir, 'kubeconfig'), 'utf8')) as {
      clusters: { cluster: object }[]
    }
    expect(file.clusters[0]?.cluster).toHaveProperty('certificate-authority-data')
    const { cluster } = await opened(url)
    await expect(cluster.reader.version()).rejects.toMatchObject({ exitCode: 8 })
  })

  test('a name that is not in the certificate is refused, one that is there is taken', async () => {
    await expect(find({ tlsServerName: 'other.example' })).rejects.toMatchObject({ exitCode: 8 })
    expect((await find({ tlsServerName: 'kubernetes.default.svc' })).is).toBe('object')
  })

  test('--insecure-skip-tls-verify takes whatever comes', async () => {
    const { cluster } = await opened(url, { connection: { insecureSkipTlsVerify: true } })
    await cluster.reader.get(ConfigMaps, ref)
    expect(observed).toMatchObject([{ who: undefined }])
  })

  test('a server that says nothing is given up when the time is over', async () => {
    const { cluster } = await opened(undefined, { connection: connection({ requestTimeout: '100ms' }) })
    const failed = cluster.reader.get(ConfigMaps, { name: 'never', namespace: 'ns' })
    await expect(failed).rejects.toThrow(/no answer within 0.1 s/)
  })
})

/** Tells what it was asked for by a SOCKS proxy: version, user and password, and the place that it leads to. */
async function socksProxy(asked: unknown[]) {
  const proxy = createSocketServer((client) => void serveSocks(client, asked).catch(() => client.destroy()))
  await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve))
  return { port: (proxy.address() as AddressInfo).port, close: () => proxy.close() }
}

async function serveSocks(client: Socket, asked: unknown[]): Promise<void> {
  const next = () => new Promise<Buffer>((resolve) => client.once('data', resolve))
  const hello = await next()
  let request = hello
  let user: string | undefined
  if (hello[0] === 5) {
    const wantsUser = hello.subarray(2).includes(2)
    client.write(Buffer.from([5, wantsUser ? 2 : 0]))
    if (wantsUser) {
      const said = await next()
      const end = 2 + (said[1] ?? 0)
      user = `${said.subarray(2, end).toString()}:${said.subarray(end + 1).toString()}`
      client.write(Buffer.from([1, 0]))
    }
    request = await next()
  }
  // Of an address of four bytes: of SOCKS 5 in front of the port, of SOCKS 4 behind it.
  const [ip, at] =
    hello[0] === 5
      ? [request.subarray(4, 8), request.readUInt16BE(8)]
      : [request.subarray(4, 8), request.readUInt16BE(2)]
  asked.push([hello[0], user, [...ip].join('.'), at])
  const onward = connect(at, [...ip].join('.'), () => {
    client.write(
      hello[0] === 5 ? Buffer.from([5, 0, 0, 1, 0, 0, 0, 0, 0, 0]) : Buffer.from([0, 90, 0, 0, 0, 0, 0, 0]),
    )
    client.pipe(onward).pipe(client)
  })
  onward.on('error', () => client.destroy())
}

describe('through a SOCKS proxy', () => {
  test.each([
    ['socks5://', 5, undefined],
    ['socks5h://jane:p%40ss@', 5, 'jane:p@ss'],
    ['socks4://', 4, undefined],
  ])('%s: certificates are shown and judged as without', async (scheme, version, user) => {
    const asked: unknown[] = []
    const proxy = await socksProxy(asked)
    try {
      const own = JSON.parse(readFileSync(join(dir, 'kubeconfig'), 'utf8')) as {
        clusters: { cluster: object }[]
      }
      for (const { cluster } of own.clusters)
        Object.assign(cluster, { 'proxy-url': `${scheme}127.0.0.1:${proxy.port}` })
      const kubeconfig = join(dir, `through-${version}-${user !== undefined}`)
      writeFileSync(kubeconfig, JSON.stringify(own))
      expect((await find({ kubeconfig })).is).toBe('object')
      expect((await find({ kubeconfig, tlsServerName: 'kubernetes.default.svc' })).is).toBe('object')
      expect(observed.map(({ who }) => who)).toEqual(['lab-admin', 'lab-admin'])
      expect(asked[0]).toEqual([version, user, '127.0.0.1', Number(new URL(url).port)])
      await expect(find({ kubeconfig, tlsServerName: 'other.example' })).rejects.toMatchObject({
        exitCode: 8,
      })
    } finally {
      proxy.close()
    }
  })
})
