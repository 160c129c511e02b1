import { type Node, Nodes } from '../../../cluster/kinds/core.ts'
import { MachineConfigs } from '../../../cluster/kinds/openshift.ts'
import { Pods } from '../../../cluster/kinds/pods.ts'
import { rebootingNote, setNodeReady } from '../../machinery/nodes.ts'
import { recordEvent } from '../../machinery/record-event.ts'
import { softwareOf } from '../nodes.ts'
import { minute, type PlatformContext } from '../platform-context.ts'
import { releaseOf } from '../release-number.ts'
import { drain } from './drain.ts'
import { nodeNote, renderNote } from './names.ts'

/** In ms: writing the new system, a reboot, and a look at a node that does not come back. */
const takes = { writing: 1.5 * minute, reboot: 3 * minute, look: 10_000 }

/**
 * Takes a node to the configuration that it is to have: cordon, drain, write, reboot, come back with the release's kubelet, uncordon
 * (ocp 3.5). Begun again where it was broken off, it ends the same. Throws ApiError when the node is gone.
 */
export async function updateNode(cx: PlatformContext, name: string): Promise<void> {
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

async function read({ reader }: PlatformContext, name: string): Promise<Node | undefined> {
  const found = await reader.find(Nodes, { name })
  return found.is === 'object' ? found.object : undefined
}

type Notes = Record<string, string | null>

async function note({ writer }: PlatformContext, name: string, annotations: Notes): Promise<void> {
  await writer.mergePatch(Nodes, { name }, { metadata: { annotations } })
}

async function notesOf({ reader }: PlatformContext, name: string): Promise<Record<string, string>> {
  const found = await reader.find(MachineConfigs, { name })
  return (found.is === 'object' ? found.object.metadata.annotations : undefined) ?? {}
}

async function contentOf(cx: PlatformContext, config: string): Promise<string | undefined> {
  return (await notesOf(cx, config))[renderNote.content]
}

async function restart(cx: PlatformContext, node: Node, config: string): Promise<void> {
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

async function reportDrain(cx: PlatformContext, name: string): Promise<void> {
  const reason = `failed to drain node: ${name} after 1 hour. Please see machine-config-controller logs for more information`
  await note(cx, name, { [nodeNote.state]: 'Degraded', [nodeNote.reason]: reason })
}

async function reboot(cx: PlatformContext, name: string, config: string): Promise<void> {
  await note(cx, name, { [nodeNote.state]: 'Rebooting', [rebootingNote]: '' })
  const node = await read(cx, name)
  if (!node) return
  const message = `Node will reboot into config ${config}`
  await recordEvent(cx, node, { type: 'Normal', reason: 'Reboot', message, by: 'machineconfigdaemon' })
  await setNodeReady(cx, node, false)
  await endLaunchers(cx, name)
  await cx.clock.sleep(cx.faults.on.rebootTime ?? takes.reboot, cx.signal)
  while (cx.faults.on.lostNodes?.includes(name) === true) await cx.clock.sleep(takes.look, cx.signal)
  await comeBack(cx, name, config)
}

/** A guest does not outlive its node; other pods are started again by its kubelet. */
async function endLaunchers({ reader, writer }: PlatformContext, name: string): Promise<void> {
  const launchers = await reader.list(Pods, {
    fields: `spec.nodeName=${name}`,
    labels: 'kubevirt.io=virt-launcher',
  })
  for (const { metadata } of launchers)
    await writer.mergePatch(Pods, metadata, { status: { phase: 'Failed' } }, 'status')
}

async function comeBack(cx: PlatformContext, name: string, config: string): Promise<void> {
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
