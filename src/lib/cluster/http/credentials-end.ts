import type { User } from '@kubernetes/client-node'
import { X509Certificate } from 'node:crypto'
import { readFileSync } from 'node:fs'

/**
 * When a login that cannot renew itself ends: the `exp` of a token in the kubeconfig, the last day of a client certificate,
 * the earlier of both. Undefined for plug-ins, OIDC and token files, which bring a new one in time, and where nothing tells.
 */
export function credentialsEnd(login: User): Date | undefined {
  if (login.exec !== undefined || login.authProvider !== undefined) return undefined
  const ends = [tokenEnd(login.token), certificateEnd(login)].filter((end) => end !== undefined)
  return ends.toSorted((a, b) => a.getTime() - b.getTime())[0]
}

/** Of a JSON Web Token, which is only read here, not trusted. */
function tokenEnd(token: string | undefined): Date | undefined {
  const payload = token?.split('.')[1]
  if (payload === undefined) return undefined
  try {
    const { exp } = JSON.parse(Buffer.from(payload, 'base64url').toString('utf8')) as { exp?: unknown }
    return typeof exp === 'number' ? new Date(exp * 1000) : undefined
  } catch {
    return undefined
  }
}

function certificateEnd({ certData, certFile }: User): Date | undefined {
  try {
    const pem = certData === undefined ? certFile && readFileSync(certFile) : Buffer.from(certData, 'base64')
    return pem ? new Date(new X509Certificate(pem).validTo) : undefined
  } catch {
    return undefined
  }
}
