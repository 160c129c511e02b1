import { type Pod, Pods } from '../../../cluster/kinds/pods.ts'
import { ApiError } from '../../../system/errors.ts'
import { ownedBy } from '../../machinery/controller.ts'
import { minute, type PlatformContext } from '../platform-context.ts'

/** An attempt is given up after a minute and a half; the next comes after one, or five once it has gone on for ten; ocp 3.5. */
const pace = {
  attempt: 1.5 * minute,
  betweenEvictions: 5000,
  next: minute,
  nextLate: 5 * minute,
  late: 10 * minute,
  reported: 60 * minute,
}

/** Evicts what runs on a node, as often as it is refused. `failing` is told once it has gone on for an hour, and it goes on. */
export async function drain(cx: PlatformContext, node: string, failing: () => Promise<void>): Promise<void> {
  const start = cx.clock.now().getTime()
  while (!(await attempt(cx, node))) {
    const passed = cx.clock.now().getTime() - start
    if (passed >= pace.reported) await failing()
    await cx.clock.sleep(passed >= pace.late ? pace.nextLate : pace.next, cx.signal)
  }
}

/** False when somebody is left. */
async function attempt(cx: PlatformContext, node: string): Promise<boolean> {
  const until = cx.clock.now().getTime() + pace.attempt
  while (cx.clock.now().getTime() < until) {
    const pods = await podsToGo(cx, node)
    const kept = cx.faults.on.undrainableNodes?.includes(node) === true
    if (pods.length === 0 && !kept) return true
    for (const pod of pods) if (pod.metadata.deletionTimestamp === undefined) await evict(cx, pod)
    await cx.clock.sleep(pace.betweenEvictions, cx.signal)
  }
  return false
}

async function podsToGo({ reader }: PlatformContext, node: string): Promise<Pod[]> {
  const pods = await reader.list(Pods, { fields: `spec.nodeName=${node}` })
  return pods.filter((pod) => !ownedBy('DaemonSet')(pod))
}

/** A refusal (429: a disruption budget, or a VM that has to move first) is no failure: it is asked again. */
async function evict(cx: PlatformContext, { metadata }: Pod): Promise<void> {
  const { name, namespace } = metadata
  const body = { apiVersion: 'policy/v1', kind: 'Eviction', metadata: { name, namespace } }
  try {
    await cx.writer.subresource(Pods, { name, namespace }, { name: 'eviction', method: 'POST', body })
  } catch (error) {
    if (!(error instanceof ApiError)) throw error
  }
}
