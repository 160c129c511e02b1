import type { Answer } from './failure.ts'
import type { Headers, Target } from './target.ts'
import type { Tls } from './kubeconfig.ts'
import { Agent, type ClientRequest, request, type RequestOptions } from 'node:http'
import type { Socket } from 'node:net'

export interface Message {
  method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  url: string
  headers: Headers
  body: string | undefined
  signal: AbortSignal | undefined
}

/** Sends one request once, over a connection that is kept for the next. Rejects with what the socket said. */
export type Send = (message: Message) => Promise<Answer>

/** The connections to one server, made when they are needed. */
export async function connectionsTo(cluster: Target['cluster'], tls: Tls): Promise<Send> {
  const isTrustSaid = tls.ca !== undefined || tls.rejectUnauthorized === false
  const trusted = isTrustSaid ? tls : (await import('./secure-sockets.ts')).trusting(tls)
  if (!cluster.proxyUrl) return directConnections(cluster, trusted)
  return (await import('./proxied-connections.ts')).proxiedConnections(
    { ...cluster, proxyUrl: cluster.proxyUrl },
    trusted,
  )
}

/** Idle connections live longer than the pauses between polls, and shorter than what load balancers keep. */
const idle = 20_000
const probeAfter = 30_000
/** A server that is not there should be told from a slow one. */
const connectWithin = 10_000
const kept = { keepAlive: true, keepAliveMsecs: probeAfter, timeout: idle }

export interface Sockets {
  agent: Agent
  ask: (url: string, options: RequestOptions) => ClientRequest
}

/** Node's own client: nothing to load, where undici takes as long to start as all of a `status`. */
async function directConnections({ server, mostSockets }: Target['cluster'], tls: Tls): Promise<Send> {
  const how = mostSockets === undefined ? kept : { ...kept, maxSockets: mostSockets }
  const sockets = /^http:/i.test(server)
    ? { agent: new Agent(how), ask: request }
    : (await import('./secure-sockets.ts')).secureSockets(tls, how)
  return (message) => sent(sockets, message)
}

function sent({ agent, ask }: Sockets, message: Message): Promise<Answer> {
  const { url, method, body, signal } = message
  const length = body === undefined ? {} : { 'content-length': Buffer.byteLength(body) }
  const headers = { ...message.headers, ...length }
  return new Promise((resolve, reject) => {
    const asked = ask(url, { agent, method, headers, ...(signal !== undefined && { signal }) })
    asked.once('socket', (socket) => connectedInTime(asked, socket))
    asked.once('response', (answer) =>
      resolve({ status: answer.statusCode ?? 0, headers: answer.headers, body: answer }),
    )
    asked.on('error', reject)
    asked.end(body)
  })
}

function connectedInTime(asked: ClientRequest, socket: Socket): void {
  if (!socket.connecting) return
  const timer = setTimeout(() => {
    const why = `no connection within ${connectWithin / 1000} s`
    asked.destroy(Object.assign(new Error(why), { code: 'ETIMEDOUT', syscall: 'connect' }))
  }, connectWithin)
  const done = () => clearTimeout(timer)
  socket.once('encrypted' in socket ? 'secureConnect' : 'connect', done).once('close', done)
}
