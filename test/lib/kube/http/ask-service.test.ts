import { expect, test } from 'vitest'
import type { Reader, ServiceCall } from '../../../../src/lib/kube/cluster.ts'
import { answered, tinyServer } from './tiny-server.ts'

const call: ServiceCall = {
  service: { namespace: 'openshift-monitoring', name: 'thanos-querier' },
  scheme: 'https',
  port: 'web',
  path: '/api/v1/alerts',
}
const ask = (reader: Reader) => reader.askService?.(call)

test('goes to the port of the Service, by its name and scheme', async () => {
  const { cluster, asked } = await answered((_, response) => response.end('{"status":"success"}'))
  expect(await ask(cluster.reader)).toBe('{"status":"success"}')
  const [first] = asked
  expect(first?.method).toBe('GET')
  expect(decodeURIComponent(first?.path ?? '')).toBe(
    '/api/v1/namespaces/openshift-monitoring/services/https:thanos-querier:web/proxy/api/v1/alerts',
  )
})

test.each([401, 403, 429, 500, 503])(
  '%i is an answer: nothing is sent again, no login renewed',
  async (status) => {
    const { cluster, clock, asked } = await answered((_, response) => response.writeHead(status).end('no\n'))
    await expect(ask(cluster.reader)).rejects.toMatchObject({ status })
    expect(asked).toHaveLength(1)
    expect(clock.slept).toEqual([])
  },
)

test('a redirect is not followed: the token goes nowhere else', async () => {
  const other = await tinyServer((_, response) => response.end('mine'))
  try {
    const { cluster } = await answered((_, response) =>
      response.writeHead(302, { location: other.url }).end(),
    )
    await expect(ask(cluster.reader)).rejects.toMatchObject({ reason: 'unreachable' })
    expect(other.asked).toEqual([])
  } finally {
    await other.close()
  }
})

test('neither a Warning nor the time of who answers is the API server’s', async () => {
  const heard: unknown[] = []
  const { cluster, warnings } = await answered(
    (_, response) =>
      response
        .writeHead(200, { warning: '299 - "buy more"', date: 'Thu, 01 Jan 1970 00:00:00 GMT' })
        .end('{}'),
    { heard: (date) => heard.push(date) },
  )
  await ask(cluster.reader)
  expect(warnings).toEqual([])
  expect(heard).toEqual([])
})

test('who does not answer is not waited for longer than the shorter limit', async () => {
  const { cluster } = await answered(() => undefined, { connection: { requestTimeout: '100ms' } })
  await expect(ask(cluster.reader)).rejects.toMatchObject({ status: 0 })
})
