import { forbidden, type KvupError, usageError } from '../../system/errors.ts'
import { shortened } from './failure.ts'
import type { Target } from './target.ts'

interface Plugin {
  command: string
  args?: string[]
  installHint?: string
}

/** Why there are no credentials to show: a file that is missing, or a plug-in that failed. */
export function loginFailure(cause: unknown, { login, context }: Target): KvupError {
  const { code, path, syscall } = cause as { code?: string; path?: string; syscall?: string }
  const plugin = (login.exec ?? undefined) as Plugin | undefined
  const why = shortened((cause instanceof Error ? cause.message : String(cause)).trim())
  if (plugin !== undefined)
    return pluginFailure(plugin, { why, cause, missing: syscall?.startsWith('spawn') === true })
  if (path === undefined || code === undefined) {
    const kubectl = context === undefined ? 'kubectl' : `kubectl --context ${context}`
    const remedy = `log in again, then check with: ${kubectl} auth whoami`
    return forbidden('login-failed', `logging in failed for ${login.name}: ${why}`, { remedy, cause })
  }
  return usageError('file-missing', `cannot read ${path}, which connecting as ${login.name} needs: ${code}`, {
    remedy: 'kubectl config view   # shows the files that the kubeconfig names',
    cause,
  })
}

function pluginFailure(
  plugin: Plugin,
  { why, cause, missing }: { why: string; cause: unknown; missing: boolean },
) {
  if (!missing) {
    const remedy = [plugin.command, ...(plugin.args ?? [])].join(' ')
    return forbidden('login-failed', `the login plug-in ${plugin.command} failed: ${why}`, { remedy, cause })
  }
  return usageError('login-plugin-missing', `cannot run the login plug-in ${plugin.command}: ${why}`, {
    remedy: plugin.installHint ?? `install ${plugin.command}, or put it on the PATH`,
    cause,
  })
}
