import { Agent, request } from 'node:https'
import { createSecureContext, getCACertificates } from 'node:tls'
import type { Sockets } from './connections.ts'
import type { Tls } from './kubeconfig.ts'

/** The certificates are read once for all connections. This file is imported late: TLS takes its time to load. */
export function secureSockets({ ca, cert, key, ...others }: Tls, kept: object): Sockets {
  const secureContext = createSecureContext({ ca, cert, key })
  return { agent: new Agent({ ...kept, ...others, secureContext }), ask: request }
}

/** Where the kubeconfig names no authority, this machine's are trusted, as kubectl does; Node alone asks its own list. */
export function trusting(tls: Tls): Tls {
  return { ...tls, ca: [...getCACertificates('default'), ...getCACertificates('system')] }
}
