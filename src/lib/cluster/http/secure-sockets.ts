import { Agent, request } from 'node:https'
import { createSecureContext } from 'node:tls'
import type { Sockets } from './direct-connections.ts'
import type { Tls } from './presented.ts'

/** The certificates are read once for all connections. */
export function secureSockets({ ca, cert, key, ...others }: Tls, kept: object): Sockets {
  const secureContext = createSecureContext({ ca, cert, key })
  return { agent: new Agent({ ...kept, ...others, secureContext }), ask: request }
}
