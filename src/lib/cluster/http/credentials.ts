import { KubeConfig } from '@kubernetes/client-node'
import type { RequestOptions } from 'node:https'
import type { Dispatcher } from 'undici'
import type { Clock } from '../../system/clock.ts'
import { dispatcherFor } from './dispatcher.ts'
import { type Headers, impersonationHeaders } from './impersonation.ts'
import { loginFailure } from './login-failure.ts'
import type { Target } from './target.ts'

export interface Access {
  readonly dispatcher: Dispatcher
  /** Authorization and impersonation. */
  readonly headers: Headers
}

/** A token file or an exec plug-in is asked again this often; in between a 401 asks them. */
const freshFor = 30_000

interface Login {
  target: Target
  config: KubeConfig
}

/** Who we are to the server: read once, kept, and read again when they are old or were refused. */
export class Credentials {
  readonly #resolve: () => Target
  readonly #clock: Clock
  #login: Login | undefined
  #access: (Access & { readAt: number; tls: string }) | undefined
  #reading: Promise<Access> | undefined

  /** `resolve` reads the kubeconfig: at the first call and after a refusal. */
  constructor(resolve: () => Target, clock: Clock) {
    this.#resolve = resolve
    this.#clock = clock
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
    this.#login ??= loginOf(this.#resolve())
    const { target, config } = this.#login
    const told = await logIn(config, target)
    const tls = JSON.stringify([told.ca, told.cert, told.key, told.servername, target.cluster].map(asText))
    const kept = this.#access
    const dispatcher = kept?.tls === tls ? kept.dispatcher : await dispatcherFor(config, told)
    const headers = { ...headersOf(told), ...impersonationHeaders(target.impersonation) }
    this.#access = { dispatcher, headers, tls, readAt: this.#now() }
    return this.#access
  }

  #now(): number {
    return this.#clock.now().getTime()
  }
}

function loginOf(target: Target): Login {
  const { cluster, login: user } = target
  const config = new KubeConfig()
  // Impersonation is sent by us, groups and all.
  config.loadFromClusterAndUser(cluster, { ...user, ...({ impersonateUser: undefined } as object) })
  return { target, config }
}

async function logIn(config: KubeConfig, target: Target): Promise<RequestOptions> {
  const options: RequestOptions = {}
  try {
    await config.applyToHTTPSOptions(options)
  } catch (error) {
    throw loginFailure(error, target)
  }
  return options
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

const asText = (value: unknown): unknown => (Buffer.isBuffer(value) ? value.toString('base64') : value)
