import { KubeConfig } from '@kubernetes/client-node'
import type { RequestOptions } from 'node:https'
import type { Headers } from './impersonation.ts'
import type { Login } from './login.ts'
import { compact, type Tls } from './presented.ts'
import type { Target } from './target.ts'

/** Every way to log in that client-node knows but for plug-ins: OIDC and the providers of clouds, which it remembers between calls. */
export function clientNodeLogin({ cluster, login }: Target): Login {
  const config = new KubeConfig()
  // Impersonation is sent by us, groups and all; whether and how there is a proxy is no matter of the login.
  const { proxyUrl: _, ...near } = cluster
  config.loadFromClusterAndUser(near, { ...login, ...({ impersonateUser: undefined } as object) })
  return async () => {
    const options: RequestOptions = {}
    await config.applyToHTTPSOptions(options)
    return { tls: tlsOf(options), headers: headersOf(options) }
  }
}

function tlsOf({ ca, cert, key, servername, rejectUnauthorized }: RequestOptions): Tls {
  return compact({ ca, cert, key, servername, rejectUnauthorized }) as Tls
}

function headersOf({ headers, auth }: RequestOptions): Headers {
  const given = Object.entries(headers ?? {}).map(([name, value]) => [
    name.toLowerCase(),
    String(value).trim(),
  ])
  const basic =
    auth === undefined || auth === null
      ? {}
      : { authorization: `Basic ${Buffer.from(auth).toString('base64')}` }
  return { ...basic, ...Object.fromEntries(given) }
}
