import { type DaemonSet, DaemonSets } from '../../cluster/kinds/apps.ts'
import { type Node, Nodes } from '../../cluster/kinds/core.ts'
import { type Pod, Pods } from '../../cluster/kinds/pods.ts'
import { type ControllerContext, control, ownedBy } from './controller.ts'
import { reportDaemonSet } from './daemon-set-status.ts'
import { templateHash } from './luck.ts'
import { toleratesNode } from './placement.ts'
import { bearPod, isOver, isReady, podsOf } from './pods.ts'
import { recordEvent } from './record-event.ts'
import { revisionLabel } from './revision-label.ts'
import { share } from './share.ts'

const by = 'daemonset-controller'

/** Keeps one pod of each DaemonSet on every node that it tolerates, and rolls them maxUnavailable at a time. */
export function runDaemonSets(cx: ControllerContext): Promise<void> {
  const watched = [{ kind: DaemonSets }, { kind: Nodes }, { kind: Pods, concerns: ownedBy('DaemonSet') }]
  return control(cx, watched, async () => {
    for (const set of await cx.reader.list(DaemonSets)) await keep(cx, set)
    return undefined
  })
}

async function keep(cx: ControllerContext, set: DaemonSet): Promise<void> {
  if (set.metadata.deletionTimestamp !== undefined) return
  const nodes = (await cx.reader.list(Nodes)).filter((node) => toleratesNode(set.spec?.template?.spec, node))
  const hash = templateHash(set.spec?.template)
  const pods = (await podsOf(cx, set, set.spec?.selector?.matchLabels ?? {})).filter((pod) => !isOver(pod))
  const fresh: Pod[] = []
  for (const node of nodes) {
    if (!pods.some((pod) => pod.spec?.nodeName === node.metadata.name))
      fresh.push(await add(cx, set, node, hash))
  }
  const leaving = fresh.length > 0 ? [] : leavingNow(set, nodes, pods, hash)
  await reportDaemonSet(cx, set, { nodes, pods: [...pods, ...fresh], hash })
  for (const pod of leaving) await remove(cx, set, pod)
}

/** Old pods that may go now: those that serve nobody first, then as many as maxUnavailable leaves. */
function leavingNow(set: DaemonSet, nodes: readonly Node[], pods: readonly Pod[], hash: string): Pod[] {
  const most = Math.max(1, share(set.spec?.updateStrategy?.rollingUpdate?.maxUnavailable, nodes.length, 'up'))
  const staying = pods.filter((pod) => pod.metadata.deletionTimestamp === undefined)
  const unavailable = nodes.length - staying.filter(isReady).length
  const old = staying.filter((pod) => pod.metadata.labels?.[revisionLabel] !== hash)
  const idle = old.filter((pod) => !isReady(pod))
  return [...idle, ...old.filter(isReady).slice(0, Math.max(0, most - unavailable))]
}

async function add(cx: ControllerContext, set: DaemonSet, node: Node, hash: string): Promise<Pod> {
  const pod = await bearPod(cx, set, {
    template: set.spec?.template ?? {},
    prefix: `${set.metadata.name}-`,
    labels: { [revisionLabel]: hash },
    nodeName: node.metadata.name,
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

async function remove(cx: ControllerContext, set: DaemonSet, { metadata }: Pod): Promise<void> {
  await cx.writer.delete(Pods, metadata, { uid: metadata.uid })
  await recordEvent(cx, set, {
    type: 'Normal',
    reason: 'SuccessfulDelete',
    message: `Deleted pod: ${metadata.name}`,
    by,
  })
}
