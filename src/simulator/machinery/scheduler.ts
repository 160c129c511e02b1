import { type Node, Nodes } from '../../lib/kube/kinds/core-kinds.ts'
import { type Pod, Pods, type PodSpec } from '../../lib/kube/kinds/workload-kinds.ts'
import { condition } from '../../lib/kube/object.ts'
import { quantity } from '../../lib/kube/quantity.ts'
import { fitsTerms, type NodeTerm } from '../../lib/kube/selectors.ts'
import { ownKey } from '../own-keys.ts'
import { claim, control, type ControllerContext, keyOf, recordEvent } from './controller.ts'
import { type Faults, hits, type MachineryFaults } from './machinery-faults.ts'
import { isOver, memoryOf } from './owned-pods.ts'

const by = 'default-scheduler'
/** Names a node that the pod keeps away from: what anti-affinity does for the target of a migration. */
export const avoidAnnotation = ownKey('not-on')
/** How long the scheduler leaves a pod alone that fits nowhere. */
const retry = 5000

/** Gives every pod a node: of those that fit the one with the most memory left, where pods ask for memory, then the one with the fewest pods. */
export function runScheduler(cx: ControllerContext, faults: Faults<MachineryFaults>): Promise<void> {
  const use = new NodeUse()
  const watched = [
    { kind: Nodes },
    {
      kind: Pods,
      concerns: isUnplaced,
      feeds: (pod: Pod, isGone: boolean) => use.take(pod, isGone),
    },
  ]
  return control(cx, watched, async () => {
    const waiting = use.waiting()
    if (waiting.length === 0) return undefined
    const nodes = await cx.reader.list(Nodes)
    let late = false
    for (const pod of waiting) {
      if (!use.waits(pod)) continue
      const isHeld = hits(faults.on.unschedulable, pod.metadata.name)
      const node = isHeld ? undefined : leastUsed(pod, nodes, use)
      if (node) await use.during(place(cx, pod, node), pod, node.metadata.name)
      else
        await refuse(
          cx,
          pod,
          `0/${nodes.length} nodes are available: ${nodes.length} ${isHeld ? noMemory : noFit}.`,
        )
      late ||= node === undefined
    }
    return late ? retry : undefined
  })
}

/** In the scheduler's words. */
const noMemory = 'Insufficient memory'
const noFit = "node(s) didn't match Pod's node affinity/selector, taints or anti-affinity"

/** What pods take of the nodes, memory in bytes and none once they are over; and which pods wait for a node. */
class NodeUse {
  /** By uid. */
  readonly #placed = new Map<string, { node: string; memory: number }>()
  readonly #waiting = new Map<string, Pod>()
  /** By node. */
  readonly #sums = new Map<string, { pods: number; memory: number }>()

  take(pod: Pod, isGone: boolean): void {
    const { uid = '', deletionTimestamp } = pod.metadata
    const node = pod.spec?.nodeName
    if (isGone) this.#put(uid)
    else if (node !== undefined) this.#put(uid, { node, memory: isOver(pod) ? 0 : memoryOf(pod) })
    // What was placed here may be told of as it was before; what is over needs no node any more.
    const isAsking = !isGone && deletionTimestamp === undefined && isUnplaced(pod) && !isOver(pod)
    if (isAsking && !this.#placed.has(uid)) this.#waiting.set(uid, pod)
    else this.#waiting.delete(uid)
  }

  /** Reckons with a pod that is being bound, until a watch tells of it: what it tells is never written over. */
  async during(binding: Promise<void>, pod: Pod, node: string): Promise<void> {
    const { uid = '' } = pod.metadata
    this.#put(uid, { node, memory: memoryOf(pod) })
    this.#waiting.delete(uid)
    try {
      await binding
    } catch (error) {
      this.#put(uid)
      throw error
    }
  }

  waits({ metadata: { uid = '' } }: Pod): boolean {
    return this.#waiting.has(uid)
  }

  /** Pods without a node, in the order of a list. */
  waiting(): Pod[] {
    const keys = [...this.#waiting.values()].map((pod) => ({ pod, key: keyOf(pod.metadata) }))
    return keys.sort((a, b) => (a.key < b.key ? -1 : 1)).map(({ pod }) => pod)
  }

  on({ metadata }: Node): Readonly<{ pods: number; memory: number }> {
    return this.#sums.get(metadata.name) ?? nothing
  }

  /** Where the pod is now; without a place it is gone. */
  #put(uid: string, placed?: { node: string; memory: number }): void {
    const before = this.#placed.get(uid)
    if (before) this.#add(before.node, -1, -before.memory)
    this.#placed.delete(uid)
    if (!placed) return
    this.#placed.set(uid, placed)
    this.#add(placed.node, 1, placed.memory)
  }

  #add(node: string, pods: number, memory: number): void {
    const sum = this.#sums.get(node) ?? nothing
    this.#sums.set(node, { pods: sum.pods + pods, memory: sum.memory + memory })
  }
}

const nothing = { pods: 0, memory: 0 }
const isUnplaced = ({ spec }: Pod): boolean => spec?.nodeName === undefined

const sizes = new WeakMap<Node, number>()

function memoryOfNode(node: Node): number {
  const size = sizes.get(node) ?? quantity(node.status?.allocatable?.['memory']) ?? Number.POSITIVE_INFINITY
  sizes.set(node, size)
  return size
}

function leastUsed(pod: Pod, nodes: readonly Node[], use: NodeUse): Node | undefined {
  const avoided = pod.metadata.annotations?.[avoidAnnotation]
  const wanted = memoryOf(pod)
  const share = (node: Node) => use.on(node).memory / memoryOfNode(node)
  const hasRoom = (node: Node) => wanted === 0 || use.on(node).memory + wanted <= memoryOfNode(node)
  let best: Node | undefined
  for (const node of nodes) {
    if (node.metadata.name === avoided || !hasRoom(node)) continue
    const isLess =
      best === undefined ||
      ((wanted === 0 ? 0 : share(node) - share(best)) || use.on(node).pods - use.on(best).pods) < 0
    // Last, as it costs the most.
    if (isLess && toleratesNode(pod.spec, node, true)) best = node
  }
  return best
}

async function place(cx: ControllerContext, pod: Pod, { metadata }: Node): Promise<void> {
  const { name, namespace } = pod.metadata
  const target = { apiVersion: 'v1', kind: 'Node', name: metadata.name }
  const body = { apiVersion: 'v1', kind: 'Binding', metadata: { name, namespace }, target }
  await cx.writer.subresource(Pods, pod.metadata, { name: 'binding', method: 'POST', body })
  const message = `Successfully assigned ${namespace}/${name} to ${metadata.name}`
  await recordEvent(cx, pod, by, ['Normal', 'Scheduled', message])
}

async function refuse(cx: ControllerContext, pod: Pod, message: string): Promise<void> {
  if (condition(pod, 'PodScheduled')?.status === 'False') return
  const lastTransitionTime = cx.clock.now().toISOString()
  const conditions = [{ ...claim('PodScheduled', 'False', 'Unschedulable', message), lastTransitionTime }]
  await cx.writer.mergePatch(Pods, pod.metadata, { status: { phase: 'Pending', conditions } }, 'status')
  await recordEvent(cx, pod, by, ['Warning', 'FailedScheduling', message])
}

interface Toleration {
  key?: string
  operator?: string
  value?: string
  effect?: string
}

interface NodeAffinity {
  nodeAffinity?: { requiredDuringSchedulingIgnoredDuringExecution?: { nodeSelectorTerms?: NodeTerm[] } }
}

/** Set on nodes that are not ready or cordoned; a DaemonSet's pods tolerate them by themselves. */
const passing = /^node\.kubernetes\.io\/(?:not-ready|unreachable|unschedulable)$/

/** True when a pod may run there by node selector, affinity and taints. Those of a passing trouble keep no pod of a DaemonSet away, only what the scheduler places (`isScheduled`). */
export function toleratesNode(spec: PodSpec | undefined, node: Node, isScheduled = false): boolean {
  if (isScheduled && node.spec?.unschedulable === true) return false
  const taints = (node.spec?.taints ?? []).filter(
    ({ effect, key }) => effect !== 'PreferNoSchedule' && (isScheduled || !passing.test(key)),
  )
  return matches(spec, node) && taints.every((taint) => tolerates(spec, taint))
}

function matches(spec: PodSpec | undefined, { metadata: { name, labels = {} } }: Node): boolean {
  const affinity = (spec?.affinity as NodeAffinity | undefined)?.nodeAffinity
  const { nodeSelectorTerms = [] } = affinity?.requiredDuringSchedulingIgnoredDuringExecution ?? {}
  const selected = Object.entries(spec?.nodeSelector ?? {}).every(([key, value]) => labels[key] === value)
  return selected && fitsTerms(nodeSelectorTerms, { name, labels })
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
