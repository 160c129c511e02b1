import { type Pod, Pods } from '../../cluster/kinds/pods.ts'
import { ApiError } from '../../system/errors.ts'
import { untilAborted } from './controller.ts'
import { endPod, type KubeletContext, livePod } from './pod-life.ts'
import { isOver } from './pods.ts'

interface Life {
  ending: boolean
  readonly stop: AbortController
}

/** Plays the kubelet of every node: starts the pods that got a node, and ends those that are deleted. */
export async function runKubelet(cx: KubeletContext): Promise<void> {
  const lives = new Map<string, Life>()
  await untilAborted(cx.signal, async () => {
    for await (const change of cx.reader.follow(Pods, {}, cx.signal)) {
      if (change.type === 'deleted') forget(lives, change.object)
      else if (change.type === 'added' || change.type === 'modified') attend(cx, lives, change.object)
    }
  })
}

function forget(lives: Map<string, Life>, { metadata }: Pod): void {
  const uid = metadata.uid ?? ''
  lives.get(uid)?.stop.abort()
  lives.delete(uid)
}

function attend(cx: KubeletContext, lives: Map<string, Life>, pod: Pod): void {
  const uid = pod.metadata.uid ?? ''
  const life = lives.get(uid)
  if (pod.metadata.deletionTimestamp !== undefined) {
    if (life?.ending === true) return
    life?.stop.abort()
    lives.set(uid, { ending: true, stop: new AbortController() })
    begin(cx, () => endPod(cx, pod))
  } else if (pod.spec?.nodeName !== undefined && life === undefined && !isOver(pod)) {
    const stop = new AbortController()
    lives.set(uid, { ending: false, stop })
    const signal = AbortSignal.any([cx.signal, stop.signal])
    begin({ ...cx, signal }, (own) => livePod(own, pod))
  }
}

/** A pod's life goes on beside the others; what the API refuses because the pod is gone ends it. */
function begin(cx: KubeletContext, life: (cx: KubeletContext) => Promise<void>): void {
  life(cx).catch((error: unknown) => {
    if (!cx.signal.aborted && !(error instanceof ApiError)) cx.broken(error)
  })
}
