import { readFileSync } from 'node:fs'
import { request } from 'node:https'
import { getCACertificates } from 'node:tls'
import type { RouteAnswer, RouteCall } from '../cluster.ts'
import { messageOf } from '../errors.ts'
import type { Target } from './target.ts'
import type { Credentials } from './credentials.ts'

/** ms, for all of it. */
const atMost = 5000
/** Thousands of alerts. */
const largest = 4 * 1024 * 1024

/** Where the kubeconfig keeps the authority and whether it wants none checked; who we are. */
interface Asker {
  target: Target
  credentials: Pick<Credentials, 'current'>
}

/**
 * Asks whoever listens behind a Route once, over https that is always verified: by the kubeconfig's authority, by those of the call, or by this machine's. Only a bearer token is sent, and only of the
 * user itself; no redirect is followed. Whatever becomes of it is an answer, never an error.
 */
export async function askRoute(call: RouteCall, { target, credentials }: Asker): Promise<RouteAnswer> {
  const { cluster, impersonation } = target
  if (cluster.skipTLSVerify)
    return {
      why: 'the kubeconfig has insecure-skip-tls-verify, but kvup sends the token only to a verified server',
    }
  if (impersonation.user !== undefined)
    return { why: `the token is not that of ${impersonation.user}, who is impersonated` }
  const { headers } = await credentials.current()
  const authorization = Object.entries(headers).find(([name]) => name.toLowerCase() === 'authorization')?.[1]
  if (typeof authorization !== 'string' || !/^Bearer \S/u.test(authorization))
    return { why: 'this login has no token: it is by client certificate or password' }
  try {
    const authorities = [...authorityOf(cluster), ...call.authorities, ...ofThisMachine()]
    return await sent(call, { authorization, ca: authorities })
  } catch (error) {
    // A file that is gone, a certificate or a token that is none.
    return { why: messageOf(error) }
  }
}

const ofThisMachine = () => [...getCACertificates('default'), ...getCACertificates('system')]

/** That of the API server, where the kubeconfig names one. */
function authorityOf({ caData, caFile }: Target['cluster']): readonly string[] {
  if (caFile !== undefined) return [readFileSync(caFile, 'utf8')]
  return caData === undefined ? [] : [Buffer.from(caData, 'base64').toString('utf8')]
}

function sent(
  { host, port, path }: RouteCall,
  { authorization, ca }: { authorization: string; ca: readonly string[] },
): Promise<RouteAnswer> {
  const signal = AbortSignal.timeout(atMost)
  const how = { method: 'GET', agent: false, rejectUnauthorized: true, signal, ca: [...ca] }
  return new Promise((resolve) => {
    const failed = (error: Error) =>
      resolve({ why: signal.aborted ? `the Route did not answer within ${atMost / 1000} s` : error.message })
    const headers = { authorization, accept: 'application/json' }
    const asked = request({ host, port: port ?? 443, path, headers, ...how }, (answer) => {
      const given = (why: string) => {
        answer.destroy()
        resolve({ why })
      }
      const refused = refusal(answer.statusCode ?? 0, answer.headers['content-type'] ?? '')
      if (refused !== undefined) return given(refused)
      let size = 0
      const pieces: Buffer[] = []
      answer.on('error', failed)
      answer.on('data', (piece: Buffer) => {
        size += piece.length
        if (size > largest) given(`the Route answers with more than ${largest / 1024 / 1024} MiB`)
        else pieces.push(piece)
      })
      answer.on('end', () => resolve({ text: Buffer.concat(pieces).toString('utf8') }))
    })
    asked.on('error', failed)
    asked.end()
  })
}

function refusal(status: number, type: string): string | undefined {
  if (status >= 300 && status < 400) return `the Route redirects (${status}), which kvup does not follow`
  if (status === 401 || status === 403) return `the Route answers ${status}: this user may not read alerts`
  if (/html/iu.test(type)) return 'the Route answered HTML'
  return status === 200 ? undefined : `the Route answers ${status}`
}
