import type { Access, Cluster, Reviewer } from '../../cluster/cluster.ts'
import { decide } from './authorization.ts'
import { admin, type Caller } from './request.ts'
import { request, type StoreClient } from './store-client.ts'
import { StoreReader } from './store-reader.ts'
import { storeWriter } from './store-writer.ts'
import type { Store } from './store.ts'

export interface StoreClientOptions {
  /** Default: an admin, who may everything. */
  readonly user?: string
  readonly groups?: readonly string[]
  /** Default `kvup`. */
  readonly fieldManager?: string
}

/** A Cluster directly on the store, without HTTP: every await is a microtask, so that runs under a SimClock are deterministic. */
export function storeCluster(store: Store, options: StoreClientOptions = {}): Cluster {
  const client: StoreClient = {
    store,
    caller: callerOf(options),
    manager: options.fieldManager ?? 'kvup',
    dryRun: false,
  }
  return { reader: new StoreReader(client), writer: storeWriter(client), reviewer: storeReviewer(client) }
}

function callerOf({ user, groups = [] }: StoreClientOptions): Caller {
  if (user === undefined) return admin
  return { user, groups: [...groups, 'system:authenticated'], userAgent: 'in-process' }
}

function storeReviewer(client: StoreClient): Reviewer {
  const { store, caller } = client
  const review = { apiVersion: 'authorization.k8s.io/v1', plural: 'selfsubjectaccessreviews' }
  return {
    can: (access: Access) =>
      request(client, { verb: 'create', kind: review }, () => decide(store, caller, access)),
    whoAmI: async () => caller.user,
    rehearsal: storeWriter({ ...client, dryRun: true }),
  }
}
