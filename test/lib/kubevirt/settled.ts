import type { DaemonSet, Deployment, Pod } from '../../../src/lib/kube/kinds/workload-kinds.ts'
import type { Lease } from '../../../src/lib/kube/kinds/core-kinds.ts'
import type { KubeVirt } from '../../../src/lib/kube/kinds/kubevirt-kinds.ts'
import { itemsOf } from '../../../src/lib/kube/known.ts'
import type { Snapshot } from '../../../src/lib/kubevirt/snapshot.ts'
import { moments, transcript } from '../../transcripts/to-snapshots.ts'

/** A real v1.8.4, 30 s after its update was done, to be damaged in one place. */
export interface Settled {
  snapshot: Snapshot
  kubevirt: KubeVirt
  operator: Deployment
  handler: DaemonSet
  api: Deployment
  pods: readonly Pod[]
  leases: readonly Lease[]
  /** That many seconds after the recording. */
  at(seconds: number): Date
}

const last = [...moments(transcript('operator-v1.7.0-v1.8.4'), { leases: 'from events' })].at(-1)

/** A fresh copy each time. */
export function settled(): Settled {
  if (!last) throw new Error('the transcript is empty')
  const snapshot = structuredClone(last.snapshot)
  return {
    snapshot,
    kubevirt: first(itemsOf(snapshot.kubevirts)),
    operator: first(itemsOf(snapshot.operators)),
    handler: first(itemsOf(snapshot.daemonsets)),
    api: first(itemsOf(snapshot.deployments).filter(({ metadata }) => metadata.name === 'virt-api')),
    pods: itemsOf(snapshot.pods),
    leases: itemsOf(snapshot.leases),
    at: (seconds) => new Date(Date.parse(snapshot.takenAt) + seconds * 1000),
  }
}

export function podOf(pods: readonly Pod[], component: string): Pod {
  return first(pods.filter(({ metadata }) => metadata.labels?.['kubevirt.io'] === component))
}

export function unready(pod: Pod, since: Date): void {
  for (const found of pod.status?.conditions ?? [])
    if (found.type.endsWith('Ready'))
      Object.assign(found, { status: 'False', lastTransitionTime: since.toISOString() })
}

function first<T>(items: readonly T[]): T {
  const [item] = items
  if (item === undefined) throw new Error('the transcript lacks it')
  return item
}
