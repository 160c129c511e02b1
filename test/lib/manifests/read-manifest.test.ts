import { createHash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { createServer, type IncomingMessage, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Duplex } from 'node:stream'
import { afterEach, describe, expect, test } from 'vitest'
import { settingDefault } from '../../../src/settings.ts'
import {
  manifestSource,
  originOf,
  publicReleases,
  readManifest,
} from '../../../src/lib/manifests/manifest-source.ts'
import { exampleFile, exampleText } from './example.ts'
import fixture from './read-manifest.json' with { type: 'json' }

const sum = createHash('sha256').update(exampleText).digest('hex')
const reading = {
  env: {},
  readText: (file: string) => readFile(file, 'utf8'),
  readStdin: async () => exampleText,
}

describe('where it comes from', () => {
  test.each<[object, string]>(fixture.origins as never)('%j', (options, origin) => {
    expect(originOf(manifestSource(options, 'v1.8.4'))).toBe(origin)
  })

  test.each([
    { manifest: 'http://mirror.example/o.yaml' },
    { manifest: 'ftp://mirror.example/o.yaml' },
    { manifestBase: 'http://127.0.0.1.example' },
    { manifestBase: 'ftp://mirror' },
    { manifestBase: '' },
  ])('%j is refused', (options) => {
    expect(() => manifestSource(options, 'v1.8.4')).toThrow(
      expect.objectContaining({ exitCode: 2, reason: 'manifest-url' }),
    )
  })

  test('the default of the setting is the public release', () => {
    expect(settingDefault('manifest-base')).toBe(publicReleases)
  })
})

describe('a file', () => {
  test('and its checksum', async () => {
    const source = { from: 'file', file: exampleFile } as const
    expect(await readManifest(source, reading, `SHA256:${sum.toUpperCase()}`)).toEqual({
      text: exampleText,
      sha256: sum,
      origin: exampleFile,
    })
  })

  test('on standard input', async () => {
    expect((await readManifest({ from: 'stdin' }, reading)).sha256).toBe(sum)
  })

  test.each([
    ['manifest-missing', 'nowhere.yaml', undefined],
    ['manifest-missing', import.meta.dirname, undefined],
    ['manifest-checksum', exampleFile, '0'.repeat(64)],
    ['not-a-checksum', exampleFile, 'abc'],
  ])('%s is exit 2', async (reason, file, sha256) => {
    await expect(readManifest({ from: 'file', file }, reading, sha256)).rejects.toMatchObject({
      exitCode: 2,
      reason,
    })
  })
})

let stop = () => {}
async function serve(
  listener: RequestListener,
  onConnect?: (request: IncomingMessage, socket: Duplex) => void,
): Promise<string> {
  const server = createServer(listener).listen(0, '127.0.0.1')
  if (onConnect) server.on('connect', onConnect)
  await new Promise((resolve) => server.once('listening', resolve))
  stop = () => {
    server.closeAllConnections()
    server.close()
  }
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}
const read = (url: string, env = {}) => readManifest({ from: 'url', url }, { ...reading, env })

/** Where nobody listens any more. */
async function closedPort(): Promise<string> {
  const base = await serve(() => {})
  stop()
  return base
}

describe('a URL', () => {
  afterEach(() => stop())

  test('is read, through redirects', async () => {
    const base = await serve(({ url }, answer) => {
      if (url === '/there') answer.end(exampleText)
      else answer.writeHead(302, { location: '/there' }).end()
    })
    expect(await read(`${base}/here`)).toMatchObject({ sha256: sum, text: exampleText })
  })

  test('that is not there is exit 2 and named', async () => {
    const base = await serve((_, answer) => answer.writeHead(404).end())
    await expect(read(`${base}/v9.9.9/kubevirt-operator.yaml`)).rejects.toMatchObject({
      exitCode: 2,
      reason: 'manifest-missing',
      message: expect.stringContaining(`${base}/v9.9.9/kubevirt-operator.yaml`),
    })
  })

  test('never leads away from https', async () => {
    const base = await serve((_, answer) =>
      answer.writeHead(301, { location: 'http://mirror.example/' }).end(),
    )
    await expect(read(base)).rejects.toMatchObject({ exitCode: 2, reason: 'manifest-url' })
  })

  test('that leads in a circle ends', async () => {
    const base = await serve((_, answer) => answer.writeHead(302, { location: '/' }).end())
    await expect(read(base)).rejects.toMatchObject({
      exitCode: 8,
      message: expect.stringContaining('redirects'),
    })
  })

  test('without end is cut off at 20 MB', async () => {
    const chunk = Buffer.alloc(1_000_000, '#')
    let sent = 0
    const base = await serve((_, answer) => {
      const more = () => {
        while (!answer.destroyed && answer.write(chunk)) sent++
      }
      answer.on('drain', more).on('error', () => {})
      more()
    })
    await expect(read(base)).rejects.toMatchObject({ exitCode: 2, reason: 'manifest-too-large' })
    expect(sent).toBeLessThan(60)
  })

  test('of a server that fails is exit 8 and names the way without it', async () => {
    const base = await serve((_, answer) => answer.writeHead(503).end())
    await expect(read(base)).rejects.toMatchObject({
      exitCode: 8,
      remedy: expect.arrayContaining([expect.stringContaining('--manifest FILE')]),
    })
  })

  test('goes through the proxy of the environment, unless NO_PROXY says no', async () => {
    const asked: (string | undefined)[] = []
    const answer = `HTTP/1.1 200 OK\r\nContent-Length: ${exampleText.length}\r\nConnection: close\r\n\r\n${exampleText}`
    const proxy = await serve(
      ({ url }, reply) => {
        asked.push(url)
        reply.end(exampleText)
      },
      (request, socket) => {
        asked.push(request.url)
        socket.write('HTTP/1.1 200 OK\r\n\r\n')
        socket.once('data', () => socket.end(answer))
      },
    )
    const target = `${await closedPort()}/o.yaml`
    expect(await read(target, { HTTP_PROXY: proxy })).toMatchObject({ sha256: sum })
    expect(asked).toHaveLength(1)
    expect(asked[0]).toContain(new URL(target).host)
    await expect(read(target, { http_proxy: proxy, no_proxy: '127.0.0.1' })).rejects.toMatchObject({
      exitCode: 8,
    })
    expect(asked).toHaveLength(1)
  })

  test('nobody listens: exit 8', async () => {
    await expect(read(await closedPort())).rejects.toMatchObject({
      exitCode: 8,
      reason: 'manifest-unreachable',
      message: expect.stringContaining('ECONNREFUSED'),
    })
  })

  test('a wait ends when the run is interrupted', async () => {
    const base = await serve(() => {})
    const signal = AbortSignal.timeout(20)
    await expect(readManifest({ from: 'url', url: base }, { ...reading, signal })).rejects.toMatchObject({
      name: 'TimeoutError',
    })
  })
})
