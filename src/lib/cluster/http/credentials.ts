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

/** Who we are to the server: read once, kept, and read again when they are old or were refused. */
export class Credentials {
  readonly #resolve: () => Target
  readonly #clock: Clock
  #config: KubeConfig | undefined
  #access: (Access & { readAt: number; tls: string }) | undefined
  #reading: Promise<Access> | undefined

  constructor(resolve: () => Target, clock: Clock) {
    this.#resolve = resolve
    this.#clock = clock
  }

  async current(): Promise<Access> {
    const kept = this.#access
    if (kept !== undefined && this.#clock.now().getTime() - kept.readAt < freshFor) return kept
    return this.#readOnce()
  }

  /** Forgets what was refused: the kubeconfig is read and the plug-in run again, once for all who wait. */
  async renew(refused: Access): Promise<Access> {
    if (this.#access !== refused && this.#access !== undefined) return this.#access
    this.#config = undefined
    return this.#readOnce()
  }

  #readOnce(): Promise<Access> {
    this.#reading ??= this.#read().finally(() => (this.#reading = undefined))
    return this.#reading
  }

  async #read(): Promise<Access> {
    const target = this.#resolve()
    this.#config ??= configFor(target)
    const told = await login(this.#config, target)
    const tls = JSON.stringify([told.ca, told.cert, told.key, told.servername, target.cluster], asText)
    const dispatcher =
      this.#access?.tls === tls ? this.#access.dispatcher : await dispatcherFor(this.#config, told)
    const headers = { ...headersOf(told), ...impersonationHeaders(target.impersonation) }
    this.#access = { dispatcher, headers, tls, readAt: this.#clock.now().getTime() }
    return this.#access
  }
}

function configFor({ cluster, login: user }: Target): KubeConfig {
  const config = new KubeConfig()
  // Impersonation is sent by us, groups and all.
  config.loadFromClusterAndUser(cluster, { ...user, ...({ impersonateUser: undefined } as object) })
  return config
}

async function login(config: KubeConfig, target: Target): Promise<RequestOptions> {
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

const asText = (_: string, value: unknown): unknown =>
  typeof value === 'object' && value !== null && 'type' in value && value.type === 'Buffer'
    ? Buffer.from((value as unknown as { data: number[] }).data).toString('base64')
    : value
