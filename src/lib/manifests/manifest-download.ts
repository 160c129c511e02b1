import { EnvHttpProxyAgent, fetch, type Response } from 'undici'
import { KvupError, unreachable, usageError } from '../kube/errors.ts'
import { shellWord } from '../kube/shell-line.ts'
import { originOf, secureUrl, sizeLimit, tooLarge } from './manifest-source.ts'
import { getCACertificates } from 'node:tls'

export interface Network {
  readonly env: ProxyEnvironment
  readonly signal?: AbortSignal
}

const mostRedirects = 5

/**
 * The bytes behind a URL: https all the way, through the proxy of the environment, never more than the limit. Throws `usage`
 * when it is not there, `unreachable` when there is no way to it.
 */
export async function download(url: string, { env, signal }: Network): Promise<Buffer> {
  const origin = originOf({ from: 'url', url })
  const agent = agentFor(env)
  try {
    const response = await arrive(url, agent, signal)
    if (!response.ok) throw refused(origin, response)
    return await bodyOf(response, origin)
  } catch (cause) {
    if (cause instanceof KvupError) throw cause
    signal?.throwIfAborted()
    throw unreachable('manifest-unreachable', `cannot fetch ${origin}: ${why(cause)}`, {
      remedy: elsewhere(origin),
      cause,
    })
  } finally {
    await agent.destroy()
  }
}

/** Redirects are followed by hand, so that none leads away from https. */
async function arrive(url: string, agent: EnvHttpProxyAgent, signal?: AbortSignal): Promise<Response> {
  let next = url
  for (let hop = 0; hop <= mostRedirects; hop++) {
    const { href, headers } = loginApart(new URL(next))
    const response = await fetch(href, {
      headers,
      dispatcher: agent,
      redirect: 'manual',
      ...(signal && { signal }),
    })
    const location = response.headers.get('location')
    if (response.status < 300 || response.status >= 400 || location === null) return response
    await response.body?.cancel()
    next = secureUrl(new URL(location, next).href).href
  }
  throw new Error(`more than ${mostRedirects} redirects`)
}

/** `fetch` takes no address with a login in it, and says the password when it refuses. A redirect elsewhere takes none along. */
function loginApart(url: URL): { href: string; headers: Record<string, string> } {
  const { username, password } = url
  if (username === '' && password === '') return { href: url.href, headers: {} }
  url.username = ''
  url.password = ''
  const login = Buffer.from(`${decodeURIComponent(username)}:${decodeURIComponent(password)}`)
  return { href: url.href, headers: { authorization: `Basic ${login.toString('base64')}` } }
}

async function bodyOf(response: Response, origin: string): Promise<Buffer> {
  const chunks: Uint8Array[] = []
  let size = 0
  for await (const chunk of response.body ?? []) {
    size += chunk.length
    if (size > sizeLimit) throw tooLarge(origin)
    chunks.push(chunk)
  }
  return Buffer.concat(chunks)
}

function refused(origin: string, { status, statusText }: Response): Error {
  if (status === 404 || status === 410) {
    return usageError('manifest-missing', `there is no manifest at ${origin} (${status})`, {
      remedy: ['is it a released version? https://github.com/kubevirt/kubevirt/releases', mirror],
    })
  }
  return unreachable('manifest-unreachable', `cannot fetch ${origin}: ${status} ${statusText}`.trimEnd(), {
    remedy: elsewhere(origin),
  })
}

const mirror = 'or name a mirror of the releases: --manifest-base URL'

/** It is there, and the way to it is not: a line for a machine that has one. A folder serves one release as well as an upgrade path. */
function elsewhere(origin: string): readonly string[] {
  const [, tag] = /\/([^/]+)\/kubevirt-operator\.yaml$/u.exec(origin) ?? []
  return tag === undefined
    ? [
        `curl -fLO ${shellWord(origin)}     on a computer that can reach it; then the same command here with --manifest FILE`,
        mirror,
      ]
    : [
        `curl -fL --create-dirs -o ${shellWord(`releases/${tag}/kubevirt-operator.yaml`)} ${shellWord(origin)}     on a computer that can reach it`,
        'then the same command here with --manifest-base releases, or for one release with --manifest FILE',
        mirror,
      ]
}

/** undici hides the cause of a failure one level below "fetch failed". */
function why(error: unknown): string {
  const inner = error instanceof Error && error.cause instanceof Error ? error.cause : error
  if (!(inner instanceof Error)) return String(inner)
  const code = 'code' in inner ? String(inner.code) : ''
  return inner.message.includes(code) ? inner.message : `${inner.message} (${code})`
}

/** HTTPS_PROXY, HTTP_PROXY and NO_PROXY, in capitals or not, among others. */
type ProxyEnvironment = Readonly<Record<string, string | undefined>>

/** How long the other side may be silent, ms. */
const silence = 30_000

/**
 * For one download: the proxies of the environment that was passed in, and every authority that Node or the machine trusts
 * (NODE_EXTRA_CA_CERTS included). The caller destroys it.
 */
function agentFor(env: ProxyEnvironment): EnvHttpProxyAgent {
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
