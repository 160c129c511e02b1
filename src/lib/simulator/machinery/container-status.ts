import type { Container, ContainerState, ContainerStatus, Pod } from '../../cluster/kinds/pods.ts'
import type { Condition } from '../../cluster/object.ts'

/** Where the containers of a pod stand; all of a pod's containers are taken to go the same way. */
export interface Stage {
  phase: 'Pending' | 'Running' | 'Succeeded' | 'Failed'
  state: ContainerState
  ready: boolean
  lastState?: ContainerState
  restartCount?: number
}

/** The status of a pod at a stage, as a kubelet would write it. `now` is RFC 3339 in whole seconds. */
export function podStatus(pod: Pod, stage: Stage, now: string): NonNullable<Pod['status']> {
  const ready = conditionsAt(pod, stage, now)
  return {
    ...pod.status,
    phase: stage.phase,
    startTime: pod.status?.startTime ?? now,
    podIP: pod.status?.podIP ?? addressOf(pod),
    conditions: ready,
    containerStatuses: (pod.spec?.containers ?? []).map((container) => containerStatus(container, stage)),
  }
}

function containerStatus(container: Container, stage: Stage): ContainerStatus {
  const image = container.image ?? ''
  const running = stage.state.running !== undefined
  return {
    name: container.name,
    image,
    imageID: stage.state.waiting === undefined || stage.lastState !== undefined ? imageId(image) : '',
    state: stage.state,
    lastState: stage.lastState ?? {},
    ready: stage.ready,
    started: running,
    restartCount: stage.restartCount ?? 0,
  }
}

/** virt-controller migrates no VM whose image has no digest. */
const imageId = (image: string): string => `docker-pullable://${image}@sha256:${'0'.repeat(64)}`

function conditionsAt(pod: Pod, { phase, ready }: Stage, now: string): Condition[] {
  const over = phase === 'Succeeded' || phase === 'Failed'
  const reason = over ? 'PodCompleted' : 'ContainersNotReady'
  const word = ready ? 'True' : 'False'
  const wanted: Condition[] = [
    { type: 'PodScheduled', status: 'True' },
    { type: 'Initialized', status: 'True' },
    { type: 'ContainersReady', status: word, ...(ready ? {} : { reason }) },
    { type: 'Ready', status: word, ...(ready ? {} : { reason }) },
  ]
  const timed = (next: Condition): Condition => {
    const before = pod.status?.conditions?.find((c) => c.type === next.type && c.status === next.status)
    return { ...next, lastProbeTime: null, lastTransitionTime: before?.lastTransitionTime ?? now }
  }
  return wanted.map(timed)
}

function addressOf({ metadata }: Pod): string {
  let sum = 7
  for (let i = 0; i < metadata.name.length; i++) sum = (sum * 31 + metadata.name.charCodeAt(i)) % 65_025
  return `10.244.${Math.floor(sum / 255)}.${(sum % 255) + 1}`
}
