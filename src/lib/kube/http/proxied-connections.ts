import { Agent, type Dispatcher, ProxyAgent, request } from 'undici'
import type { Send } from './connections.ts'
import { compact, type Tls } from './kubeconfig.ts'
import type { Target } from './target.ts'

type Proxied = Target['cluster'] & { proxyUrl: string }

/** Idle connections live longer than the pauses between polls, and shorter than what load balancers keep. */
const keepAliveTimeout = 20_000
/** Answers may be silent for long (a watch); requests bring their own time limits. */
const patient = { keepAliveTimeout, headersTimeout: 0, bodyTimeout: 0, allowH2: false }
const connect = { keepAlive: true, keepAliveInitialDelay: 30_000 }

/** Through an http(s) proxy by undici, through a socks proxy by the tunnel that client-node brings. */
export async function proxiedConnections(cluster: Proxied, tls: Tls): Promise<Send> {
  const uri = cluster.proxyUrl
  const dispatcher = uri.startsWith('socks')
    ? await tunnelled(cluster, tls)
    : new ProxyAgent({ ...patient, uri, requestTls: { ...tls }, connect })
  return async ({ url, method, headers, body, signal }) => {
    const answer = await request(url, { dispatcher, method, headers, ...compact({ body, signal }) })
    return { status: answer.statusCode, headers: answer.headers, body: answer.body }
  }
}

async function tunnelled(cluster: Proxied, tls: Tls): Promise<Dispatcher> {
  return (await socksTunnel(cluster, tls)) ?? new Agent(patient)
}

/** The tunnel through a socks proxy that client-node builds. Throws for an address that it cannot use. */
async function socksTunnel(
  cluster: Target['cluster'],
  { ca, cert, key }: Tls,
): Promise<Dispatcher | undefined> {
  const { HttpMethod, KubeConfig, RequestContext } = await import('@kubernetes/client-node')
  const config = new KubeConfig()
  const { caFile: _, caData: __, ...server } = cluster
  config.loadFromClusterAndUser(
    { ...server, ...compact({ caData: base64(ca) }) },
    { name: 'tunnel', ...compact({ certData: base64(cert), keyData: base64(key) }) },
  )
  const asked = new RequestContext(cluster.server, HttpMethod.GET)
  await config.applySecurityAuthentication(asked)
  return asked.getDispatcher()
}

/** Several certificates are one text of all of them. */
function base64(pem: Tls['ca']): string | undefined {
  if (pem === undefined) return undefined
  const all = Array.isArray(pem) ? pem : [pem]
  return Buffer.from(all.map(String).join('\n')).toString('base64')
}
