import { gzipSync } from 'node:zlib'
import { describe, expect, test } from 'vitest'
import { metadataOf } from '../../../../src/lib/kube/object.ts'
import { ConfigMaps } from '../../../../src/lib/kube/kinds/core-kinds.ts'
import { ApiError } from '../../../../src/lib/kube/errors.ts'
import { answered, configMapBody, opened, refuse, reply, tinyServer } from './tiny-server.ts'

const ref = { name: 'x', namespace: 'ns' }

describe('a read', () => {
  test('is repeated after 429 when Retry-After has passed', async () => {
    const { cluster, clock, asked } = await answered((_, response, count) =>
      count < 3
        ? refuse(response, 429, 'TooManyRequests: slow down', { 'retry-after': '7' })
        : reply(response, 200, configMapBody('x')),
    )
    expect((await cluster.reader.get(ConfigMaps, ref)).is).toBe('object')
    expect(asked).toHaveLength(3)
    expect(clock.slept).toEqual([7000, 7000])
  })

  test('is repeated five times on 500, and then says what the server said', async () => {
    const { cluster, clock, asked } = await answered((_, response) =>
      refuse(response, 500, 'InternalError: etcd is away'),
    )
    const error = await cluster.reader.get(ConfigMaps, ref).catch((e: unknown) => e)
    expect(error).toMatchObject({ status: 500, exitCode: 8, object: 'configmaps/x in namespace ns' })
    expect((error as Error).message).toContain('etcd is away')
    expect(asked).toHaveLength(5)
    expect(clock.slept.reduce((a, b) => a + b)).toBeGreaterThan(5000)
  })

  test('survives a connection that is cut, before and in the answer', async () => {
    const { cluster, asked } = await answered((_, response, count) => {
      if (count === 1) reply(response, 200, configMapBody('x'))
      else if (count === 2) response.destroy()
      else if (count === 3) {
        response.writeHead(200, { 'content-length': '1000' })
        response.write('{"half', () => response.destroy())
      } else reply(response, 200, configMapBody('x', '4'))
    })
    await cluster.reader.get(ConfigMaps, ref)
    const found = await cluster.reader.get(ConfigMaps, ref)
    expect(found).toMatchObject({ is: 'object', object: { metadata: { resourceVersion: '4' } } })
    expect(asked).toHaveLength(4)
  })

  test('of a server that is not there fails soon, with exit 8 and its address', async () => {
    const gone = await tinyServer(() => undefined)
    await gone.close()
    const { url } = gone
    const { cluster, clock } = await opened(url)
    const error = await cluster.reader.version().catch((e: unknown) => e)
    expect(error).toBeInstanceOf(ApiError)
    expect(error).toMatchObject({ status: 0, exitCode: 8, reason: 'unreachable' })
    expect((error as Error).message).toContain(url)
    expect(clock.slept).toHaveLength(1)
  })

  test('ends with --request-timeout', async () => {
    const { cluster, asked } = await answered(() => undefined, { connection: { requestTimeout: '50ms' } })
    const error = await cluster.reader.version().catch((e: unknown) => e)
    expect((error as Error).message).toContain('no answer within 0.05 s')
    expect(asked).toHaveLength(1)
  })

  test('ends with --request-timeout, however often it would be tried', async () => {
    const { cluster, clock, asked } = await answered(
      (_, response) => refuse(response, 503, 'ServiceUnavailable: later'),
      { connection: { requestTimeout: '3s' } },
    )
    await expect(cluster.reader.version()).rejects.toMatchObject({ status: 503 })
    // 0.6 and 1.2 s; there is no room for the 2.4 s behind them
    expect(clock.slept).toEqual([600, 1200])
    expect(asked).toHaveLength(3)
  })

  test('does not wait longer than --request-timeout because the server asks for it, but for a last try within it', async () => {
    const { cluster, clock, asked } = await answered(
      (_, response) => refuse(response, 429, 'TooManyRequests: slow down', { 'retry-after': '20' }),
      { connection: { requestTimeout: '10s' } },
    )
    await expect(cluster.reader.version()).rejects.toMatchObject({ status: 429 })
    expect({ slept: clock.slept, asked: asked.length }).toEqual({ slept: [9000], asked: 2 })
  })

  test('tells an object that is absent from a kind that is unknown', async () => {
    const { cluster } = await answered(({ path }, response) => {
      if (path.includes('/configmaps/')) return refuse(response, 404, 'NotFound')
      response.writeHead(404, { 'content-type': 'text/plain', 'audit-id': 'a' }).end('404 page not found\n')
    })
    expect(await cluster.reader.get(ConfigMaps, ref)).toEqual({ is: 'absent' })
    expect(await cluster.reader.get({ ...ConfigMaps, plural: 'nothings' }, ref)).toEqual({ is: 'unserved' })
    expect(await cluster.reader.versions('nothing.io')).toEqual([])
  })

  test('of something that is no API server says so', async () => {
    const { cluster } = await answered((_, response) =>
      response.writeHead(200).end('<html>Please log in</html>'),
    )
    const error = await cluster.reader.version().catch((e: unknown) => e)
    expect(error).toMatchObject({ exitCode: 8 })
    expect((error as Error).message).toContain('an HTML page, "Please log in"')
  })

  test('understands a compressed answer', async () => {
    const { cluster, asked } = await answered((_, response) => {
      response.writeHead(200, { 'content-encoding': 'gzip' })
      response.end(gzipSync(JSON.stringify(configMapBody('x'))))
    })
    expect((await cluster.reader.get(ConfigMaps, ref)).is).toBe('object')
    expect(asked[0]?.headers['accept-encoding']).toBe('gzip')
  })

  test('shows warnings once, says who is asking, and keeps its connection', async () => {
    const connections = new Set<unknown>()
    const { cluster, warnings, asked } = await answered((_, response) => {
      connections.add(response.socket)
      reply(response, 200, configMapBody('x'), { warning: '299 - "old api"' })
    })
    for (let i = 0; i < 20; i++) await cluster.reader.get(ConfigMaps, ref)
    expect(warnings).toEqual(['old api'])
    expect(asked[0]?.headers['user-agent']).toBe('kvup/1.2.3')
    // a second one may be opened while the first is still being put back
    expect(connections.size).toBeLessThanOrEqual(2)
  })

  test('of a log asks for its container and tail', async () => {
    const { cluster, asked } = await answered((_, response) => response.end('line\n'))
    expect(await cluster.reader.log(ref, { container: 'c', previous: true, tailLines: 5 })).toBe('line\n')
    expect(asked[0]?.path).toBe('/api/v1/namespaces/ns/pods/x/log')
    expect(asked[0]?.query.toString()).toBe('container=c&previous=true&tailLines=5')
  })
})

const page = (names: string[], next: string) => ({
  metadata: { resourceVersion: '9', continue: next },
  items: names.map((name) => ({ metadata: { name, namespace: 'ns' } })),
})

describe('pages', () => {
  test('a token that expired: the list starts again after what was handed over', async () => {
    const { cluster, asked } = await answered(({ query }, response, count) => {
      if (query.get('continue') === 'two' && count === 2) return refuse(response, 410, 'Expired')
      if (query.get('continue') === 'two') return reply(response, 200, page(['c', 'd'], ''))
      // b was deleted and aa was made meanwhile: the one is gone, the other comes before what was shown
      reply(response, 200, count === 1 ? page(['a', 'b'], 'two') : page(['a', 'aa', 'bb'], 'two'))
    })
    const names = (await cluster.reader.list(ConfigMaps)).map(({ metadata }) => metadata.name)
    expect(names).toEqual(['a', 'b', 'bb', 'c', 'd'])
    expect(asked.map(({ query }) => query.get('continue'))).toEqual([null, 'two', null, 'two'])
  })

  test('a server whose tokens never live is not asked for ever', async () => {
    const { cluster, asked } = await answered(({ query }, response) =>
      query.has('continue') ? refuse(response, 410, 'Expired') : reply(response, 200, page(['a'], 'two')),
    )
    await expect(cluster.reader.list(ConfigMaps)).rejects.toMatchObject({ status: 410 })
    expect(asked.length).toBeLessThan(20)
  })

  test('a long compressed list that is cut on its way is asked for again, and whole then', async () => {
    const names = Array.from({ length: 3000 }, (_, i) => `n${String(i).padStart(4, '0')}`)
    const whole = gzipSync(JSON.stringify(page(names, '')))
    const { cluster, asked } = await answered((_, response, count) => {
      response.writeHead(200, { 'content-encoding': 'gzip' })
      if (count === 2) response.end(whole)
      else response.write(whole.subarray(0, whole.length / 2), () => response.socket?.destroy())
    })
    expect((await cluster.reader.list(ConfigMaps)).map(({ metadata }) => metadata.name)).toEqual(names)
    expect(asked).toHaveLength(2)
  })

  test('a compressed body that ends early, or is none, is no empty list', async () => {
    const whole = gzipSync(JSON.stringify(page(['a', 'b'], '')))
    for (const body of [whole.subarray(0, -12), Buffer.from('{"items":[]}')]) {
      const { cluster } = await answered((_, response) =>
        response.writeHead(200, { 'content-encoding': 'gzip' }).end(body),
      )
      await expect(cluster.reader.list(ConfigMaps)).rejects.toMatchObject({ exitCode: 8 })
    }
  })

  test('a login page in the place of a list is told as one', async () => {
    const { cluster } = await answered((_, response) =>
      response.writeHead(200).end('<html>Please log in</html>'),
    )
    await expect(cluster.reader.list(ConfigMaps)).rejects.toThrow('an HTML page, "Please log in"')
  })

  test('an answer of nothing is no list', async () => {
    const { cluster } = await answered((_, response) => response.writeHead(200).end())
    await expect(cluster.reader.list(ConfigMaps)).rejects.toThrow('not a list of ConfigMap, but nothing')
  })

  test('what is asked for in larger pages comes in them', async () => {
    const { cluster, asked } = await answered((_, response) => reply(response, 200, page(['a'], '')))
    await cluster.reader.list(ConfigMaps, { pageSize: 2000 })
    await cluster.reader.list(ConfigMaps)
    expect(asked.map(({ query }) => query.get('limit'))).toEqual(['2000', '500'])
  })

  test('the body of a list is shown with -v 8 as it came, compressed or not', async () => {
    const text = JSON.stringify(page(['a', 'b'], ''))
    const { cluster, traced } = await answered(
      (_, response) => response.writeHead(200, { 'content-encoding': 'gzip' }).end(gzipSync(text)),
      { verbosity: 8 },
    )
    await cluster.reader.list(ConfigMaps)
    expect(traced).toContain(`Response body: ${text}`)
  })

  test('half a list is not shown: without its end no secret in it is told by its key', async () => {
    const text = JSON.stringify({ items: [{ apiToken: 'hunter2', metadata: { name: 'a' } }] })
    const { cluster, traced } = await answered(
      (_, response, count) => {
        response.writeHead(200)
        if (count === 2) response.end(text)
        else response.write(text.slice(0, -3), () => response.socket?.destroy())
      },
      { verbosity: 9 },
    )
    await cluster.reader.list(ConfigMaps)
    expect(traced.filter((line) => line.startsWith('Response body'))).toEqual([
      `Response body: ${text.replace('hunter2', '<redacted>')}`,
    ])
  })

  test('of metadata alone are asked for as such, and named as what they are of', async () => {
    const partial = { apiVersion: 'meta.k8s.io/v1', kind: 'PartialObjectMetadata' }
    const { cluster, asked } = await answered((_, response) =>
      reply(response, 200, { metadata: {}, items: [{ ...partial, metadata: { name: 'a' } }] }),
    )
    const items = await cluster.reader.list(metadataOf(ConfigMaps))
    await cluster.reader.list(ConfigMaps)
    expect(items).toEqual([{ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a' } }])
    expect(asked.map(({ headers }) => headers.accept)).toEqual([
      'application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io,application/json',
      'application/json, */*',
    ])
  })
})
