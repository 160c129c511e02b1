import { type Node, Nodes } from '../../lib/kube/kinds/core-kinds.ts'
import { type Pod, Pods, type PodSpec } from '../../lib/kube/kinds/workload-kinds.ts'
import { condition } from '../../lib/kube/object.ts'
import { quantity } from '../../lib/kube/quantity.ts'
import { fitsTerms, type NodeTerm } from '../../lib/kube/selectors.ts'
import { ownKey } from '../own-keys.ts'
import { control, type ControllerContext, keyOf, recordEvent } from './controller.ts'
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
      concerns: (pod: Pod) => unplaced(pod),
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
      const node = hits(faults.on.unschedulable, pod.metadata.name) ? undefined : leastUsed(pod, nodes, use)
      if (node === undefined) await refuse(cx, pod, why(faults, pod, nodes.length))
      else await use.during(place(cx, pod, node), { pod, node: node.metadata.name })
      late ||= node === undefined
    }
    return late ? retry : undefined
  })
}

interface Placed {
  node: string
  /** In bytes; none once it is over. */
  memory: number
}

class NodeUse {
  /** By uid. */
  readonly #placed = new Map<string, Placed>()
  readonly #waiting = new Map<string, Pod>()
  readonly #pods = new Map<string, number>()
  readonly #memory = new Map<string, number>()

  take(pod: Pod, isGone: boolean): void {
    const { uid = '', deletionTimestamp } = pod.metadata
    const node = pod.spec?.nodeName
    if (isGone) this.#remove(uid)
    else if (node !== undefined) this.#put(uid, { node, memory: isOver(pod) ? 0 : memoryOf(pod) })
    // What was placed here may be told of as it was before; what is over needs no node any more.
    const isAsking = !isGone && deletionTimestamp === undefined && unplaced(pod) && !isOver(pod)
    if (isAsking && !this.#placed.has(uid)) this.#waiting.set(uid, pod)
    else this.#waiting.delete(uid)
  }

  /** Reckons with a pod that is being bound, until a watch tells of it: what it tells is never written over. */
  async during(binding: Promise<void>, { pod, node }: { pod: Pod; node: string }): Promise<void> {
    const { uid = '' } = pod.metadata
    this.#put(uid, { node, memory: memoryOf(pod) })
    this.#waiting.delete(uid)
    try {
      await binding
    } catch (error) {
      this.#remove(uid)
      throw error
    }
  }

  waits({ metadata: { uid = '' } }: Pod): boolean {
    return this.#waiting.has(uid)
  }

  /** Pods without a node, in the order of a list. */
  waiting(): Pod[] {
    const placed = [...this.#waiting.values()].map((pod) => ({ pod, key: keyOf(pod.metadata) }))
    return placed.sort((a, b) => (a.key < b.key ? -1 : 1)).map(({ pod }) => pod)
  }

  podsOn(node: string): number {
    return this.#pods.get(node) ?? 0
  }

  memoryOn(node: string): number {
    return this.#memory.get(node) ?? 0
  }

  #put(uid: string, placed: Placed): void {
    this.#remove(uid)
    this.#placed.set(uid, placed)
    this.#add(placed, 1)
  }

  #remove(uid: string): void {
    const before = this.#placed.get(uid)
    this.#placed.delete(uid)
    if (before) this.#add(before, -1)
  }

  #add({ node, memory }: Placed, sign: 1 | -1): void {
    this.#pods.set(node, this.podsOn(node) + sign)
    this.#memory.set(node, this.memoryOn(node) + sign * memory)
  }
}

const unplaced = ({ spec }: Pod): boolean => spec?.nodeName === undefined

const sizes = new WeakMap<Node, number>()

function allOf(node: Node): number {
  const known = sizes.get(node)
  if (known !== undefined) return known
  const size = quantity(node.status?.allocatable?.['memory']) ?? Number.POSITIVE_INFINITY
  sizes.set(node, size)
  return size
}

function leastUsed(pod: Pod, nodes: readonly Node[], use: NodeUse): Node | undefined {
  const avoided = pod.metadata.annotations?.[avoidAnnotation]
  const wanted = memoryOf(pod)
  const share = (node: Node) => use.memoryOn(node.metadata.name) / allOf(node)
  const pods = (node: Node) => use.podsOn(node.metadata.name)
  const hasRoom = (node: Node) => wanted === 0 || use.memoryOn(node.metadata.name) + wanted <= allOf(node)
  let best: Node | undefined
  for (const node of nodes) {
    if (node.metadata.name === avoided || !hasRoom(node)) continue
    const less =
      best === undefined ? -1 : (wanted === 0 ? 0 : share(node) - share(best)) || pods(node) - pods(best)
    // Last, as it costs the most.
    if (less < 0 && fitsNode(pod.spec, node)) best = node
  }
  return best
}

async function place(cx: ControllerContext, pod: Pod, node: Node): Promise<void> {
  const { name, namespace } = pod.metadata
  const target = { apiVersion: 'v1', kind: 'Node', name: node.metadata.name }
  const body = { apiVersion: 'v1', kind: 'Binding', metadata: { name, namespace }, target }
  await cx.writer.subresource(Pods, pod.metadata, { name: 'binding', method: 'POST', body })
  const message = `Successfully assigned ${namespace}/${name} to ${node.metadata.name}`
  await recordEvent(cx, pod, by, ['Normal', 'Scheduled', message])
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
  await recordEvent(cx, pod, by, ['Warning', 'FailedScheduling', message])
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
