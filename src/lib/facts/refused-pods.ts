import type { Event } from '../cluster/kinds/core.ts'
import type { Cause } from './cause.ts'
import { workloads } from './components.ts'
import { since } from './elapsed.ts'
import { itemsOf } from './known.ts'
import type { Scene, Workload } from './scene.ts'
import { troubleSentence } from './sentence.ts'
import { operatorName, strategyComponent } from './stamps.ts'
import { strategyJob } from './strategy-job.ts'

/** An old FailedCreate says nothing about now: Kubernetes tries again at least this often. */
const fresh = 15 * 60_000

/** Pods that a quota, a webhook or a policy keeps from being created: only FailedCreate events tell. */
export function refusedPods(scene: Scene): Cause[] {
  const short = workloads(scene).filter(isShort)
  const names = [...short.map(({ object }) => object.metadata.name), operatorName]
  const job = strategyJob(scene)
  return [
    ...(job ? [{ owner: job.name, component: strategyComponent }] : []),
    ...names.map((name) => ({ owner: name, component: name })),
  ].flatMap(({ owner, component }) => {
    const event = itemsOf(scene.snapshot.events).findLast((e) => refuses(e, owner, scene.at))
    return event ? [causeOf(component, event)] : []
  })
}

function isShort(workload: Workload): boolean {
  if (workload.kind === 'DaemonSet') {
    const { currentNumberScheduled = 0, desiredNumberScheduled = 0 } = workload.object.status ?? {}
    return currentNumberScheduled < desiredNumberScheduled
  }
  return (workload.object.status?.updatedReplicas ?? 0) < (workload.object.spec?.replicas ?? 1)
}

function refuses(event: Event, owner: string, at: Date): boolean {
  const { kind, name = '' } = event.involvedObject ?? {}
  const by = kind === 'ReplicaSet' ? name.replace(/-[^-]+$/, '') : name
  const age = since(event.lastTimestamp ?? event.eventTime ?? event.firstTimestamp, at)
  return event.reason === 'FailedCreate' && by === owner && (age ?? 0) < fresh
}

function causeOf(component: string, event: Event): Cause {
  const cause = {
    kind: 'refused' as const,
    component,
    reason: 'FailedCreate',
    terminal: false,
    namespace: event.metadata.namespace ?? '',
    pods: [],
    nodes: [],
    message: event.message ?? '',
    ...(event.firstTimestamp ? { since: event.firstTimestamp } : {}),
  }
  return { ...cause, ...troubleSentence(cause) }
}
