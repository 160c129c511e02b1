import type { ServerResponse } from 'node:http'
import { describe, expect, test } from 'vitest'
import { ConfigMaps } from '../../../../src/lib/kube/kinds/core-kinds.ts'
import { KubeVirts } from '../../../../src/lib/kube/kinds/kubevirt-kinds.ts'
import { type ApiError, KvupError } from '../../../../src/lib/kube/errors.ts'
import { answered, configMapBody, opened, refuse, reply, serve } from './tiny-server.ts'

const failed = (work: Promise<unknown>) => work.then(() => undefined).catch((e: unknown) => e as ApiError)
const ref = { name: 'x', namespace: 'ns' }

const page = (response: ServerResponse, status: number, title: string) =>
  void response
    .writeHead(status, { 'content-type': 'text/html' })
    .end(
      `<html>\r\n<head><title>${title}</title></head>\r\n<body>\r\n<h1>${title}</h1>\r\n</body>\r\n</html>\r\n`,
    )
const unknownPath = (response: ServerResponse, headers = {}) =>
  void response.writeHead(404, { 'content-type': 'text/plain', ...headers }).end('404 page not found\n')

const losingItAt = (moment: number) =>
  serve((_, response, count) =>
    count === moment
      ? page(response, 404, 'default backend')
      : reply(response, 200, { ...configMapBody('x'), gitVersion: 'v1.35.0' }, { 'audit-id': 'a' }),
  )

describe('404 to everything', () => {
  test.each([
    ['a page', (response: ServerResponse) => page(response, 404, '404 Not Found')],
    ['what Go says', unknownPath],
    ['JSON of its own', (response: ServerResponse) => reply(response, 404, { error: 'no route' })],
    ['nothing', (response: ServerResponse) => void response.writeHead(404).end()],
  ])('as %s: is not "there is none", but no Kubernetes', async (_, answer) => {
    const {
      cluster: { reader, writer },
      url,
    } = await answered((__, response) => answer(response))
    for (const work of [
      () => reader.list(KubeVirts),
      () => reader.get(ConfigMaps, ref),
      () => reader.versions('kubevirt.io'),
      () => reader.version(),
      () => writer.mergePatch(ConfigMaps, ref, {}),
    ]) {
      const error = await failed(work())
      expect(error).toMatchObject({ exitCode: 8, reason: 'unreachable', status: 0 })
      expect(error?.message).toContain(`${url} does not answer like a Kubernetes API (`)
      expect(error?.message).toContain('HTTP 404')
      expect(error?.message).not.toContain('\n')
      expect(error?.notes).toEqual([`the address is ${url}`])
      expect(error?.remedy[0]).toBe(`kubectl --server ${url} get --raw /version`)
    }
  })

  test('a server that says who it is in what it answers is not asked for it', async () => {
    const {
      cluster: { reader },
      asked,
    } = await answered((_, response) => unknownPath(response, { 'audit-id': 'a' }))
    expect(await reader.versions('kubevirt.io')).toEqual([])
    expect(await reader.get(ConfigMaps, ref)).toEqual({ is: 'unserved' })
    expect(asked).toHaveLength(2)
  })

  test('a server behind a gateway with pages of its own is asked once', async () => {
    const {
      cluster: { reader },
      asked,
    } = await answered(({ path }, response) =>
      path === '/version'
        ? reply(response, 200, { major: '1', minor: '35', gitVersion: 'v1.35.0' })
        : page(response, 404, 'Not here'),
    )
    await Promise.all([reader.versions('a.io'), reader.versions('b.io')])
    expect(await reader.versions('kubevirt.io')).toEqual([])
    expect(asked.filter(({ path }) => path === '/version')).toHaveLength(1)
  })

  test('one that forbids its version to us is an API server nevertheless', async () => {
    const { url } = await serve(({ path }, response) =>
      path === '/version' ? refuse(response, 403, 'Forbidden: no') : unknownPath(response),
    )
    expect(await (await opened(url)).cluster.reader.versions('kubevirt.io')).toEqual([])
  })

  test('a gateway that loses its way in the middle is not taken for the server', async () => {
    const {
      cluster: { reader },
    } = await answered((_, response, count) =>
      count === 1 ? reply(response, 200, configMapBody('x'), { 'audit-id': 'a' }) : unknownPath(response),
    )
    expect((await reader.get(ConfigMaps, ref)).is).toBe('object')
    expect(await failed(reader.get(ConfigMaps, ref))).toMatchObject({ exitCode: 8, status: 0 })
  })

  test('nor is one that loses it for a moment: a read is asked again', async () => {
    const { reader } = (await opened((await losingItAt(2)).url)).cluster
    expect((await reader.get(ConfigMaps, ref)).is).toBe('object')
    expect((await reader.get(ConfigMaps, ref)).is).toBe('object')
  })

  test('and a write is not said to have found nothing', async () => {
    const { url, asked } = await losingItAt(2)
    const { reader, writer } = (await opened(url)).cluster
    expect((await reader.get(ConfigMaps, ref)).is).toBe('object')
    expect(await failed(writer.delete(ConfigMaps, ref))).toMatchObject({ exitCode: 8, status: 0 })
    expect(asked.filter(({ method }) => method === 'DELETE')).toHaveLength(1)
  })

  test('where the version cannot be asked for, nothing is said of the cluster either', async () => {
    const { url } = await serve(({ path }, response) =>
      path === '/version' ? page(response, 502, '502 Bad Gateway') : unknownPath(response),
    )
    expect(await failed((await opened(url)).cluster.reader.versions('kubevirt.io'))).toMatchObject({
      exitCode: 8,
      status: 502,
    })
  })
})

describe('a page of a gateway', () => {
  test.each([
    [502, '502 Bad Gateway'],
    [503, '503 Service Temporarily Unavailable'],
    [504, '504 Gateway Time-out'],
  ])('%i: which server, its status, its title in one line, and what helps', async (status, title) => {
    const { url } = await serve((_, response) => page(response, status, title))
    const error = await failed((await opened(url)).cluster.reader.list(KubeVirts))
    expect(error).toMatchObject({ exitCode: 8, status })
    expect(error?.message).toBe(
      `no answer from the API server ${url} (list kubevirts.kubevirt.io): HTTP ${status}: an HTML page, "${title}"`,
    )
    expect(error?.remedy).toContain(`kubectl --server ${url} get --raw /readyz`)
  })

  test('502 to a write: its outcome is unknown', async () => {
    const { url } = await serve((_, response) => page(response, 502, '502 Bad Gateway'))
    const error = await failed((await opened(url)).cluster.writer.mergePatch(ConfigMaps, ref, {}))
    expect(error?.message).toMatch(/"502 Bad Gateway"; the outcome is unknown/u)
  })

  test('403: no Role of Kubernetes helps against it', async () => {
    const { url } = await serve((_, response) => page(response, 403, '403 Forbidden'))
    const error = await failed((await opened(url)).cluster.reader.list(KubeVirts))
    expect(error).toMatchObject({ exitCode: 8, status: 0 })
    expect(error?.message).toContain('HTTP 403: an HTML page, "403 Forbidden"')
    expect(error?.remedy.join('\n')).not.toContain('kvup rbac')
  })

  test('403 of a gateway with an API server behind it: that part may not be read, and no Role helps', async () => {
    const { url } = await serve(({ path }, response) =>
      path === '/version'
        ? reply(response, 200, { gitVersion: 'v1.35.0' })
        : page(response, 403, '403 Forbidden'),
    )
    const error = await failed((await opened(url)).cluster.reader.list(KubeVirts))
    expect(error).toMatchObject({ exitCode: 7, status: 403 })
    expect(error?.remedy.join('\n')).not.toContain('kvup rbac')
  })

  test('400 and a redirect: the address is another one', async () => {
    const plain = 'Client sent an HTTP request to an HTTPS server.\n'
    const {
      cluster: { reader },
    } = await answered(({ path }, response) =>
      path === '/version'
        ? void response.writeHead(302, { location: 'https://login.example/in?token=secret' }).end()
        : void response.writeHead(400).end(plain),
    )
    const wanted = await failed(reader.list(KubeVirts))
    expect(wanted).toMatchObject({ exitCode: 8, remedy: [expect.stringContaining('https://HOST') as string] })
    const led = await failed(reader.version())
    expect(led).toMatchObject({ exitCode: 8 })
    expect(led?.message).toMatch(/HTTP 302, which leads to https:\/\/login\.example\/in$/u)
  })
})

test('a server that is out of breath: its words, its status, and where it is', async () => {
  const { url } = await serve((_, response) => refuse(response, 500, 'InternalError: etcd is away'))
  const error = await failed((await opened(url)).cluster.reader.list(KubeVirts))
  expect(error).toBeInstanceOf(KvupError)
  expect(error?.message).toBe('cannot list kubevirts.kubevirt.io: etcd is away')
  expect(error?.notes).toEqual([`HTTP 500; the server is ${url}`])
})
