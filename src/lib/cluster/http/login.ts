import { loginFailure } from './login-failure.ts'
import { type Presented, presented } from './presented.ts'
import type { Target } from './target.ts'

/** Logs in: reads the files, runs the plug-in, renews the token; again at every call, as far as that is needed. */
export type Login = () => Promise<Presented>

/** Plug-ins and providers are client-node's business; it takes long to load, so the usual logins go without it. */
export function loginOf(target: Target): Login {
  let login: Login = async () => presented(target)
  if (needsClientNode(target)) {
    const loading = import('./client-node-login.ts')
    login = async () => {
      login = (await loading).clientNodeLogin(target)
      return login()
    }
  }
  return async () => {
    try {
      return await login()
    } catch (error) {
      throw loginFailure(error, target)
    }
  }
}

function needsClientNode({ login }: Target): boolean {
  const provider = login.authProvider as { name?: string } | null | undefined
  return Boolean(login.exec) || (Boolean(provider) && provider?.name !== 'tokenFile')
}
