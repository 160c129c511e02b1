import { ApiError, forbidden, type KvupError } from '../lib/system/errors.ts'
import { roleRemedy } from '../lib/system/role-remedy.ts'
import { type NarrowedCommand, narrowedLine } from '../lib/system/narrowed-line.ts'
import type { SelectedVms } from './workloads/outdated/selection.ts'

/** The end of a command that could not see all it was asked for: what is readable was done and told by then. Undefined: all of it was. */
export function partlyUnread(unread: readonly { why: string }[] = []): KvupError | undefined {
  const [first, ...more] = unread
  if (first === undefined) return undefined
  const others = more.length === 0 ? '' : `, and ${more.length} more`
  return forbidden('partly-unread', `not all of it may be read: ${first.why}${others}`, {
    remedy: roleRemedy('kvup-view'),
  })
}

/** Who may not see all namespaces may often see one: with this command, of what was asked for. */
export function oneNamespaceHelps(
  error: unknown,
  command: NarrowedCommand,
  selection: SelectedVms = {},
): unknown {
  if (!(error instanceof ApiError) || error.status !== 403) return error
  const line = narrowedLine(command, { ...selection, namespace: undefined })
  const remedy = [...error.remedy, `${line} -n NAMESPACE     in a namespace that you may`]
  return forbidden('forbidden', error.message, { remedy, object: error.object, cause: error })
}
