// What unpacks to more than a machine has: more than 3 s of processor time.
import { gzipSync } from 'node:zlib'
import { mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, describe, expect, test } from 'vitest'
import { decoded } from '../../../../src/lib/kube/http/requests.ts'
import { lines } from '../../../../src/lib/kube/http/watch.ts'
import { PageCourse } from '../../../../src/lib/kube/http/lists.ts'
import { ConfigMaps } from '../../../../src/lib/kube/kinds/core-kinds.ts'
import { readSaved } from '../../../../src/lib/kube/saved/saved-file.ts'
import { readBounded } from '../../../../src/lib/kube/bounded-file.ts'
import { configMapBody, opened, refuse, reply, tinyServer, type TinyServer } from './tiny-server.ts'

let server: TinyServer | undefined
afterEach(() => server?.close())
const folder = mkdtempSync(join(tmpdir(), 'kvup-trust-l-'))
const file = (name: string, content: string | Buffer) => {
  writeFileSync(join(folder, name), content)
  return join(folder, name)
}
const ref = { name: 'x', namespace: 'ns' }

const config = (cluster: object, user: object) =>
  file(
    'config',
    JSON.stringify({
      'current-context': 'one',
      clusters: [{ name: 'c', cluster }],
      contexts: [{ name: 'one', context: { cluster: 'c', user: 'u' } }],
      users: [{ name: 'u', user }],
    }),
  )

async function* endless() {
  for (;;) yield Buffer.alloc(1024 * 1024, 'x')
}

const list = (next: string, items: object[]) => ({
  kind: 'ConfigMapList',
  metadata: { resourceVersion: '1', continue: next },
  items,
})

const one = (count: number) => [configMapBody(`x-${count}`)]

const pageTo = (next: number) => ({
  items: [configMapBody('x') as never],
  resourceVersion: '1',
  next: `${next}`,
})

const asking = async (next: (count: number) => string, items: (count: number) => object[]) => {
  server = await tinyServer((_, response, count) => reply(response, 200, list(next(count), items(count))))
  const { cluster } = await opened(server.url)
  await expect(cluster.reader.list(ConfigMaps, { namespace: 'ns' })).rejects.toThrow(
    'the next page of a list',
  )
  return server.asked.length
}

describe('trust L5: what is wrong with a kubeconfig or a file is told as that', () => {
  const garbage = Buffer.from('garbage').toString('base64')
  const away = 'https://127.0.0.1:1'
  test.each([
    [
      'client-certificate-data',
      { server: away },
      { 'client-certificate-data': garbage, 'client-key-data': garbage },
      'certificate-unusable',
    ],
    ['proxy-url: file:///…', { server: away, 'proxy-url': 'file:///etc/passwd' }, {}, 'proxy-invalid'],
    ['proxy-url that is none', { server: away, 'proxy-url': 'http://u:sekret@' }, {}, 'proxy-invalid'],
  ])('%s', async (_, cluster, user, reason) => {
    const asked = async () => {
      const { cluster: found } = await opened(undefined, {
        connection: { kubeconfig: config(cluster, user) },
      })
      return found.reader.get(ConfigMaps, ref)
    }
    await expect(asked()).rejects.toMatchObject({ exitCode: 2, reason })
    await expect(asked()).rejects.not.toThrow('sekret')
  })

  test('YAML with an alias for --from', async () => {
    const path = file('alias.yaml', 'a: &x 1\nkind: List\nitems: [*x]\n')
    await expect(readSaved(path)).rejects.toMatchObject({
      exitCode: 2,
      message: expect.stringContaining('aliases') as string,
    })
  })

  test('an object with null where an object or an element has to be is read as without it', async () => {
    const object = { ...configMapBody('x'), spec: null, status: { conditions: [null, { type: 'A' }] } }
    server = await tinyServer((_, response) =>
      reply(response, 200, { kind: 'ConfigMapList', metadata: { resourceVersion: '1' }, items: [object] }),
    )
    const { cluster } = await opened(server.url)
    const [found] = await cluster.reader.list(ConfigMaps, { namespace: 'ns' })
    expect(found).toMatchObject({ status: { conditions: [{ type: 'A' }] } })
    expect(found).not.toHaveProperty('spec')
  })
})

describe('trust L6: nothing is read without a bound', () => {
  const megabyte = 1024 * 1024

  test('an answer without an end', async () => {
    const body = endless() as never
    await expect(decoded({ status: 200, headers: {}, body }, 8 * megabyte)).rejects.toThrow(
      'longer than 8 MB',
    )
  })

  test('a line of a watch without an end', async () => {
    await expect(lines(endless()).next()).rejects.toThrow('longer than 64 MB')
  })

  test('a gz that unpacks to more than a machine has', async () => {
    const bomb = gzipSync(Buffer.alloc(300 * megabyte))
    expect(bomb.length).toBeLessThan(megabyte)
    await expect(readSaved(file('bomb.yaml.gz', bomb))).rejects.toMatchObject({
      exitCode: 2,
      reason: 'too-large',
    })
  })

  test('--from /dev/zero, and what --plan is read by', async () => {
    await expect(readSaved('/dev/zero')).rejects.toMatchObject({ exitCode: 2, reason: 'too-large' })
    expect(() => readBounded('/dev/zero', 4 * megabyte)).toThrow('no end')
    expect(() => readBounded(file('large', Buffer.alloc(5000)), 4000)).toThrow('more than')
    expect(readBounded(file('small', 'text')).toString()).toBe('text')
    expect(readBounded(file('empty', '')).length).toBe(0)
    expect(() => readBounded(join(folder, 'none'))).toThrow('ENOENT')
  })
})

describe('trust L7: a list without an end', () => {
  test('two tokens that alternate', async () => {
    expect(await asking((count) => `token-${count % 2}`, one)).toBeLessThan(5)
  })
  test('a new token each time, and no object', async () => {
    expect(
      await asking(
        (count) => `token-${count}`,
        () => [],
      ),
    ).toBeLessThan(60)
  })
  test('a new token and an object each time', () => {
    const course = new PageCourse({})
    const found = Array.from({ length: 10_001 }, (_, at) =>
      course.astray(pageTo(at), at === 0 ? undefined : `${at - 1}`),
    )
    expect(found.filter(Boolean)).toHaveLength(1)
  })
  test('a list that starts again may have the same tokens', () => {
    const course = new PageCourse({})
    const page = { items: [configMapBody('x') as never], resourceVersion: '1', next: 'a' }
    expect([course.astray(page, undefined), course.astray(page, undefined)]).toEqual([undefined, undefined])
  })
})

describe('trust L9: Retry-After as long as --request-timeout', () => {
  test.each(['30', '60'])('%s s: it is asked again within the time there is', async (after) => {
    server = await tinyServer((_, response, count) =>
      count < 2
        ? refuse(response, 429, 'TooManyRequests: slow down', { 'retry-after': after })
        : reply(response, 200, configMapBody('x')),
    )
    const { cluster, clock } = await opened(server.url, { connection: { requestTimeout: '30s' } })
    expect((await cluster.reader.get(ConfigMaps, ref)).is).toBe('object')
    expect(clock.slept.reduce((sum, ms) => sum + ms, 0)).toBeLessThan(30_000)
    expect(server.asked).toHaveLength(2)
  })
})

describe('trust L10: the question for rights is patient', () => {
  const access = { verb: 'get', resource: 'pods' } as never
  test('one answer that is dropped is asked for again', async () => {
    server = await tinyServer((_, response, count) =>
      count === 2 ? response.destroy() : reply(response, 201, { status: { allowed: true } }),
    )
    const { cluster } = await opened(server.url)
    for (let asked = 0; asked < 4; asked++)
      expect(await cluster.reviewer.can(access)).toMatchObject({ allowed: true })
  })
  test('where it cannot be asked, nothing is said to have been done', async () => {
    server = await tinyServer((_, response, count) =>
      count === 1 ? reply(response, 201, { status: { allowed: true } }) : response.destroy(),
    )
    const { cluster } = await opened(server.url)
    await cluster.reviewer.can(access)
    await expect(cluster.reviewer.can(access)).rejects.toMatchObject({ exitCode: 8 })
    await expect(cluster.reviewer.can(access)).rejects.not.toThrow('outcome is unknown')
  })
  test(
    'an answer that never comes is given up after 10 s, and asked for again',
    { timeout: 40_000 },
    async () => {
      server = await tinyServer((_, response, count) =>
        count === 1 ? undefined : reply(response, 201, { status: { allowed: true } }),
      )
      const { cluster } = await opened(server.url)
      expect(await cluster.reviewer.can(access)).toMatchObject({ allowed: true })
      expect(server.asked).toHaveLength(2)
    },
  )
})
