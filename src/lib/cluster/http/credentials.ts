import { usageError } from '../../system/errors.ts'
import { ticks } from '../../system/clock.ts'
import { shortened } from './body-in-words.ts'
import { connectionsTo, type Send } from './connections.ts'
import { type Headers, impersonationHeaders } from './impersonation.ts'
import { type Login, loginOf, type LoginTools } from './login.ts'
import type { Tls } from './presented.ts'
import type { Target } from './target.ts'

export interface Access {
  readonly send: Send
  /** Authorization and impersonation. */
  readonly headers: Headers
}

/** A token file or an exec plug-in is asked again this often; in between a 401 asks them. */
const freshFor = 30_000

/** Who we are to the server: read once, kept, and read again when they are old or were refused. */
export class Credentials {
  readonly #resolve: () => Promise<Target>
  readonly #tools: LoginTools
  #login: { target: Target; present: Login } | undefined
  #access: (Access & { readAt: number; tls: string }) | undefined
  #reading: Promise<Access> | undefined

  /** `resolve` reads the kubeconfig: at the first call and after a refusal. */
  constructor(resolve: () => Promise<Target>, tools: LoginTools) {
    this.#resolve = resolve
    this.#tools = tools
  }

  async current(): Promise<Access> {
    const kept = this.#access
    if (kept === undefined) return this.#readOnce()
    if (this.#now() - kept.readAt < freshFor) return kept
    // What the server has not refused stays good enough while a file or a plug-in fails.
    return this.#readOnce().catch(() => Object.assign(kept, { readAt: this.#now() }))
  }

  /** Forgets what was refused: the kubeconfig is read and the plug-in run again, once for all who wait. */
  async renew(refused: Access): Promise<Access> {
    if (this.#access !== undefined && this.#access !== refused) return this.#access
    this.#login = undefined
    return this.#readOnce()
  }

  #readOnce(): Promise<Access> {
    this.#reading ??= this.#read().finally(() => (this.#reading = undefined))
    return this.#reading
  }

  async #read(): Promise<Access> {
    this.#login ??= await this.#fresh()
    const { target, present } = this.#login
    const { tls, headers } = await present()
    const seen = JSON.stringify([tls.ca, tls.cert, tls.key, tls.servername, target.cluster].map(asText))
    const kept = this.#access
    const send = kept?.tls === seen ? kept.send : await connected(target, tls)
    this.#access = {
      send,
      headers: { ...headers, ...impersonationHeaders(target.impersonation) },
      tls: seen,
      readAt: this.#now(),
    }
    return this.#access
  }

  async #fresh() {
    const target = await this.#resolve()
    return { target, present: loginOf(target, this.#tools) }
  }

  #now(): number {
    return ticks(this.#tools.clock)
  }
}

/** Keys and certificates are read when the first connection is made. Throws a usage error for what is none. */
async function connected({ cluster, login }: Target, tls: Tls): Promise<Access['send']> {
  try {
    return await connectionsTo(cluster, tls)
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : String(cause)
    throw usageError(
      'certificate-unusable',
      `the client certificate, its key or the certificate authority for ${login.name} cannot be used: ${shortened(why, 200)}`,
      { remedy: 'kubectl config view --raw=false   # shows where they stand', cause },
    )
  }
}

const asText = (value: unknown): unknown =>
  Buffer.isBuffer(value) ? value.toString('base64') : Array.isArray(value) ? value.map(asText) : value
