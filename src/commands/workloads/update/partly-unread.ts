import { ApiError, forbidden, type KvupError } from '../../../lib/system/errors.ts'
import type { Unread } from '../../../lib/workloads/migrations/ledger.ts'

/** The end of a run that could not see all VMs: what is readable was done and told by then. */
export function partlyUnread(unread: readonly Unread[] = []): KvupError | undefined {
  const [first, ...more] = unread
  if (first === undefined) return undefined
  const others = more.length === 0 ? '' : `, and ${more.length} more`
  return forbidden('partly-unread', `not all VMs may be read: ${first.why}${others}`, {
    remedy: 'kvup rbac kvup-view | kubectl apply -f -, then bind it to this user',
  })
}

/** Who may not see all namespaces may often see one: `line` is the command for it. */
export function oneNamespaceHelps(error: unknown, line: string): unknown {
  if (!(error instanceof ApiError) || error.status !== 403) return error
  const remedy = [...error.remedy, `${line} -n NAMESPACE     does it where you may`]
  return forbidden('forbidden', error.message, { remedy, object: error.object, cause: error })
}
