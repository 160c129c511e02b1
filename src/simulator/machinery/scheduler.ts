import { type Node, Nodes } from '../../lib/kube/kinds/core-kinds.ts'
import { type Pod, Pods, type PodSpec } from '../../lib/kube/kinds/workload-kinds.ts'
import { condition } from '../../lib/kube/object.ts'
import { quantity } from '../../lib/kube/quantity.ts'
import { fitsTerms, type NodeTerm } from '../../lib/kube/selectors.ts'
import { control, type ControllerContext, recordEvent } from './controller.ts'
import { type Faults, hits, type MachineryFaults } from './machinery-faults.ts'
import { isOver, memoryOf } from './owned-pods.ts'

const by = 'default-scheduler'
/** Names a node that the pod keeps away from: what anti-affinity does for the target of a migration. */
export const avoidAnnotation = 'simulator.kvup.io/not-on'
/** How long the scheduler leaves a pod alone that fits nowhere. */
const retry = 5000

/** Gives every pod a node: of those that fit the one with the most memory left, where pods ask for memory, then the one with the fewest pods. */
export function runScheduler(cx: ControllerContext, faults: Faults<MachineryFaults>): Promise<void> {
  const watched = [{ kind: Nodes }, { kind: Pods, concerns: (pod: Pod) => unplaced(pod) }]
  return control(cx, watched, async () => {
    const pods = await cx.reader.list(Pods)
    const waiting = pods.filter((pod) => unplaced(pod) && pod.metadata.deletionTimestamp === undefined)
    if (waiting.length === 0) return undefined
    const nodes = await cx.reader.list(Nodes)
    const load = new Map<string, number>()
    for (const { spec } of pods) add(load, spec?.nodeName)
    const asked = new Map<string, number>()
    for (const pod of pods) if (!isOver(pod)) add(asked, pod.spec?.nodeName, memoryOf(pod))
    let late = false
    for (const pod of waiting) {
      const node = hits(faults.on.unschedulable, pod.metadata.name)
        ? undefined
        : leastUsed(pod, nodes, { load, asked })
      if (node === undefined) await refuse(cx, pod, why(faults, pod, nodes.length))
      else await place(cx, pod, node)
      add(load, node?.metadata.name)
      add(asked, node?.metadata.name, memoryOf(pod))
      late ||= node === undefined
    }
    return late ? retry : undefined
  })
}

const unplaced = ({ spec }: Pod): boolean => spec?.nodeName === undefined

function add(load: Map<string, number>, node: string | undefined, amount = 1): void {
  if (node !== undefined) load.set(node, (load.get(node) ?? 0) + amount)
}

interface Use {
  /** Pods by node. */
  load: ReadonlyMap<string, number>
  /** Memory that they ask for, in bytes. */
  asked: ReadonlyMap<string, number>
}

const allOf = ({ status }: Node): number =>
  quantity(status?.allocatable?.['memory']) ?? Number.POSITIVE_INFINITY

function leastUsed(pod: Pod, nodes: readonly Node[], { load, asked }: Use): Node | undefined {
  const avoided = pod.metadata.annotations?.[avoidAnnotation]
  const wanted = memoryOf(pod)
  const used = (node: Node) => (asked.get(node.metadata.name) ?? 0) / allOf(node)
  const of = (node: Node): number => load.get(node.metadata.name) ?? 0
  const hasRoom = (node: Node) => wanted === 0 || (asked.get(node.metadata.name) ?? 0) + wanted <= allOf(node)
  return nodes
    .filter((node) => fitsNode(pod.spec, node) && node.metadata.name !== avoided && hasRoom(node))
    .sort((a, b) => (wanted === 0 ? 0 : used(a) - used(b)) || of(a) - of(b))[0]
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

interface Toleration {
  key?: string
  operator?: string
  value?: string
  effect?: string
}

interface NodeAffinity {
  nodeAffinity?: {
    requiredDuringSchedulingIgnoredDuringExecution?: {
      nodeSelectorTerms?: NodeTerm[]
    }
  }
}

/** Set on nodes that are not ready or cordoned; a DaemonSet's pods tolerate them by themselves. */
const passing = new Set([
  'node.kubernetes.io/not-ready',
  'node.kubernetes.io/unreachable',
  'node.kubernetes.io/unschedulable',
])

/** True when a DaemonSet has a pod there: node selector and taints, those of a passing trouble excepted. */
export function toleratesNode(spec: PodSpec | undefined, node: Node): boolean {
  const taints = (node.spec?.taints ?? []).filter(
    (t) => t.effect !== 'PreferNoSchedule' && !passing.has(t.key),
  )
  return matches(spec, node) && taints.every((taint) => tolerates(spec, taint))
}

/** True when the scheduler may put a pod there now. */
function fitsNode(spec: PodSpec | undefined, node: Node): boolean {
  const taints = (node.spec?.taints ?? []).filter((t) => t.effect !== 'PreferNoSchedule')
  return (
    node.spec?.unschedulable !== true &&
    matches(spec, node) &&
    taints.every((taint) => tolerates(spec, taint))
  )
}

function matches(spec: PodSpec | undefined, { metadata: { name, labels = {} } }: Node): boolean {
  const affinity = spec?.affinity as NodeAffinity | undefined
  const terms =
    affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution?.nodeSelectorTerms ?? []
  const selected = Object.entries(spec?.nodeSelector ?? {}).every(([key, value]) => labels[key] === value)
  return selected && fitsTerms(terms, { name, labels })
}

function tolerates(spec: PodSpec | undefined, taint: Taint): boolean {
  const all = (spec?.tolerations ?? []) as Toleration[]
  return all.some(
    ({ key = '', operator = 'Equal', value = '', effect = '' }) =>
      (key === taint.key || (key === '' && operator === 'Exists')) &&
      (effect === '' || effect === taint.effect) &&
      (operator === 'Exists' || value === (taint.value ?? '')),
  )
}

type Taint = NonNullable<NonNullable<Node['spec']>['taints']>[number]
