import { HttpMethod, KubeConfig, RequestContext } from '@kubernetes/client-node'
import type { Dispatcher } from 'undici'
import { compact, type Tls } from './presented.ts'
import type { Target } from './target.ts'

/** The tunnel through a socks proxy that client-node builds. Throws for an address that it cannot use. */
export async function socksTunnel(
  cluster: Target['cluster'],
  { ca, cert, key }: Tls,
): Promise<Dispatcher | undefined> {
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
