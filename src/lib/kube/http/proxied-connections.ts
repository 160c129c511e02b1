import { type Dispatcher, ProxyAgent, request } from 'undici'
import type { Send } from './connections.ts'
import { compact, type Tls } from './kubeconfig.ts'
import type { Target } from './target.ts'

type Proxied = Target['cluster'] & { proxyUrl: string }

/** Idle connections live longer than the pauses between polls, and shorter than what load balancers keep. */
const keepAliveTimeout = 20_000
/** Answers may be silent for long (a watch); requests bring their own time limits. */
const patient = { keepAliveTimeout, headersTimeout: 0, bodyTimeout: 0, allowH2: false }
const connect = { keepAlive: true, keepAliveInitialDelay: 30_000 }

/** Through an http(s) or a socks proxy. Throws for an address that cannot be used. */
export async function proxiedConnections({ proxyUrl: uri }: Proxied, tls: Tls): Promise<Send> {
  const dispatcher = /^socks/iu.test(uri)
    ? await throughSocks(uri, tls)
    : new ProxyAgent({ ...patient, uri, requestTls: { ...tls }, connect })
  return async ({ url, method, headers, body, signal }) => {
    const answer = await request(url, { dispatcher, method, headers, ...compact({ body, signal }) })
    return { status: answer.statusCode, headers: answer.headers, body: answer.body }
  }
}

/** The proxy looks the server's name up. */
async function throughSocks(address: string, tls: Tls): Promise<Dispatcher> {
  const { socksDispatcher } = await import('fetch-socks')
  const { protocol, hostname, port, username, password } = new URL(address)
  const proxy = {
    type: protocol.startsWith('socks4') ? (4 as const) : (5 as const),
    host: hostname.replaceAll(/[[\]]/gu, ''),
    port: Number(port === '' ? 1080 : port),
    ...(username !== '' && { userId: decodeURIComponent(username), password: decodeURIComponent(password) }),
  }
  return socksDispatcher(proxy, { ...patient, connect: { ...tls, ...connect, allowH2: false } })
}
