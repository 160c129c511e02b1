import type { Agent, ClientRequest, IncomingMessage, RequestOptions } from 'node:http'
import type { Socket } from 'node:net'
import type { Answer } from './answer.ts'
import type { Message, Send } from './connections.ts'
import type { Tls } from './presented.ts'

/** Idle connections live longer than the pauses between polls, and shorter than what load balancers keep. */
const idle = 20_000
const probeAfter = 30_000
/** A server that is not there should be told from a slow one. */
const connectWithin = 10_000
const kept = { keepAlive: true, keepAliveMsecs: probeAfter, timeout: idle }

interface Sockets {
  agent: Agent
  request: (url: string, options: RequestOptions) => ClientRequest
}

/** Node's own client: nothing to load, where undici takes as long to start as all of a `status`. */
export async function directConnections(server: string, tls: Tls): Promise<Send> {
  const sockets = /^http:/i.test(server) ? await plain() : await secured(tls)
  return (message) => sent(sockets, message)
}

async function plain(): Promise<Sockets> {
  const { Agent, request } = await import('node:http')
  return { agent: new Agent(kept), request }
}

async function secured({ ca, cert, key, ...others }: Tls): Promise<Sockets> {
  const [{ Agent, request }, { createSecureContext }] = await Promise.all([
    import('node:https'),
    import('node:tls'),
  ])
  const secureContext = createSecureContext({ ca, cert, key })
  return { agent: new Agent({ ...kept, ...others, secureContext }), request }
}

function sent({ agent, request }: Sockets, message: Message): Promise<Answer> {
  const { url, method, body, signal } = message
  const length = body === undefined ? {} : { 'content-length': Buffer.byteLength(body) }
  return new Promise((resolve, reject) => {
    const asked = request(url, {
      agent,
      method,
      headers: { ...message.headers, ...length },
      ...(signal !== undefined && { signal }),
    })
    asked.once('socket', (socket) => connectedInTime(asked, socket))
    asked.once('response', (answer) => resolve(answerOf(answer)))
    asked.on('error', reject)
    asked.end(body)
  })
}

function answerOf(answer: IncomingMessage): Answer {
  return { status: answer.statusCode ?? 0, headers: answer.headers, body: answer }
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
