import { type Node, Nodes } from '../../lib/kube/kinds/core-kinds.ts'
import { type Pod, Pods } from '../../lib/kube/kinds/workload-kinds.ts'
import { type Condition, condition } from '../../lib/kube/object.ts'
import { ChangeSignal, claim, type ControllerContext, recordEvent, seconds } from './controller.ts'
import type { Faults, MachineryFaults } from './machinery-faults.ts'
import { ownKey } from '../own-keys.ts'

/** A kubelet writes its node's status at least every five minutes. */
const heartbeat = 300_000
const dedicated = 'dedicated'
const unreachable = 'node.kubernetes.io/unreachable'
/** An API server's admission puts it on every new node. */
const notReady = 'node.kubernetes.io/not-ready'

/** On a node that is down by intention: its kubelet is silent until the note is taken off. */
export const rebootingNote = ownKey('rebooting')

/** Keeps the nodes' heartbeats, and what the node controller makes of a kubelet that has gone silent. */
export async function runNodes(cx: ControllerContext, faults: Faults<MachineryFaults>): Promise<void> {
  const changed = new ChangeSignal(cx.clock, cx.signal)
  faults.onChange(() => changed.notify(), cx.signal)
  while (!cx.signal.aborted) {
    for (const node of await cx.reader.list(Nodes)) await taint(cx, node, faults.on.tainted ?? [])
    for (const node of await cx.reader.list(Nodes)) await tend(cx, node, faults.on.notReady ?? [])
    await changed.wait(heartbeat)
  }
}

/** Somebody's own taint, put on and taken off. */
async function taint(cx: ControllerContext, { metadata, spec }: Node, names: readonly string[]) {
  const taints = spec?.taints ?? []
  const wanted = names.includes(metadata.name)
  if (wanted === taints.some(({ key }) => key === dedicated)) return
  const rest = taints.filter(({ key }) => key !== dedicated)
  const timeAdded = cx.clock.now().toISOString()
  const added = wanted ? [{ key: dedicated, value: 'batch', effect: 'NoSchedule', timeAdded }] : []
  await cx.writer.mergePatch(Nodes, metadata, { spec: { taints: [...rest, ...added] } })
}

async function tend(cx: ControllerContext, node: Node, silent: readonly string[]): Promise<void> {
  const { name, annotations } = node.metadata
  const isSilent = silent.includes(name) || annotations?.[rebootingNote] !== undefined
  const before = condition(node, 'Ready')
  if (!isSilent) await welcome(cx, node)
  if (before?.status !== (isSilent ? bad : good).status) await setNodeReady(cx, node, !isSilent)
  else if (!isSilent) await beat(cx, node, { ...good, ...since(before) })
}

/** A node that is ready loses the taint it was created with. */
async function welcome(cx: ControllerContext, { metadata, spec }: Node): Promise<void> {
  const taints = spec?.taints ?? []
  const kept = taints.filter(({ key }) => key !== notReady)
  if (kept.length < taints.length) await cx.writer.mergePatch(Nodes, metadata, { spec: { taints: kept } })
}

/** Says of a node that its kubelet answers, or does not, with what follows from it for its taints and its pods. */
export async function setNodeReady(cx: ControllerContext, node: Node, ready: boolean): Promise<void> {
  await beat(cx, node, ready ? good : bad)
  await react(cx, node, ready)
}

const since = ({ lastTransitionTime }: Condition): Pick<Condition, 'lastTransitionTime'> =>
  lastTransitionTime === undefined ? {} : { lastTransitionTime }

/** Writes the condition, as of now where it says nothing else. */
async function beat(cx: ControllerContext, node: Node, ready: Condition): Promise<void> {
  const now = seconds(cx)
  const others = (node.status?.conditions ?? []).filter((c) => c.type !== 'Ready')
  const next = { lastTransitionTime: now, ...ready, lastHeartbeatTime: now }
  await cx.writer.mergePatch(Nodes, node.metadata, { status: { conditions: [...others, next] } }, 'status')
}

const good = claim('Ready', 'True', 'KubeletReady', 'kubelet is posting ready status')
const bad = claim('Ready', 'Unknown', 'NodeStatusUnknown', 'Kubelet stopped posting node status.')

async function react(cx: ControllerContext, node: Node, ready: boolean): Promise<void> {
  const taints = (node.spec?.taints ?? []).filter((t) => t.key !== unreachable)
  const timeAdded = cx.clock.now().toISOString()
  const added = ready ? [] : [{ key: unreachable, effect: 'NoExecute', timeAdded }]
  await cx.writer.mergePatch(Nodes, node.metadata, { spec: { taints: [...taints, ...added] } })
  const pods = await cx.reader.list(Pods, { fields: `spec.nodeName=${node.metadata.name}` })
  for (const pod of pods) await markPod(cx, pod, ready)
  const reason = ready ? 'NodeReady' : 'NodeNotReady'
  const message = `Node ${node.metadata.name} status is now: ${reason}`
  await recordEvent(cx, node, 'node-controller', ['Normal', reason, message])
}

async function markPod(cx: ControllerContext, pod: Pod, ready: boolean): Promise<void> {
  if (pod.status?.phase !== 'Running') return
  const status = ready ? 'True' : 'False'
  const marked = (c: Condition): Condition => (c.type === 'Ready' ? { ...c, status } : c)
  const conditions = (pod.status.conditions ?? []).map(marked)
  await cx.writer.mergePatch(Pods, pod.metadata, { status: { conditions } }, 'status')
}
