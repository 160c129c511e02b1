import type { Answer } from './answer.ts'
import { directConnections } from './direct-connections.ts'
import type { Headers } from './impersonation.ts'
import type { Tls } from './presented.ts'
import type { Target } from './target.ts'

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
  const trusted = await trusting(tls)
  if (!cluster.proxyUrl) return directConnections(cluster.server, trusted)
  const { proxiedConnections } = await import('./proxied-connections.ts')
  return proxiedConnections({ ...cluster, proxyUrl: cluster.proxyUrl }, trusted)
}

/** Where the kubeconfig names no authority, this machine's are trusted, as kubectl does; Node alone asks its own list. */
async function trusting(tls: Tls): Promise<Tls> {
  if (tls.ca !== undefined || tls.rejectUnauthorized === false) return tls
  const { getCACertificates } = await import('node:tls')
  return { ...tls, ca: [...getCACertificates('default'), ...getCACertificates('system')] }
}
