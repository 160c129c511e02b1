import { getCACertificates } from 'node:tls'
import { EnvHttpProxyAgent } from 'undici'

/** HTTPS_PROXY, HTTP_PROXY and NO_PROXY, in capitals or not, among others. */
export type ProxyEnvironment = Readonly<Record<string, string | undefined>>

/** How long the other side may be silent, ms. */
const silence = 30_000

/**
 * For one download: the proxies of the environment that was passed in, and every authority that Node or the machine trusts
 * (NODE_EXTRA_CA_CERTS included). The caller destroys it.
 */
export function agentFor(env: ProxyEnvironment): EnvHttpProxyAgent {
  const ca = [...new Set([...getCACertificates('default'), ...getCACertificates('system')])]
  const variable = (name: string) => env[name.toLowerCase()] ?? env[name] ?? ''
  return new EnvHttpProxyAgent({
    httpProxy: variable('HTTP_PROXY'),
    httpsProxy: variable('HTTPS_PROXY'),
    noProxy: variable('NO_PROXY'),
    connect: { ca, timeout: silence },
    requestTls: { ca },
    proxyTls: { ca },
    headersTimeout: silence,
    bodyTimeout: silence,
  })
}
