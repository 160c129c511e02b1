import type { ServerResponse } from 'node:http'
import { afterEach, describe, expect, test } from 'vitest'
import { opened, reply, refuse, tinyServer, type TinyServer } from '../lib/kube/http/tiny-server.ts'
import { runText } from '../lib/run-text.ts'

let server: TinyServer | undefined
afterEach(() => server?.close())

const page = (status: number, title: string) => (response: ServerResponse) =>
  void response
    .writeHead(status, { 'content-type': 'text/html' })
    .end(`<html>\r\n<head><title>${title}</title></head>\r\n<body><h1>${title}</h1></body>\r\n</html>\r\n`)

/** Whatever is asked of it: what it answers, the exit code, and what has to be said of it. */
const endpoints: Record<string, [(response: ServerResponse) => void, number, RegExp]> = {
  'an ingress without a route': [
    page(404, '404 Not Found'),
    8,
    /like a Kubernetes API.*HTTP 404.*\/version/u,
  ],
  'a server in Go without a route': [
    (response) => void response.writeHead(404).end('404 page not found\n'),
    8,
    /like a Kubernetes API.*HTTP 404: 404 page not found/u,
  ],
  'a gateway without a server': [
    page(502, '502 Bad Gateway'),
    8,
    /no answer from .*HTTP 502.*"502 Bad Gateway"/u,
  ],
  'a login page': [page(200, 'Log in'), 8, /like a Kubernetes API.*"Log in"/u],
  'another API': [(response) => reply(response, 200, { hello: 'world' }), 8, /is not a list.*hello/u],
  'a port for https': [
    (response) => void response.writeHead(400).end('Client sent an HTTP request to an HTTPS server.\n'),
    8,
    /HTTPS server/u,
  ],
  'a connection that ends': [(response) => void response.destroy(), 8, /no answer from the API server/u],
  'an expired token': [(response) => refuse(response, 401, 'Unauthorized'), 7, /credentials of/u],
}

const commands = [
  'status',
  'check --to v1.8.4',
  'plan --to v1.8.4',
  'upgrade --to v1.8.4 --yes',
  'history',
  'wait --for healthy --timeout 5s',
  'workloads outdated',
  'workloads update --yes',
  'eus plan --to 4.20',
  'eus status',
  'eus run --yes',
  'eus abort --yes',
  'restore-settings --yes',
]

describe.each(Object.entries(endpoints))('%s', (_, [answer, code, words]) => {
  test.each(commands)('kvup %s: one message that says which server and what helps', async (line) => {
    server = await tinyServer((__, response) => answer(response))
    const { cluster, clock } = await opened(server.url)
    const ended = await runText(line.split(' '), { cluster, clock })
    expect({ code: ended.code, out: ended.out }).toEqual({ code, out: '' })
    const [first = '', ...rest] = ended.err.trimEnd().split('\n')
    expect(first).toMatch(/^error: /u)
    expect(first).toMatch(words)
    expect(first).toContain(server.url)
    expect(rest.filter((one) => !/^ {2}\S/u.test(one))).toEqual([])
    expect(rest.at(-1)).toMatch(/^ {2}(?:(?:→|->) \S+ \S|it needs https: |log in again, )/u)
    expect(ended.err).not.toMatch(/<html|\n +at /u)
  })
})
