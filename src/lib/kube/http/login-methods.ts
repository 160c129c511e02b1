import { isRecord, parseJson } from '../object.ts'
import { execFile, type ExecFileException } from 'node:child_process'
import type { Environment, Headers, Target } from './target.ts'
import type { Login } from './credentials.ts'
import { compact, presented, type Tls } from './kubeconfig.ts'
import type { User } from '@kubernetes/client-node'
import type { RequestOptions } from 'node:https'
import { X509Certificate } from 'node:crypto'
import { readFileSync } from 'node:fs'

/** `users[].user.exec` of a kubeconfig. */
export interface ExecPlugin {
  command: string
  args?: string[] | null
  env?: { name: string; value: string }[] | null
  installHint?: string
}

export interface ExecTools {
  /** Of kvup itself: the plug-in gets it, and what the kubeconfig adds. */
  env: Environment
  /** Ends a plug-in that is running. */
  ending: AbortSignal | undefined
  /** ms */
  within: number
}

/** `status` of an ExecCredential, client.authentication.k8s.io. */
interface Credential {
  expirationTimestamp?: string
  token?: string
  clientCertificateData?: string
  clientKeyData?: string
}

/** A credential has some kilobytes; more is a plug-in that went wrong. */
const mostOutput = 1024 * 1024

/**
 * Logs in by a plug-in as client-go does, and asks it again when what it gave has expired. It is killed where it takes longer than it
 * may, or kvup ends. Rejects with why it failed: its last words, or what is wrong with its answer.
 */
export function execLogin(target: Target, plugin: ExecPlugin, tools: ExecTools): Login {
  let kept: Credential | undefined
  return async () => {
    if (kept === undefined || hasExpired(kept)) kept = credentialIn(await run(plugin, tools))
    const { tls, headers } = presented({ ...target, login: { name: target.login.name } })
    const { token, clientCertificateData: cert, clientKeyData: key } = kept
    return {
      tls: { ...tls, ...compact({ cert, key }) },
      headers: token ? { ...headers, authorization: `Bearer ${token}` } : headers,
    }
  }
}

/** By this machine's clock, as every other program that uses the plug-in. */
const hasExpired = ({ expirationTimestamp }: Credential): boolean =>
  expirationTimestamp !== undefined && Date.parse(expirationTimestamp) <= Date.now()

function run({ command, args, env: added }: ExecPlugin, { env, ending, within }: ExecTools): Promise<string> {
  const all = { ...env, ...Object.fromEntries((added ?? []).map(({ name, value }) => [name, value])) }
  return new Promise((resolve, reject) => {
    const options = { env: all, maxBuffer: mostOutput, timeout: within, ...compact({ signal: ending }) }
    const child = execFile(command, args ?? [], options, (error, stdout, stderr) => {
      if (error === null) resolve(stdout)
      else reject(whyFailed(error, stderr, within))
    })
    // Nobody is there to answer a question: interactive is false.
    child.stdin?.on('error', () => undefined).end()
  })
}

function whyFailed(
  error: ExecFileException & { syscall?: string | undefined },
  said: string,
  within: number,
): Error {
  if (error.syscall !== undefined) return error
  if (error.code === 'ERR_CHILD_PROCESS_STDIO_MAXBUFFER') return new Error('its output is larger than 1 MB')
  if (error.killed === true)
    return new Error(`it did not finish within ${within / 1000} s, and kvup stopped it`)
  return new Error(said.trim() || error.message, { cause: error })
}

function credentialIn(text: string): Credential {
  const answer = parseJson(text)
  // What it printed may be half a token: it is not repeated.
  if (answer === undefined)
    throw new Error(text.trim() === '' ? 'it printed nothing' : 'its output is no JSON')
  const status = isRecord(answer) ? answer['status'] : undefined
  if (!isRecord(status)) throw new Error('its output is no ExecCredential with a status')
  const known: Record<string, unknown> = {}
  for (const key of ['expirationTimestamp', 'token', 'clientCertificateData', 'clientKeyData']) {
    const value = status[key]
    if (value === undefined || value === null) continue
    if (typeof value !== 'string') throw new Error(`status.${key} of its output is no text`)
    known[key] = value
  }
  return known
}

/** Every way to log in that client-node knows but for plug-ins: OIDC and the providers of clouds, which it remembers between calls. */
export async function clientNodeLogin({ cluster, login }: Target): Promise<Login> {
  const { KubeConfig } = await import('@kubernetes/client-node')
  const config = new KubeConfig()
  // Impersonation is sent by us, groups and all; whether and how there is a proxy is no matter of the login.
  const { proxyUrl: _, ...near } = cluster
  config.loadFromClusterAndUser(near, { ...login, ...({ impersonateUser: undefined } as object) })
  return async () => {
    const options: RequestOptions = {}
    await config.applyToHTTPSOptions(options)
    const { ca, cert, key, servername, rejectUnauthorized, headers, auth } = options
    const given = Object.entries(headers ?? {}).map(([name, value]) => [
      name.toLowerCase(),
      String(value).trim(),
    ])
    const basic = compact({ authorization: auth && `Basic ${Buffer.from(auth).toString('base64')}` })
    return {
      tls: compact({ ca, cert, key, servername, rejectUnauthorized }) as Tls,
      headers: { ...basic, ...(Object.fromEntries(given) as Headers) },
    }
  }
}

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
  const said =
    payload === undefined ? undefined : parseJson(Buffer.from(payload, 'base64url').toString('utf8'))
  const end = isRecord(said) ? said['exp'] : undefined
  return typeof end === 'number' ? new Date(end * 1000) : undefined
}

function certificateEnd({ certData, certFile }: User): Date | undefined {
  try {
    const pem = certData === undefined ? certFile && readFileSync(certFile) : Buffer.from(certData, 'base64')
    return pem ? new Date(new X509Certificate(pem).validTo) : undefined
  } catch {
    return undefined
  }
}
