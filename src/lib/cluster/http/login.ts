import type { Clock } from '../../system/clock.ts'
import type { Environment } from '../connection.ts'
import type { ExecPlugin } from './exec-login.ts'
import { loginFailure } from './login-failure.ts'
import { type Presented, presented } from './presented.ts'
import type { Target } from './target.ts'

/** Logs in: reads the files, runs the plug-in, renews the token; again at every call, as far as that is needed. */
export type Login = () => Promise<Presented>

export interface LoginTools {
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
export function loginOf(target: Target, tools: LoginTools): Login {
  const plugin = target.login.exec as ExecPlugin | null | undefined
  const what = plugin ? `the login plug-in ${plugin.command}` : `the login of ${target.login.name}`
  let login: Login | undefined
  return async () => {
    try {
      login ??= await makerOf(target, plugin ?? undefined, tools)
      return await inTime(login(), what, tools)
    } catch (error) {
      throw loginFailure(error, target)
    }
  }
}

/**
 * Plug-ins are run by us: client-node knows no limit for one, and leaves it behind. Providers are its business; it takes long to load,
 * so the usual logins go without it.
 */
async function makerOf(target: Target, plugin: ExecPlugin | undefined, tools: LoginTools): Promise<Login> {
  if (plugin !== undefined) {
    const { execLogin } = await import('./exec-login.ts')
    return execLogin(target, plugin, { ...tools, ending: tools.ending, within: loginWithin })
  }
  if (!hasProvider(target)) return async () => presented(target)
  return (await import('./client-node-login.ts')).clientNodeLogin(target)
}

function hasProvider({ login }: Target): boolean {
  const provider = login.authProvider as { name?: string } | null | undefined
  return Boolean(provider) && provider?.name !== 'tokenFile'
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

const tooLong = `it did not end within ${loginWithin / 1000} s`
