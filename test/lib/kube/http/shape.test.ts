import { describe, expect, test } from 'vitest'
import { ConfigMaps } from '../../../../src/lib/kube/kinds/core-kinds.ts'
import { answered, opened, reply, serve } from './tiny-server.ts'

const ref = { name: 'x', namespace: 'ns' }
const failed = (work: Promise<unknown>) => work.catch((error: unknown) => error)

/** What gateways, login pages and half-broken servers say with status 200. */
const strange: Record<string, string> = {
  'a Status': '{"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure","code":500}',
  'an empty object': '{}',
  nothing: '',
  null: 'null',
  'a text': '"hi"',
  'items that are no list': '{"metadata":{},"items":{"a":1}}',
  'items that are no objects': '{"metadata":{},"items":[null,1]}',
}

describe.each(Object.entries(strange))('an answer of status 200 that is %s', (_, body) => {
  const answering = async () => {
    const { url } = await serve((__, response) => void response.writeHead(200).end(body))
    return (await opened(url)).cluster
  }

  test('is not taken for "there are none"', async () => {
    const { reader } = await answering()
    expect(await failed(reader.list(ConfigMaps))).toMatchObject({ exitCode: 8, reason: 'unreachable' })
  })

  test('is not taken for the object', async () => {
    const { reader } = await answering()
    expect(await failed(reader.get(ConfigMaps, ref))).toMatchObject({ exitCode: 8, reason: 'unreachable' })
  })

  test('is not taken for a write that was done', async () => {
    const { writer } = await answering()
    expect(await failed(writer.mergePatch(ConfigMaps, ref, { data: { a: '1' } }))).toMatchObject({
      exitCode: 8,
      statusReason: 'OutcomeUnknown',
    })
  })
})

describe.each(
  Object.entries({ ...strange, 'a list': '[]', 'versions that are none': '{"versions":[null]}' }),
)('an answer of status 200 that is %s', (_, body) => {
  test('is not taken for an API group that is not served, nor for a version, nor for a delete that was done', async () => {
    const {
      cluster: { reader, writer },
    } = await answered((__, response) => void response.writeHead(200).end(body))
    const unreachable = { exitCode: 8, reason: 'unreachable' }
    expect(await failed(reader.versions('config.openshift.io'))).toMatchObject(unreachable)
    expect(await failed(reader.version())).toMatchObject(unreachable)
    expect(await failed(writer.delete(ConfigMaps, ref))).toMatchObject({ statusReason: 'OutcomeUnknown' })
  })
})

test.each([
  [403, '{"kind":"Status","message":null,"details":null,"code":403}', 'HTTP 403'],
  [404, '{"status":404,"message":null,"details":{"causes":7}}', 'HTTP 404'],
  [500, '{"message":{"en":"broken"},"reason":[]}', 'HTTP 500'],
])('%i whose fields are other things than those of a Status: %s', async (status, body, said) => {
  const { url } = await serve((_, response) => void response.writeHead(status).end(body))
  const error = await failed((await opened(url)).cluster.reader.list(ConfigMaps))
  expect(error).toMatchObject({ message: expect.stringContaining(said) as string })
})

test('a list of none may say null', async () => {
  const { url } = await serve((_, response) => reply(response, 200, { metadata: {}, items: null }))
  expect(await (await opened(url)).cluster.reader.list(ConfigMaps)).toEqual([])
})

test('a page that names itself as the next one is not turned for ever', async () => {
  const { cluster, asked } = await answered((_, response) =>
    reply(response, 200, { metadata: { continue: 'same' }, items: [] }),
  )
  expect(await failed(cluster.reader.list(ConfigMaps))).toMatchObject({ exitCode: 8 })
  expect(asked).toHaveLength(2)
})
