import { type Node, Nodes } from '../../lib/kube/kinds/core-kinds.ts'
import { ApiError } from '../../lib/kube/errors.ts'
import { ownedBy, recordEvent, untilAborted } from '../machinery/controller.ts'
import { minute, type Platform } from './platform-context.ts'
import { MachineConfigs } from '../../lib/kube/kinds/openshift-kinds.ts'
import { type Pod, Pods } from '../../lib/kube/kinds/workload-kinds.ts'
import { rebootingNote, setNodeReady } from '../machinery/node-lifecycle.ts'
import { ownKey } from '../own-keys.ts'
import { softwareOf } from './openshift-objects.ts'
import { releaseOf } from './openshift-shape.ts'

const prefix = 'machineconfiguration.openshift.io'

/** What is said of a node's configuration on the node itself (ocp 3.5). */
export const nodeNote = {
  current: `${prefix}/currentConfig`,
  desired: `${prefix}/desiredConfig`,
  /** `Done`, `Working`, `Rebooting`, `Degraded`. */
  state: `${prefix}/state`,
  reason: `${prefix}/reason`,
  desiredDrain: `${prefix}/desiredDrain`,
  lastDrain: `${prefix}/lastAppliedDrain`,
} as const

/** On a rendered MachineConfig. */
export const renderNote = {
  by: `${prefix}/generated-by-controller-version`,
  release: `${prefix}/release-image-version`,
  /** Two with the same differ in name only: no machine has to restart for it. */
  content: ownKey('content'),
} as const

/** How long a node is left alone after the API refused something, in ms. */
const retry = 5000

/** The machine-config-daemon of every node: takes each to the configuration that it is told. Rejects with a bug of the simulator. */
export async function runNodeUpdates(cx: Platform): Promise<void> {
  const underway = new Map<string, Promise<void>>()
  const bug = new AbortController()
  const own = { ...cx, signal: AbortSignal.any([cx.signal, bug.signal]) }
  await untilAborted(cx.signal, async () => {
    for await (const change of cx.reader.watch(Nodes, {}, own.signal)) {
      if (change.type !== 'added' && change.type !== 'modified') continue
      const { name } = change.object.metadata
      if (!isDue(change.object) || underway.has(name)) continue
      const work = untilDone(own, name).catch((error: unknown) => bug.abort(error))
      underway.set(
        name,
        work.finally(() => underway.delete(name)),
      )
    }
  })
}

function isDue({ metadata }: Node): boolean {
  const { annotations = {} } = metadata
  const current = annotations[nodeNote.current]
  return current !== undefined && annotations[nodeNote.desired] !== current
}

async function untilDone(cx: Platform, name: string): Promise<void> {
  await untilAborted(cx.signal, async () => {
    for (;;) {
      const found = await cx.reader.get(Nodes, { name })
      if (found.is !== 'object' || !isDue(found.object)) return
      await tried(cx, name)
    }
  })
}

async function tried(cx: Platform, name: string): Promise<void> {
  try {
    await updateNode(cx, name)
  } catch (error) {
    if (!(error instanceof ApiError)) throw error
    await cx.clock.sleep(retry, cx.signal)
  }
}

/** In ms: writing the new system, a reboot, and a look at a node that does not come back. */
const takes = { writing: 1.5 * minute, reboot: 3 * minute, snapshot: 10_000 }

/**
 * Takes a node to the configuration that it is to have: cordon, drain, write, reboot, come back with the release's kubelet, uncordon
 * (ocp 3.5). Begun again where it was broken off, it ends the same. Throws ApiError when the node is gone.
 */
async function updateNode(cx: Platform, name: string): Promise<void> {
  const node = await read(cx, name)
  if (!node) return
  const { [nodeNote.current]: current = '', [nodeNote.desired]: config = '' } =
    node.metadata.annotations ?? {}
  if (config === current) return
  if ((await contentOf(cx, current)) !== (await contentOf(cx, config))) await restart(cx, node, config)
  await note(cx, name, {
    [nodeNote.current]: config,
    [nodeNote.state]: 'Done',
    [nodeNote.reason]: null,
    [nodeNote.desiredDrain]: `uncordon-${config}`,
    [nodeNote.lastDrain]: `uncordon-${config}`,
  })
  await cx.writer.mergePatch(Nodes, { name }, { spec: { unschedulable: null } })
}

async function read({ reader }: Platform, name: string): Promise<Node | undefined> {
  const found = await reader.get(Nodes, { name })
  return found.is === 'object' ? found.object : undefined
}

type Notes = Record<string, string | null>

async function note({ writer }: Platform, name: string, annotations: Notes): Promise<void> {
  await writer.mergePatch(Nodes, { name }, { metadata: { annotations } })
}

async function notesOf({ reader }: Platform, name: string): Promise<Record<string, string>> {
  const found = await reader.get(MachineConfigs, { name })
  return (found.is === 'object' ? found.object.metadata.annotations : undefined) ?? {}
}

async function contentOf(cx: Platform, config: string): Promise<string | undefined> {
  return (await notesOf(cx, config))[renderNote.content]
}

async function restart(cx: Platform, node: Node, config: string): Promise<void> {
  const { name } = node.metadata
  await cx.writer.mergePatch(Nodes, { name }, { spec: { unschedulable: true } })
  await note(cx, name, { [nodeNote.state]: 'Working', [nodeNote.desiredDrain]: `drain-${config}` })
  // Where nothing could go anywhere nothing is drained (ocp 3.5).
  if (cx.shape.topology !== 'SingleReplica') await drain(cx, name, () => reportDrain(cx, name))
  await note(cx, name, {
    [nodeNote.state]: 'Working',
    [nodeNote.reason]: null,
    [nodeNote.lastDrain]: `drain-${config}`,
  })
  await cx.clock.sleep(takes.writing, cx.signal)
  await reboot(cx, name, config)
}

async function reportDrain(cx: Platform, name: string): Promise<void> {
  const reason = `failed to drain node: ${name} after 1 hour. Please see machine-config-controller logs for more information`
  await note(cx, name, { [nodeNote.state]: 'Degraded', [nodeNote.reason]: reason })
}

async function reboot(cx: Platform, name: string, config: string): Promise<void> {
  await note(cx, name, { [nodeNote.state]: 'Rebooting', [rebootingNote]: '' })
  const node = await read(cx, name)
  if (!node) return
  const message = `Node will reboot into config ${config}`
  await recordEvent(cx, node, 'machineconfigdaemon', ['Normal', 'Reboot', message])
  await setNodeReady(cx, node, false)
  await endLaunchers(cx, name)
  await cx.clock.sleep(cx.faults.on.rebootTime ?? takes.reboot, cx.signal)
  while (cx.faults.on.lostNodes?.includes(name) === true) await cx.clock.sleep(takes.snapshot, cx.signal)
  await comeBack(cx, name, config)
}

/** A guest does not outlive its node; other pods are started again by its kubelet. */
async function endLaunchers({ reader, writer }: Platform, name: string): Promise<void> {
  const launchers = await reader.list(Pods, {
    fields: `spec.nodeName=${name}`,
    labels: 'kubevirt.io=virt-launcher',
  })
  for (const { metadata } of launchers)
    await writer.mergePatch(Pods, metadata, { status: { phase: 'Failed' } }, 'status')
}

async function comeBack(cx: Platform, name: string, config: string): Promise<void> {
  const version = (await notesOf(cx, config))[renderNote.release] ?? ''
  const kubernetes = releaseOf(cx.shape.graph, version)?.kubernetes
  if (kubernetes !== undefined) {
    const nodeInfo = softwareOf(cx.shape, { version, kubernetes })
    await cx.writer.mergePatch(Nodes, { name }, { status: { nodeInfo } }, 'status')
  }
  await note(cx, name, { [rebootingNote]: null })
  const node = await read(cx, name)
  if (node) await setNodeReady(cx, node, true)
}

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
async function drain(cx: Platform, node: string, failing: () => Promise<void>): Promise<void> {
  const start = cx.clock.now().getTime()
  while (!(await attempt(cx, node))) {
    const passed = cx.clock.now().getTime() - start
    if (passed >= pace.reported) await failing()
    await cx.clock.sleep(passed >= pace.late ? pace.nextLate : pace.next, cx.signal)
  }
}

/** False when somebody is left. */
async function attempt(cx: Platform, node: string): Promise<boolean> {
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

async function podsToGo({ reader }: Platform, node: string): Promise<Pod[]> {
  const pods = await reader.list(Pods, { fields: `spec.nodeName=${node}` })
  return pods.filter((pod) => !ownedBy('DaemonSet')(pod))
}

/** A refusal (429: a disruption budget, or a VM that has to move first) is no failure: it is asked again. */
async function evict(cx: Platform, { metadata }: Pod): Promise<void> {
  const { name, namespace } = metadata
  const body = { apiVersion: 'policy/v1', kind: 'Eviction', metadata: { name, namespace } }
  try {
    await cx.writer.subresource(Pods, { name, namespace }, { name: 'eviction', method: 'POST', body })
  } catch (error) {
    if (!(error instanceof ApiError)) throw error
  }
}
