import type { Event } from '../cluster/kinds/core.ts'
import { readRefusal } from '../cluster/refusal.ts'
import type { Cause } from './cause.ts'
import { earliest, since } from './elapsed.ts'
import { itemsOf } from './known.ts'
import { type Scene, strategyPods, type Workload, workloads } from './scene.ts'
import { troubleSentence } from './sentence.ts'
import { strategyComponent } from './stamps.ts'
import { strategyJob } from './strategy-job.ts'

/** An old FailedCreate says nothing about now: Kubernetes tries again at least this often. */
const fresh = 15 * 60_000

/** Pods that a quota, a webhook or a policy keeps from being created: only FailedCreate events tell. */
export function refusedPods(scene: Scene): Cause[] {
  const { operator } = scene
  const all: readonly Workload[] = [
    ...(operator ? [{ kind: 'Deployment', object: operator } as const] : []),
    ...workloads(scene),
  ]
  const job = strategyJob(scene)
  return [
    ...(job && !hasPod(scene, job.name) ? [{ owner: job.name, component: strategyComponent }] : []),
    ...all.filter(isShort).map(
      ({
        object: {
          metadata: { name },
        },
      }) => ({ owner: name, component: name }),
    ),
  ].flatMap(({ owner, component }) => {
    const events = itemsOf(scene.snapshot.events).filter((event) => refuses(event, owner, scene.at))
    const last = events.at(-1)
    return last ? [causeOf(component, last, earliest(events.map(begin)))] : []
  })
}

function hasPod(scene: Scene, job: string): boolean {
  return strategyPods(scene).some(({ metadata }) =>
    metadata.ownerReferences?.some(({ name }) => name === job),
  )
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

const begin = ({ firstTimestamp, eventTime }: Event) => firstTimestamp ?? eventTime

function causeOf(component: string, event: Event, from: string | undefined): Cause {
  const { namespace = '' } = event.metadata
  const reading = readRefusal(event.message ?? '', namespace)
  const cause = {
    kind: 'refused' as const,
    component,
    reason: 'FailedCreate',
    terminal: false,
    namespace,
    pods: [],
    nodes: [],
    message: reading?.message ?? withoutName(event.message ?? ''),
    ...(from === undefined ? {} : { since: from }),
  }
  const { sentence, look } = troubleSentence(cause)
  return { ...cause, sentence, look: reading?.look ?? look }
}

/** `Error creating: pods "virt-api-x" is forbidden: …`: the pod was never there, and each try has another name. */
function withoutName(message: string): string {
  return message.replace(/^Error creating: (pods "[^"]*" is forbidden: )?/, '')
}
