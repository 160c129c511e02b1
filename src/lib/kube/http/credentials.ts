import { ApiError, type Details, type KvupError, messageOf, usageError } from '../errors.ts'
import { type Clock, ticks } from '../clock.ts'
import { shellWord } from '../shell-line.ts'
import { shortened } from './failure.ts'
import { connectionsTo, type Send } from './connections.ts'
import { type Environment, type Headers, impersonationHeaders, type Target } from './target.ts'
import { type Presented, presented, type Tls } from './kubeconfig.ts'
import type { ExecPlugin } from './login-methods.ts'

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
    const target = this.#login?.target ?? (await this.#resolve())
    this.#login ??= { target, present: loginOf(target, this.#tools) }
    const { present } = this.#login
    const { tls, headers } = await present()
    const observed = JSON.stringify([tls.ca, tls.cert, tls.key, tls.servername, target.cluster].map(asText))
    const kept = this.#access
    const send = kept?.tls === observed ? kept.send : await connected(target, tls)
    const sent = { ...headers, ...impersonationHeaders(target.impersonation) }
    const access = { send, headers: sent, tls: observed, readAt: this.#now() }
    this.#access = access
    return access
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
    throw usageError(
      'certificate-unusable',
      `the client certificate, its key or the certificate authority for ${login.name} cannot be used: ${shortened(messageOf(cause), 200)}`,
      { remedy: 'kubectl config view --raw=false   # shows where they are', cause },
    )
  }
}

const asText = (value: unknown): unknown =>
  Buffer.isBuffer(value) ? value.toString('base64') : Array.isArray(value) ? value.map(asText) : value

/** Logs in: reads the files, runs the plug-in, renews the token; again at every call, as far as that is needed. */
export type Login = () => Promise<Presented>

interface LoginTools {
  clock: Clock
  env: Environment
  /** Is told what is waited for, where a login takes long. */
  waiting?: ((text: string) => void) | undefined
  /** Ends what is running. */
  ending?: AbortSignal | undefined
}

/** A person may have to go to a browser; nobody waits for ever for one who is not there. */
const loginWithin = 120_000
const tellAfter = 5000

/** Rejects with an ApiError 401, or a usage error for what is not installed or not there. A login that does not end is given up after two minutes. */
function loginOf(target: Target, tools: LoginTools): Login {
  const plugin = pluginOf(target)
  const what = plugin ? `the login plug-in ${plugin.command}` : `the login of ${target.login.name}`
  let login: Login | undefined
  return async () => {
    try {
      login ??= await makerOf(target, plugin, tools)
      return await inTime(login(), what, tools)
    } catch (error) {
      throw loginFailure(error, target)
    }
  }
}

const pluginOf = ({ login }: Target) => (login.exec ?? undefined) as ExecPlugin | undefined

/**
 * Plug-ins are run by us: client-node knows no limit for one, and leaves it behind. Providers are its business; it takes long to load,
 * so the usual logins go without it.
 */
async function makerOf(target: Target, plugin: ExecPlugin | undefined, tools: LoginTools): Promise<Login> {
  const provider = target.login.authProvider as { name?: string } | null | undefined
  if (plugin === undefined && (!provider || provider.name === 'tokenFile'))
    return async () => presented(target)
  const { clientNodeLogin, execLogin } = await import('./login-methods.ts')
  if (plugin === undefined) return clientNodeLogin(target)
  return execLogin(target, plugin, { ...tools, ending: tools.ending, within: loginWithin })
}

/** Says what is waited for, and gives it up in the end; in real time, whatever a cluster's is. */
async function inTime<T>(work: Promise<T>, what: string, { waiting }: LoginTools): Promise<T> {
  const told = setTimeout(() => waiting?.(`waiting for ${what}`), tellAfter)
  let late: NodeJS.Timeout | undefined
  const over = new Promise<never>((_, reject) => {
    // A plug-in was ended before: this is for what cannot be.
    late = setTimeout(() => reject(new Error(tooLong)), loginWithin + 1000)
  })
  try {
    return await Promise.race([work, over])
  } finally {
    clearTimeout(told)
    clearTimeout(late)
  }
}

const tooLong = `it did not finish within ${loginWithin / 1000} s`

/** Why there are no credentials to show: a file that is missing (exit 2), or a login that failed (as a 401, exit 7). */
function loginFailure(cause: unknown, target: Target): KvupError {
  const { login, context } = target
  const plugin = pluginOf(target)
  const { code, path, syscall } = cause as { code?: string; path?: string; syscall?: string }
  const why = shortened(messageOf(cause).trim())
  if (plugin !== undefined) {
    const { command, args, installHint } = plugin
    if (syscall?.startsWith('spawn') !== true)
      return notLoggedIn(`the login plug-in ${command} failed: ${why}`, {
        remedy: [command, ...(args ?? [])].join(' '),
        cause,
      })
    return usageError('login-plugin-missing', `cannot run the login plug-in ${command}: ${why}`, {
      remedy: installHint ?? `install ${command}, or put it on the PATH`,
      cause,
    })
  }
  if (path === undefined || code === undefined) {
    const kubectl = context === undefined ? 'kubectl' : `kubectl --context ${context}`
    const remedy = `log in again, then check with: ${kubectl} auth whoami`
    return notLoggedIn(`logging in failed for ${login.name}: ${why}`, { remedy, cause })
  }
  const { tokenFile } = (login.authProvider as { config?: { tokenFile?: string } } | undefined)?.config ?? {}
  return usageError('file-missing', `cannot read ${path}, which connecting as ${login.name} needs: ${code}`, {
    remedy:
      path === tokenFile
        ? `ls -l ${shellWord(path)}     shows whether you may read it; --token-file names another one`
        : 'kubectl config view   # shows the files that the kubeconfig names',
    cause,
  })
}

/** To who is in the middle of something it is the same as the server's own no: log in, and it goes on. */
const notLoggedIn = (message: string, details: Details): ApiError =>
  new ApiError(401, 'LoginFailed', message, details)
