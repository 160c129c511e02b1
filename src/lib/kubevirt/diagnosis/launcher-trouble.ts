import type { Reader } from '../../kube/cluster.ts'
import { type Event, Events, type Node, Nodes } from '../../kube/kinds/core-kinds.ts'
import { type ContainerStatus, type Pod, Pods } from '../../kube/kinds/workload-kinds.ts'
import type { KubeObject } from '../../kube/object.ts'
import { isReady } from '../installed-components.ts'
import { itemsOf, known } from '../../kube/known.ts'
import { type UnmetLabels, unmetLabels } from '../../kube/selectors.ts'
import { shellWord } from '../../kube/shell-line.ts'
import { shorten } from '../../kube/text.ts'
import { since } from '../../kube/timestamps.ts'
import { podTrouble, type PodTrouble } from './pod-trouble.ts'

/** Why a virt-launcher pod does not get on, and what helps. */
export interface LauncherTrouble extends Pick<PodTrouble, 'kind' | 'reason' | 'message' | 'since'> {
  /** Commands, each of which may end in five blanks and what it does. */
  remedy: readonly string[]
}

/** What explains pods that do not get on. */
export interface AroundPods {
  /** All of the cluster, where a pod of those finds no node; else none. */
  nodes: readonly Node[]
  /** Warnings about these pods. */
  events: readonly Event[]
}

/** So many pods are explained by their events, one request each. */
const podsAtMost = 10
/** A pod begins to start: nothing is asked about it so early, ms. */
const startPatience = 30_000

/**
 * Reads the warnings on pods that do not get on (ten at most), and the nodes where one of them finds none. What may not be read is left out. Throws any ApiError
 * but 403 and 404.
 */
export async function readAroundPods(reader: Reader, pods: readonly Pod[], at: Date): Promise<AroundPods> {
  const stuck = pods.filter((pod) => isWaiting(pod, at))
  const homeless = stuck.some((pod) => pod.spec?.nodeName === undefined)
  const [nodes, ...events] = await Promise.all([
    homeless ? known(reader.list(Nodes)) : undefined,
    ...stuck.slice(0, podsAtMost).map((pod) => known(warningsOn(reader, pod))),
  ])
  return { nodes: nodes ? itemsOf(nodes) : [], events: events.flatMap(itemsOf) }
}

function isWaiting(pod: Pod, at: Date): boolean {
  const age = since(pod.metadata.creationTimestamp, at) ?? 0
  return !isReady(pod) && !isEnded(pod) && age >= startPatience
}

/** Its containers have ended, and none is started again. */
export const isEnded = ({ status }: Pod): boolean =>
  status?.phase === 'Failed' || status?.phase === 'Succeeded'

function warningsOn(
  reader: Reader,
  { kind, metadata }: Pick<KubeObject, 'kind' | 'metadata'>,
): Promise<Event[]> {
  const about = { 'involvedObject.kind': kind ?? 'Pod', 'involvedObject.name': metadata.name }
  const fields = Object.entries({ type: 'Warning', ...about }).map((pair) => pair.join('='))
  return reader.list(Events, { namespace: metadata.namespace, fields: fields.join(',') })
}

/** Undefined where nothing points at trouble: it runs, or it may just be starting. Pure. */
export function launcherTrouble(
  pod: Pod,
  { nodes, events, at }: AroundPods & { at: Date },
): LauncherTrouble | undefined {
  const node = nodes.find(({ metadata }) => metadata.name === pod.spec?.nodeName)
  const own = events.filter((event) => isAbout(event, pod))
  const found = podTrouble(pod, { node, events: own, at })
  if (found === undefined) return isReady(pod) || isEnded(pod) ? undefined : initTrouble(pod, at)
  if (found.kind === 'unschedulable') return unschedulable(pod, found, nodes)
  return told(pod, found, own)
}

/** Of before it had a node, and of a pod of the same name, it says nothing. */
function isAbout({ involvedObject, reason }: Event, { metadata, spec }: Pod): boolean {
  const { kind, name, namespace = metadata.namespace, uid } = involvedObject ?? {}
  return (
    kind === 'Pod' &&
    name === metadata.name &&
    namespace === metadata.namespace &&
    (uid === undefined || uid === metadata.uid) &&
    !(reason === 'FailedScheduling' && spec?.nodeName !== undefined)
  )
}

function unschedulable(pod: Pod, found: PodTrouble, nodes: readonly Node[]): LauncherTrouble {
  const unmet = unmetLabels(pod.spec, nodes)
  return {
    ...found,
    ...(unmet && { message: unmet.sentence }),
    remedy: unmet ? labelHelp(pod, unmet) : [describe(pod)],
  }
}

const describe = ({ metadata }: Pod): string =>
  `kubectl -n ${shellWord(metadata.namespace ?? '')} describe pod ${shellWord(metadata.name)}`

/** What KubeVirt's node-labeller writes on nodes, and puts into the node selector of launcher pods by itself. */
const ofLabeller = /^(?:[a-z-]+\.)*node\.kubevirt\.io\//u

function labelHelp(pod: Pod, { keys }: UnmetLabels): string[] {
  const [name, namespace] = [shellWord(vmOf(pod)), shellWord(pod.metadata.namespace ?? '')]
  return [
    `kubectl get nodes ${keys.map((key) => `-L ${shellWord(key)}`).join(' ')}`,
    keys.every((key) => ofLabeller.test(key))
      ? `virtctl restart ${name} -n ${namespace}     stops the guest and starts it on what the nodes offer now`
      : `kubectl -n ${namespace} get vm ${name} -o jsonpath='{.spec.template.spec.nodeSelector} {.spec.template.spec.affinity}'     shows what asks for it`,
  ]
}

/** The VM whose launcher it is; virt-controller calls the VMI like its VM. */
function vmOf({ metadata }: Pod): string {
  const owner = metadata.ownerReferences?.find(({ controller }) => controller === true)
  return owner?.name ?? metadata.annotations?.['kubevirt.io/domain'] ?? metadata.name
}

/** Texts of kubelets and network plug-ins that say what to do; the first that fits. */
const readings: readonly ((text: string) => { message: string; remedy: readonly string[] } | undefined)[] = [
  (text) => {
    const plugin = /failed to find plugin "([\w.-]{1,60})"/u.exec(text)?.[1]
    if (plugin === undefined) return undefined
    const [, namespace, name] = /\[([a-z0-9-]{1,63})\/([a-z0-9.-]{1,253})\]/u.exec(text) ?? []
    const asks = name === undefined ? '' : `, which NetworkAttachmentDefinition ${namespace}/${name} asks for`
    return {
      message: `its node has no network plug-in "${plugin}"${asks}`,
      remedy: name === undefined ? [] : [networkHelp(plugin, `-n ${namespace} `, name)],
    }
  },
  (text) => {
    const volume = /Multi-Attach error for volume "([\w.-]{1,80})"/u.exec(text)?.[1]
    return volume === undefined
      ? undefined
      : {
          message: `volume ${volume} is still attached to another node`,
          remedy: [`kubectl get volumeattachments     shows which node has ${volume}`],
        }
  },
]

/** cnv-bridge is of OpenShift Virtualization 4.12 and before (CNV-38746). */
function networkHelp(plugin: string, where: string, name: string): string {
  const verb = plugin === 'cnv-bridge' ? 'edit' : 'get'
  const does =
    plugin === 'cnv-bridge'
      ? 'replace type "cnv-bridge" by "bridge": it ends with 4.12'
      : `shows its type: install that plug-in on every node`
  return `kubectl ${where}${verb} network-attachment-definitions ${name}${verb === 'get' ? ' -o yaml' : ''}     ${does}`
}

/** Why a container of it waits or ends, or what an event says. */
function told(pod: Pod, found: PodTrouble, events: readonly Event[]): LauncherTrouble {
  const isOfEvent = found.kind === 'not-ready' && events.some(({ reason }) => reason === found.reason)
  const reading = readings.map((read) => read(found.message)).find((one) => one !== undefined)
  const { message } = reading ?? found
  return {
    ...found,
    message: isOfEvent && !reading ? `${found.reason}: ${shorten(message)}` : shorten(message),
    remedy: [...(reading?.remedy ?? []), describe(pod)],
  }
}

/** Init containers of a launcher end within seconds; `Init:0/3` as kubectl has it. */
function initTrouble(pod: Pod, at: Date): LauncherTrouble | undefined {
  const statuses = pod.status?.initContainerStatuses ?? []
  const age = since(pod.metadata.creationTimestamp, at) ?? 0
  const open = statuses.find((status) => !isInitDone(status))
  if (open === undefined || age < 2 * 60_000) return undefined
  const done = statuses.filter(isInitDone).length
  const state = open.state?.waiting?.reason ?? (open.state?.running ? 'running' : 'waiting')
  return {
    kind: 'container',
    reason: `Init:${done}/${statuses.length}`,
    message: `its init containers do not finish (Init:${done}/${statuses.length}, ${open.name} is ${state})`,
    ...(pod.metadata.creationTimestamp && { since: pod.metadata.creationTimestamp }),
    remedy: [
      describe(pod),
      `kubectl -n ${shellWord(pod.metadata.namespace ?? '')} logs ${shellWord(pod.metadata.name)} -c ${shellWord(open.name)}`,
    ],
  }
}

/** A native sidecar is started and runs on. */
const isInitDone = ({ state, started, ready }: ContainerStatus): boolean =>
  state?.terminated?.exitCode === 0 || (state?.running !== undefined && (started === true || ready === true))

/** A VMI that does not run. */
interface IdleVmi {
  namespace: string
  name: string
  uid: string
}

/**
 * What keeps each of these VMIs, by `namespace/name`: the newest living launcher pod of it, or else the last warning about the VMI. Two requests and the events for
 * each. Throws ApiError where pods may not be read.
 */
export async function explainLaunchers(
  reader: Reader,
  vmis: readonly IdleVmi[],
  at: Date,
): Promise<ReadonlyMap<string, LauncherTrouble>> {
  const found = await Promise.all(
    vmis.map(async (vmi) => [vmi, await explainLauncher(reader, vmi, at)] as const),
  )
  return new Map(
    found.flatMap(([{ namespace, name }, trouble]) =>
      trouble === undefined ? [] : [[`${namespace}/${name}`, trouble] as const],
    ),
  )
}

async function explainLauncher(reader: Reader, vmi: IdleVmi, at: Date): Promise<LauncherTrouble | undefined> {
  const { namespace, uid } = vmi
  const labels = `kubevirt.io/created-by=${uid}`
  const all = await reader.list(Pods, { namespace, labels })
  const own = all.filter(({ metadata }) => metadata.ownerReferences?.some((one) => one.uid === uid))
  const [pod] = own
    .filter((one) => !isEnded(one))
    .toSorted((a, b) => timeOf(b.metadata.creationTimestamp) - timeOf(a.metadata.creationTimestamp))
  const around = pod && { ...(await readAroundPods(reader, [pod], at)), at }
  const trouble = pod && around && launcherTrouble(pod, around)
  if (trouble) return trouble
  const shows = `kubectl -n ${shellWord(namespace)} get pods -l ${shellWord(labels)} -o wide`
  const said = itemsOf(
    await known(lastWarning(reader, vmi).then((text) => (text === undefined ? [] : [text]))),
  )
  const [message] = said
  if (message !== undefined) return { kind: 'not-ready', reason: 'Warning', message, remedy: [shows] }
  if (pod !== undefined) return undefined
  return {
    kind: 'not-ready',
    reason: 'PodNotExists',
    message: 'there is no virt-launcher pod',
    remedy: [shows],
  }
}

/** `REASON: what it says` of the last warning about a VMI; undefined where there is none. Throws ApiError. */
export async function lastWarning(
  reader: Reader,
  { namespace, name, uid }: IdleVmi,
): Promise<string | undefined> {
  const metadata = { name, namespace }
  const all = await warningsOn(reader, { kind: 'VirtualMachineInstance', metadata })
  const last = all
    .filter(({ involvedObject }) => (involvedObject?.uid ?? uid) === uid)
    .toSorted((a, b) => timeOf(a.lastTimestamp) - timeOf(b.lastTimestamp))
    .at(-1)
  return last?.message ? `${last.reason ?? 'Warning'}: ${shorten(last.message)}` : undefined
}

const timeOf = (time: string | null | undefined): number => Date.parse(time ?? '') || 0
