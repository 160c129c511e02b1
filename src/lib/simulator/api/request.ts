import { groupOf, type Kind } from '../../cluster/kind.ts'
import { ApiError } from '../../system/errors.ts'
import { refuseForbidden } from './authorization.ts'
import type { Store } from './store.ts'

export interface Caller {
  readonly user: string
  readonly groups: readonly string[]
  readonly userAgent: string
}

/** May everything, as the certificate in an admin's kubeconfig. */
export const admin: Caller = {
  user: 'kubernetes-admin',
  groups: ['system:masters', 'system:authenticated'],
  userAgent: 'in-process',
}

export interface ApiRequest {
  readonly verb: string
  readonly kind: Pick<Kind, 'apiVersion' | 'plural'>
  readonly subresource?: string | undefined
  readonly namespace?: string | undefined
  readonly name?: string | undefined
  readonly dryRun?: boolean | undefined
}

/** Every request goes this way, over HTTP or not: authorized, done, and recorded in the audit log with its status. */
export function perform<T>(store: Store, caller: Caller, request: ApiRequest, work: () => T): T {
  try {
    refuseForbidden(store, caller, request)
    const answer = work()
    record(store, caller, request, 200)
    return answer
  } catch (error) {
    record(store, caller, request, error instanceof ApiError ? error.status : 500)
    throw error
  }
}

function record(store: Store, caller: Caller, request: ApiRequest, status: number): void {
  const { verb, kind, subresource, namespace, name, dryRun = false } = request
  store.audit.push({
    user: caller.user,
    verb,
    group: groupOf(kind),
    resource: kind.plural,
    subresource,
    namespace,
    name,
    dryRun,
    userAgent: caller.userAgent,
    status,
    at: store.clock.now(),
  })
}
