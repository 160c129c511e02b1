import { readFileSync } from 'node:fs'
import type { Headers } from './impersonation.ts'
import type { Target } from './target.ts'

/** What TLS has to know: whom to trust, and who we are. */
export interface Tls {
  ca?: string | Buffer | (string | Buffer)[]
  cert?: string | Buffer
  key?: string | Buffer
  servername?: string
  rejectUnauthorized?: boolean
}

/** What is shown to the server: certificates below, headers above. */
export interface Presented {
  tls: Tls
  headers: Headers
}

/**
 * What a login without a plug-in presents: certificate, token, token file, name and password. The same as client-node
 * would: a file goes before data, a token before a password. Throws what reading a file throws.
 */
export function presented({ cluster, login }: Pick<Target, 'cluster' | 'login'>): Presented {
  const authorization = authorizationOf(login)
  return {
    tls: compact({
      rejectUnauthorized: cluster.skipTLSVerify ? false : undefined,
      servername: cluster.tlsServerName || undefined,
      ca: bytes(cluster.caFile, cluster.caData),
      cert: bytes(login.certFile, login.certData),
      key: bytes(login.keyFile, login.keyData),
    }),
    headers: authorization === undefined ? {} : { authorization },
  }
}

function authorizationOf({ token, authProvider, username, password }: Target['login']): string | undefined {
  if (token) return `Bearer ${token.trim()}`
  const { tokenFile } = (authProvider as { config?: { tokenFile?: string } } | null | undefined)?.config ?? {}
  const fromFile = tokenFile ? readFileSync(tokenFile, 'utf8').trim() : ''
  if (fromFile !== '') return `Bearer ${fromFile}`
  return username ? `Basic ${Buffer.from(`${username}:${password}`).toString('base64')}` : undefined
}

function bytes(file: string | null | undefined, data: string | null | undefined): Buffer | undefined {
  if (file) return readFileSync(file)
  return data ? Buffer.from(data, 'base64') : undefined
}

type Given<T> = { [K in keyof T]?: NonNullable<T[K]> }

export function compact<T extends object>(options: T): Given<T> {
  return Object.fromEntries(
    Object.entries(options).filter(([, value]) => value !== undefined && value !== null),
  ) as Given<T>
}
