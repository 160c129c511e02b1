import type { Ref } from '../../cluster/cluster.ts'
import {
  ClusterVersions,
  MachineConfigPools,
  MachineHealthChecks,
  NodeHealthChecks,
} from '../../cluster/kinds/openshift.ts'
import { Subscriptions } from '../../cluster/kinds/operator-lifecycle.ts'
import type { Loan } from '../../procedure/journal.ts'
import { type Borrowable, borrowedEntry, borrowedField } from './borrowable.ts'

/** An object that was looked at. */
export interface Looked {
  name: string
  namespace?: string | undefined
  uid: string
}

const refOf = ({ name, namespace }: Looked): Ref => (namespace === undefined ? { name } : { name, namespace })

const weeks =
  'for weeks; nodes of the pool get no new configuration meanwhile, and the next minor waits for them'
const unwatched = 'for days; nodes that fail are not replaced meanwhile'

/** Keeps the nodes of a pool where they are (ocp 3.5). */
export const poolPaused = ({ name, uid }: Looked): Borrowable =>
  borrowedField(
    {
      loan: `pool-paused/${name}`,
      kind: MachineConfigPools,
      ref: { name },
      uid,
      path: ['spec', 'paused'],
      harmless: weeks,
    },
    true,
    { meanwhile: 'paused', absentMeans: false },
  )

/** By whom it is paused, where others look. */
const byKvup = 'kvup'

/** A machine that reboots is no machine to replace (night E7). The annotation counts by being there, so one that others set is left to them. */
export const machineHealthCheckPaused = (looked: Looked): Borrowable =>
  borrowedField(
    {
      loan: `machine-health-check/${looked.namespace ?? ''}/${looked.name}`,
      kind: MachineHealthChecks,
      ref: refOf(looked),
      uid: looked.uid,
      path: ['metadata', 'annotations', 'cluster.x-k8s.io/paused'],
      harmless: unwatched,
    },
    byKvup,
    { meanwhile: 'paused', presenceCounts: true },
  )

/** An entry of ours among the requests of others. */
export const nodeHealthCheckPaused = ({ name, uid }: Looked): Borrowable =>
  borrowedEntry(
    {
      loan: `node-health-check/${name}`,
      kind: NodeHealthChecks,
      ref: { name },
      uid,
      path: ['spec', 'pauseRequests'],
      harmless: unwatched,
    },
    'kvup: the platform is being updated',
    { meanwhile: 'paused' },
  )

export type Approval = 'Manual' | 'Automatic'

/** How OLM goes on, for as long as the window is open (night E7). */
export const approvalOf = (looked: Looked, approval: Approval): Borrowable =>
  borrowedField(
    {
      loan: 'approval',
      kind: Subscriptions,
      ref: refOf(looked),
      uid: looked.uid,
      path: ['spec', 'installPlanApproval'],
      harmless: 'for days; other operators of the namespace are approved in the same way',
    },
    approval,
    { meanwhile: approval, absentMeans: 'Automatic' },
  )

/** The channel of the ClusterVersion: given back only where no hop was accepted (night E2). */
export const platformChannel = ({ name, uid }: Looked, channel: string): Borrowable =>
  borrowedField(
    {
      loan: 'platform-channel',
      kind: ClusterVersions,
      ref: { name },
      uid,
      path: ['spec', 'channel'],
      harmless: 'always: a channel updates nothing by itself',
    },
    channel,
    { meanwhile: channel },
  )

/** What a loan is of: pools, health checks, approval. Undefined for those that are more than a field. */
export function fieldOfLoan({ id, object: { name, namespace, uid }, taken }: Loan): Borrowable | undefined {
  const [family = ''] = id.split('/')
  return makers[family]?.({ name, namespace, uid }, taken?.value)
}

const makers: Readonly<Record<string, (looked: Looked, taken: unknown) => Borrowable>> = {
  'pool-paused': poolPaused,
  'machine-health-check': machineHealthCheckPaused,
  'node-health-check': nodeHealthCheckPaused,
  approval: (looked, taken) => approvalOf(looked, taken === 'Automatic' ? 'Automatic' : 'Manual'),
}
