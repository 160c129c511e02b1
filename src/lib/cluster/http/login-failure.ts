import { ApiError, type Details, type KvupError, usageError } from '../../system/errors.ts'
import { shortened } from './body-in-words.ts'
import type { ExecPlugin } from './exec-login.ts'
import type { Target } from './target.ts'

/** Why there are no credentials to show: a file that is missing (exit 2), or a login that failed (as a 401, exit 7). */
export function loginFailure(cause: unknown, { login, context }: Target): KvupError {
  const { code, path, syscall } = cause as { code?: string; path?: string; syscall?: string }
  const plugin = (login.exec ?? undefined) as ExecPlugin | undefined
  const why = shortened((cause instanceof Error ? cause.message : String(cause)).trim())
  if (plugin !== undefined)
    return pluginFailure(plugin, { why, cause, missing: syscall?.startsWith('spawn') === true })
  if (path === undefined || code === undefined) {
    const kubectl = context === undefined ? 'kubectl' : `kubectl --context ${context}`
    const remedy = `log in again, then check with: ${kubectl} auth whoami`
    return notLoggedIn(`logging in failed for ${login.name}: ${why}`, { remedy, cause })
  }
  return usageError('file-missing', `cannot read ${path}, which connecting as ${login.name} needs: ${code}`, {
    remedy: 'kubectl config view   # shows the files that the kubeconfig names',
    cause,
  })
}

function pluginFailure(
  plugin: ExecPlugin,
  { why, cause, missing }: { why: string; cause: unknown; missing: boolean },
) {
  if (!missing) {
    const remedy = [plugin.command, ...(plugin.args ?? [])].join(' ')
    return notLoggedIn(`the login plug-in ${plugin.command} failed: ${why}`, { remedy, cause })
  }
  return usageError('login-plugin-missing', `cannot run the login plug-in ${plugin.command}: ${why}`, {
    remedy: plugin.installHint ?? `install ${plugin.command}, or put it on the PATH`,
    cause,
  })
}

/** To who is in the middle of something it is the same as the server's own no: log in, and it goes on. */
const notLoggedIn = (message: string, details: Details): ApiError =>
  new ApiError(401, 'LoginFailed', message, details)
