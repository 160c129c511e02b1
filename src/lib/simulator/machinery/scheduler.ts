import { type Node, Nodes } from '../../cluster/kinds/core.ts'
import { type Pod, Pods } from '../../cluster/kinds/pods.ts'
import { condition } from '../../cluster/object.ts'
import { type ControllerContext, control } from './controller.ts'
import { type Faults, hits, type MachineryFaults } from './faults.ts'
import { fitsNode } from './placement.ts'
import { recordEvent } from './record-event.ts'

const by = 'default-scheduler'
/** Names a node that the pod keeps away from: what anti-affinity does for the target of a migration. */
export const avoidAnnotation = 'simulator.kvup.io/not-on'
/** How long the scheduler leaves a pod alone that fits nowhere. */
const retry = 5000

/** Gives every pod a node: the one with the fewest pods of those that fit. */
export function runScheduler(cx: ControllerContext, faults: Faults<MachineryFaults>): Promise<void> {
  const watched = [{ kind: Nodes }, { kind: Pods, concerns: (pod: Pod) => unplaced(pod) }]
  return control(cx, watched, async () => {
    const pods = await cx.reader.list(Pods)
    const waiting = pods.filter((pod) => unplaced(pod) && pod.metadata.deletionTimestamp === undefined)
    if (waiting.length === 0) return undefined
    const nodes = await cx.reader.list(Nodes)
    const load = new Map<string, number>()
    for (const { spec } of pods) add(load, spec?.nodeName)
    let late = false
    for (const pod of waiting) {
      const node = hits(faults.on.unschedulable, pod.metadata.name) ? undefined : leastUsed(pod, nodes, load)
      if (node === undefined) await refuse(cx, pod, why(faults, pod, nodes.length))
      else await place(cx, pod, node)
      add(load, node?.metadata.name)
      late ||= node === undefined
    }
    return late ? retry : undefined
  })
}

const unplaced = ({ spec }: Pod): boolean => spec?.nodeName === undefined

function add(load: Map<string, number>, node: string | undefined): void {
  if (node !== undefined) load.set(node, (load.get(node) ?? 0) + 1)
}

function leastUsed(pod: Pod, nodes: readonly Node[], load: ReadonlyMap<string, number>): Node | undefined {
  const avoided = pod.metadata.annotations?.[avoidAnnotation]
  const of = (node: Node): number => load.get(node.metadata.name) ?? 0
  return nodes
    .filter((node) => fitsNode(pod.spec, node) && node.metadata.name !== avoided)
    .sort((a, b) => of(a) - of(b))[0]
}

async function place(cx: ControllerContext, pod: Pod, node: Node): Promise<void> {
  const { name, namespace } = pod.metadata
  const target = { apiVersion: 'v1', kind: 'Node', name: node.metadata.name }
  const body = { apiVersion: 'v1', kind: 'Binding', metadata: { name, namespace }, target }
  await cx.writer.subresource(Pods, pod.metadata, { name: 'binding', method: 'POST', body })
  const message = `Successfully assigned ${namespace}/${name} to ${node.metadata.name}`
  await recordEvent(cx, pod, { type: 'Normal', reason: 'Scheduled', message, by })
}

/** In the scheduler's words. */
function why({ on }: Faults<MachineryFaults>, { metadata }: Pod, nodes: number): string {
  const reason = hits(on.unschedulable, metadata.name)
    ? 'Insufficient memory'
    : "node(s) didn't match Pod's node affinity/selector, taints or anti-affinity"
  return `0/${nodes} nodes are available: ${nodes} ${reason}.`
}

async function refuse(cx: ControllerContext, pod: Pod, message: string): Promise<void> {
  if (condition(pod, 'PodScheduled')?.status === 'False') return
  const lastTransitionTime = cx.clock.now().toISOString()
  const unscheduled = {
    type: 'PodScheduled',
    status: 'False',
    reason: 'Unschedulable',
    message,
    lastTransitionTime,
  } as const
  await cx.writer.mergePatch(
    Pods,
    pod.metadata,
    { status: { phase: 'Pending', conditions: [unscheduled] } },
    'status',
  )
  await recordEvent(cx, pod, { type: 'Warning', reason: 'FailedScheduling', message, by })
}
