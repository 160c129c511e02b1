import { type ReplicaSet, ReplicaSets } from '../../cluster/kinds/apps.ts'
import { type Pod, Pods } from '../../cluster/kinds/pods.ts'
import { type ControllerContext, control, ownedBy } from './controller.ts'
import { bearPod, isLiving, isReady, podsOf } from './pods.ts'
import { recordEvent } from './record-event.ts'
import { sameStatus } from './same-status.ts'

/** Keeps as many pods of each ReplicaSet as it asks for. */
export function runReplicaSets(cx: ControllerContext): Promise<void> {
  return control(cx, [{ kind: ReplicaSets }, { kind: Pods, concerns: ownedBy('ReplicaSet') }], async () => {
    for (const set of await cx.reader.list(ReplicaSets)) await keep(cx, set)
    return undefined
  })
}

async function keep(cx: ControllerContext, set: ReplicaSet): Promise<void> {
  if (set.metadata.deletionTimestamp !== undefined) return
  const pods = (await podsOf(cx, set, set.spec?.selector?.matchLabels ?? {})).filter(isLiving)
  const wanted = set.spec?.replicas ?? 1
  for (let i = pods.length; i < wanted; i++) pods.push(await add(cx, set))
  const leaving = [...pods].sort(readyLast).slice(0, Math.max(0, pods.length - wanted))
  for (const pod of leaving) await remove(cx, set, pod)
  await report(
    cx,
    set,
    pods.filter((pod) => !leaving.includes(pod)),
  )
}

async function add(cx: ControllerContext, set: ReplicaSet): Promise<Pod> {
  const pod = await bearPod(cx, set, {
    template: set.spec?.template ?? {},
    prefix: `${set.metadata.name}-`,
    by,
  })
  await recordEvent(cx, set, {
    type: 'Normal',
    reason: 'SuccessfulCreate',
    message: `Created pod: ${pod.metadata.name}`,
    by,
  })
  return pod
}

async function remove(cx: ControllerContext, set: ReplicaSet, { metadata }: Pod): Promise<void> {
  await cx.writer.delete(Pods, metadata, { uid: metadata.uid })
  await recordEvent(cx, set, {
    type: 'Normal',
    reason: 'SuccessfulDelete',
    message: `Deleted pod: ${metadata.name}`,
    by,
  })
}

async function report(cx: ControllerContext, set: ReplicaSet, pods: readonly Pod[]): Promise<void> {
  const ready = pods.filter(isReady).length
  const status = {
    observedGeneration: set.metadata.generation ?? 1,
    replicas: pods.length,
    fullyLabeledReplicas: pods.length,
    readyReplicas: ready,
    availableReplicas: ready,
  }
  if (!sameStatus(set.status, status))
    await cx.writer.mergePatch(ReplicaSets, set.metadata, { status }, 'status')
}

const by = 'replicaset-controller'
const readyLast = (a: Pod, b: Pod): number => Number(isReady(a)) - Number(isReady(b))
