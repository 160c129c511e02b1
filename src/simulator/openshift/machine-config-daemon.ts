import * as kube from '../kinds.ts'
import { foundIn, ownedBy, recordEvent, untilAborted } from '../machinery/controller.ts'
import { isTrue, minute, type Platform, worded } from './platform-context.ts'
import { softwareOf } from './openshift-objects.ts'
import { releaseOf } from './openshift-shape.ts'
import { ApiError } from '../../lib/kube/errors.ts'
import { rebootingNote, setNodeReady } from '../machinery/node-lifecycle.ts'
import { ownKey } from '../own-keys.ts'

const prefix = 'machineconfiguration.openshift.io'

/** What is said of a node's configuration on the node itself (ocp 3.5). */
const nodeNote = {
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

export const note = ({ metadata }: kube.Node, name: keyof typeof nodeNote): string | undefined =>
  metadata.annotations?.[nodeNote[name]]

export const isReady = ({ status }: kube.Node): boolean => isTrue(status?.conditions, 'Ready')

/** True when the node has that configuration and is to have no other. */
export const isUpdated = (node: kube.Node, config: string): boolean =>
  note(node, 'current') === config && note(node, 'desired') === config && note(node, 'state') === 'Done'

/** How long a node is left alone after the API refused something, in ms. */
const retry = 5000

/** The machine-config-daemon of every node: takes each to the configuration that it is told. Rejects with a bug of the simulator. */
export async function runNodeUpdates(cx: Platform): Promise<void> {
  const underway = new Map<string, Promise<void>>()
  const bug = new AbortController()
  const own = { ...cx, signal: AbortSignal.any([cx.signal, bug.signal]) }
  await untilAborted(cx.signal, async () => {
    for await (const change of cx.reader.watch(kube.Nodes, {}, own.signal)) {
      if (change.type !== 'added' && change.type !== 'modified') continue
      const { name } = change.object.metadata
      if (!isBehind(change.object) || underway.has(name)) continue
      const work = untilDone(own, name).catch((error: unknown) => bug.abort(error))
      underway.set(
        name,
        work.finally(() => underway.delete(name)),
      )
    }
  })
}

const isBehind = (node: kube.Node): boolean =>
  note(node, 'current') !== undefined && note(node, 'desired') !== note(node, 'current')

async function untilDone(cx: Platform, name: string): Promise<void> {
  await untilAborted(cx.signal, async () => {
    for (let node = await read(cx, name); node && isBehind(node); node = await read(cx, name)) {
      try {
        await updateNode(cx, name)
      } catch (error) {
        if (!(error instanceof ApiError)) throw error
        await cx.clock.sleep(retry, cx.signal)
      }
    }
  })
}

const read = async ({ reader }: Platform, name: string): Promise<kube.Node | undefined> =>
  foundIn(await reader.get(kube.Nodes, { name }))

/** In ms: writing the new system, a reboot, and a look at a node that does not come back. */
const takes = { writing: 1.5 * minute, reboot: 3 * minute, snapshot: 10_000 }

/**
 * Takes a node to the configuration that it is to have: cordon, drain, write, reboot, come back with the release's kubelet, uncordon
 * (ocp 3.5). Begun again where it was broken off, it ends the same. Throws ApiError when the node is gone.
 */
async function updateNode(cx: Platform, name: string): Promise<void> {
  const node = await read(cx, name)
  if (!node || !isBehind(node)) return
  const config = note(node, 'desired') ?? ''
  const content = await contentOf(cx, note(node, 'current') ?? '')
  if (content !== (await contentOf(cx, config))) await restart(cx, name, config)
  const uncordon = `uncordon-${config}`
  const done = { current: config, state: 'Done', reason: null, desiredDrain: uncordon, lastDrain: uncordon }
  await annotate(cx, name, done)
  await cx.writer.mergePatch(kube.Nodes, { name }, { spec: { unschedulable: null } })
}

/** Writes notes on a node; null takes one away. */
export async function annotate(
  { writer }: Platform,
  name: string,
  notes: Partial<Record<keyof typeof nodeNote, string | null>>,
  more: Record<string, string | null> = {},
): Promise<void> {
  const own = Object.entries(notes).map(([key, value]) => [nodeNote[key as keyof typeof nodeNote], value])
  const annotations = { ...(Object.fromEntries(own) as typeof more), ...more }
  await writer.mergePatch(kube.Nodes, { name }, { metadata: { annotations } })
}

async function notesOf({ reader }: Platform, name: string): Promise<Record<string, string>> {
  const config = foundIn(await reader.get(kube.MachineConfigs, { name }))
  return config?.metadata.annotations ?? {}
}

async function contentOf(cx: Platform, config: string): Promise<string | undefined> {
  return (await notesOf(cx, config))[renderNote.content]
}

async function restart(cx: Platform, name: string, config: string): Promise<void> {
  await cx.writer.mergePatch(kube.Nodes, { name }, { spec: { unschedulable: true } })
  await annotate(cx, name, { state: 'Working', desiredDrain: `drain-${config}` })
  // Where nothing could go anywhere nothing is drained (ocp 3.5).
  if (cx.shape.topology !== 'SingleReplica') await drain(cx, name)
  await annotate(cx, name, { state: 'Working', reason: null, lastDrain: `drain-${config}` })
  await cx.clock.sleep(takes.writing, cx.signal)
  await reboot(cx, name, config)
  await comeBack(cx, name, config)
}

async function reboot(cx: Platform, name: string, config: string): Promise<void> {
  await annotate(cx, name, { state: 'Rebooting' }, { [rebootingNote]: '' })
  const node = await read(cx, name)
  if (!node) return
  const message = `Node will reboot into config ${config}`
  await recordEvent(cx, node, 'machineconfigdaemon', ['Normal', 'Reboot', message])
  await setNodeReady(cx, node, false)
  await endLaunchers(cx, name)
  await cx.clock.sleep(cx.faults.on.rebootTime ?? takes.reboot, cx.signal)
  while (cx.faults.on.lostNodes?.includes(name) === true) await cx.clock.sleep(takes.snapshot, cx.signal)
}

/** A guest does not outlive its node; other pods are started again by its kubelet. */
async function endLaunchers({ reader, writer }: Platform, name: string): Promise<void> {
  const where = { fields: `spec.nodeName=${name}`, labels: 'kubevirt.io=virt-launcher' }
  for (const { metadata } of await reader.list(kube.Pods, where))
    await writer.mergePatch(kube.Pods, metadata, { status: { phase: 'Failed' } }, 'status')
}

async function comeBack(cx: Platform, name: string, config: string): Promise<void> {
  const release = releaseOf(cx.shape.graph, (await notesOf(cx, config))[renderNote.release])
  if (release) {
    const nodeInfo = softwareOf(cx.shape, release)
    await cx.writer.mergePatch(kube.Nodes, { name }, { status: { nodeInfo } }, 'status')
  }
  await annotate(cx, name, {}, { [rebootingNote]: null })
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

/** Evicts what runs on a node, as often as it is refused; says so once it has gone on for an hour, and goes on. */
async function drain(cx: Platform, name: string): Promise<void> {
  const start = cx.clock.now().getTime()
  while (!(await attempt(cx, name))) {
    const passed = cx.clock.now().getTime() - start
    if (passed >= pace.reported)
      await annotate(cx, name, { state: 'Degraded', reason: worded('drainFailed', { name }) })
    await cx.clock.sleep(passed >= pace.late ? pace.nextLate : pace.next, cx.signal)
  }
}

/** False when somebody is left. */
async function attempt(cx: Platform, name: string): Promise<boolean> {
  const until = cx.clock.now().getTime() + pace.attempt
  while (cx.clock.now().getTime() < until) {
    const all = await cx.reader.list(kube.Pods, { fields: `spec.nodeName=${name}` })
    const pods = all.filter((pod) => !ownedBy('DaemonSet')(pod))
    const isKept = cx.faults.on.undrainableNodes?.includes(name) === true
    if (pods.length === 0 && !isKept) return true
    for (const pod of pods) if (pod.metadata.deletionTimestamp === undefined) await evict(cx, pod)
    await cx.clock.sleep(pace.betweenEvictions, cx.signal)
  }
  return false
}

/** A refusal (429: a disruption budget, or a VM that has to move first) is no failure: it is asked again. */
async function evict(cx: Platform, { metadata }: kube.Pod): Promise<void> {
  const { name, namespace } = metadata
  const body = { apiVersion: 'policy/v1', kind: 'Eviction', metadata: { name, namespace } }
  try {
    await cx.writer.subresource(kube.Pods, { name, namespace }, { name: 'eviction', method: 'POST', body })
  } catch (error) {
    if (!(error instanceof ApiError)) throw error
  }
}
