import type { Ref } from '../../cluster/cluster.ts'
import { shared } from './json.ts'
import { type ApiRequest, type Caller, perform } from './request.ts'
import type { Store } from './store.ts'

/** Who talks to the store, and how its writes are signed. */
export interface StoreClient {
  readonly store: Store
  readonly caller: Caller
  readonly manager: string
  readonly dryRun: boolean
}

/** `async`, so that a Refusal is a rejection as it would be over HTTP. */
export async function request<T>(
  { store, caller, dryRun }: StoreClient,
  what: ApiRequest,
  work: () => T,
): Promise<T> {
  return shared(perform(store, caller, { dryRun, ...what }, work))
}

/** What a request says of an object, and nothing else: a reference out of an object (`installPlanRef`, an owner) has a kind of its own. */
export const named = ({ name, namespace }: Ref): Pick<ApiRequest, 'name' | 'namespace'> => ({
  name,
  namespace,
})
