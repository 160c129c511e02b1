import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { onTestFinished } from 'vitest'
import type { Cluster } from '../../../../src/lib/kube/cluster.ts'
import type { Connection } from '../../../../src/lib/kube/http/target.ts'
import { type ClusterTools, openCluster } from '../../../../src/lib/kube/http/http-cluster.ts'
import type { Clock } from '../../../../src/lib/kube/clock.ts'

/** A request as it arrived. */
export interface Asked {
  method: string
  path: string
  query: URLSearchParams
  headers: IncomingMessage['headers']
  /** Names and values in turn, as they stood on the wire. */
  rawHeaders: string[]
  body: string
}

export interface TinyServer {
  url: string
  asked: Asked[]
  close(): Promise<void>
}

type Answer = (asked: Asked, response: ServerResponse, count: number) => void

/** An HTTP server on loopback that answers as it is told; `count` is 1 for the first request. */
export async function tinyServer(answer: Answer): Promise<TinyServer> {
  const asked: Asked[] = []
  const server: Server = createServer((request, response) => {
    const pieces: Buffer[] = []
    request.on('data', (piece: Buffer) => pieces.push(piece))
    request.on('end', () => {
      const { pathname, searchParams } = new URL(request.url ?? '/', 'http://any')
      const one = {
        method: request.method ?? '',
        path: pathname,
        query: searchParams,
        headers: request.headers,
        rawHeaders: request.rawHeaders,
        body: Buffer.concat(pieces).toString('utf8'),
      }
      asked.push(one)
      answer(one, response, asked.length)
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    asked,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}

export function reply(
  response: ServerResponse,
  status: number,
  body: object,
  headers: Record<string, string> = {},
): void {
  response.writeHead(status, { 'content-type': 'application/json', ...headers })
  response.end(JSON.stringify(body))
}

/** A metav1.Status; `why` is its reason, and after a colon its message. */
export function refuse(response: ServerResponse, code: number, why: string, headers = {}): void {
  const [reason = '', message = reason] = why.split(': ')
  const body = {
    kind: 'Status',
    apiVersion: 'v1',
    status: 'Failure',
    code,
    reason,
    message,
    details: { name: 'x' },
  }
  reply(response, code, body, headers)
}

export const configMapBody = (name: string, resourceVersion = '1', more: object = {}) => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name, namespace: 'ns', uid: `uid-${name}`, resourceVersion },
  ...more,
})

/** Sleeping costs nothing and is written down. */
export class InstantClock implements Clock {
  readonly slept: number[] = []
  #now = Date.parse('2026-01-01T00:00:00Z')

  now(): Date {
    return new Date(this.#now)
  }

  pass(ms: number): void {
    this.#now += ms
  }

  async sleep(ms: number, signal?: AbortSignal): Promise<void> {
    signal?.throwIfAborted()
    this.slept.push(ms)
    this.pass(ms)
    await new Promise((resolve) => setImmediate(resolve))
    signal?.throwIfAborted()
  }
}

type Told = Partial<ClusterTools> & { connection?: Connection }

export interface Opened {
  cluster: Cluster
  clock: InstantClock
  warnings: string[]
  traced: string[]
}

export async function opened(url: string | undefined, { connection, ...more }: Told = {}): Promise<Opened> {
  const clock = new InstantClock()
  const warnings: string[] = []
  const traced: string[] = []
  const cluster = await openCluster(
    { ...(url !== undefined && { server: url }), ...connection },
    {
      clock,
      random: () => 0.5,
      env: {},
      onWarning: (text) => warnings.push(text),
      trace: (line) => traced.push(line),
      verbosity: 0,
      userAgent: 'kvup/1.2.3',
      ...more,
    },
  )
  return { cluster, clock, warnings, traced }
}

/** A server that is closed behind its test. */
export async function serve(answer: Answer): Promise<TinyServer> {
  const server = await tinyServer(answer)
  onTestFinished(() => server.close())
  return server
}

/** Such a server, and a cluster that asks it. */
export async function answered(answer: Answer, told?: Told): Promise<Opened & TinyServer> {
  const server = await serve(answer)
  return { ...server, ...(await opened(server.url, told)) }
}
