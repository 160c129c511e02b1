import { someOf } from '../../kube/text.ts'
import { condition, isRecord, parseJson } from '../../kube/object.ts'
import { isReady, operatorName, strategyComponent } from '../installed-components.ts'
import type { Event, Node } from '../../kube/kinds/core-kinds.ts'
import type { ContainerState, ContainerStatus, Pod } from '../../kube/kinds/workload-kinds.ts'
import { latest, since } from '../../kube/timestamps.ts'
import type { LogOptions, Reader } from '../../kube/cluster.ts'
import { NotSavedError } from '../../kube/saved/saved-cluster.ts'
import { type Clock, ownClock } from '../../kube/clock.ts'
import { ApiError } from '../../kube/errors.ts'
import { itemsOf } from '../../kube/known.ts'
import { holderOf, holds } from '../lease-holders.ts'
import { isHarmless, knownFault, type KnownFault } from './known-messages.ts'
import type { Snapshot } from '../snapshot.ts'

/** Why something is not as it should be, named as deep as the cluster tells: condition → component → pod → container → image, node or event. */
export interface Cause {
  kind: CauseKind
  /** `virt-handler`, `virt-operator`, or `install strategy` for the Job that dumps it; of several the first. */
  component: string
  /** All of them, where one cause holds several up. */
  components?: readonly string[]
  /** The word that Kubernetes or KubeVirt uses: ImagePullBackOff, Unschedulable, NotReady, DeploymentFailed … */
  reason: string
  /** The CR's condition that is not as it must be: `Available=False (DeploymentFailed)`. */
  condition?: string
  /** It does not get better by waiting: for 15 s of it the verdict is Stalled. */
  terminal: boolean
  namespace: string
  pods: readonly string[]
  nodes: readonly string[]
  container?: string
  image?: string
  /** What was said about it, with the middle of long texts left out. */
  message?: string
  /** What the container's log ends with, where it was read. */
  lastLog?: string
  /** What is known of it in this release. */
  known?: string
  /** RFC 3339; "at least". */
  since?: string
  /** The whole of it in one sentence, without its duration. */
  sentence: string
  /** Commands that show more. */
  commands: readonly string[]
}

export type CauseKind =
  | 'image'
  | 'crash'
  | 'container'
  | 'unschedulable'
  | 'node'
  | 'terminating'
  | 'not-ready'
  /** A pod could not even be created. */
  | 'refused'
  /** virt-operator gave up for now: DeploymentFailed. */
  | 'failed'
  /** DeploymentFailed because virt-operator may not grant what the new version needs (lab 13). */
  | 'forbidden'
  /** A webhook does not answer, or says no to virt-operator. */
  | 'webhook'
  /** The API server refuses a CRD that drops a version in which objects are stored. */
  | 'stored-versions'
  /** virt-operator stopped the roll of virt-handler. */
  | 'canary'
  /** A DaemonSet's pod on a node that is not its any more. */
  | 'misscheduled'
  /** A pod of the present template that lacks virt-operator's annotations: it never counts as updated (kubevirt issue 16561). */
  | 'unstamped'
  /** A leader does not renew its Lease while it is watched. */
  | 'lease'
  /** An API that KubeVirt adds is unavailable. */
  | 'api'
  /** Nobody is there to answer a webhook of KubeVirt. */
  | 'webhook-silent'
  /** Most VMs do not run, for one reason. */
  | 'vms'
  /** Nothing changed for long, and nothing that was looked at says why. */
  | 'quiet'

/** Whether it holds this component up. */
export function concerns({ component, components = [component] }: Cause, name: string): boolean {
  return components.includes(name)
}

type Worded = Pick<Cause, 'sentence' | 'commands'>
type Unworded = Omit<Cause, keyof Worded>

/** One sentence a person can act on, and the commands that show more. */
export function troubleSentence(cause: Unworded): Worded {
  const sentence = words[cause.kind](cause, subjectOf(cause))
  return { sentence, commands: commandsFor(cause) }
}

const words: Record<Cause['kind'], (cause: Unworded, subject: Subject) => string> = {
  image: ({ image = 'its image', message, reason }, { who }) =>
    `${who} cannot pull ${image}: ${pullFailure(message ?? '') ?? reason}`,
  crash: ({ message, reason, lastLog, known }, { who, verb }) =>
    `${who} ${verb('is', 'are')} in ${reason}${message ? ` (${firstLine(message)})` : ''}${logged(message, lastLog)}${known === undefined ? '' : `; ${known}`}`,
  container: ({ message, reason }, { who }) => `${who} cannot start: ${firstLine(message) ?? reason}`,
  unschedulable: ({ message, reason }, { who, verb }) =>
    `${who} ${verb('finds', 'find')} no node: ${firstLine(message) ?? reason}`,
  node: ({ component, components = [component], nodes }) =>
    nodes.length > 1
      ? `nodes ${fewOf(nodes)} are NotReady, and ${listed(components)} ${components.length > 1 ? 'wait' : 'waits'} for them`
      : `node ${nodes[0] ?? ''} is NotReady, and ${listed(components)} ${components.length > 1 ? 'wait' : 'waits'} for it`,
  terminating: (_, { who, verb }) => `${who} ${verb('is', 'are')} stuck in Terminating`,
  'not-ready': ({ message, reason }, { who, verb }) =>
    `${who} ${verb('is', 'are')} not ready: ${firstLine(message) ?? reason}`,
  refused: ({ component, message }) =>
    `pods of ${component === strategyComponent ? `the ${component}` : component} cannot be created: ${message ?? 'refused'}`,
  quiet: ({ message, lastLog }) =>
    `${message?.startsWith('no progress') ? '' : 'nothing changes: '}${message ?? 'no reason was found'}${lastLog ? `; virt-operator logs "${lastLog}"` : ''}`,
  failed: ({ message }) => `virt-operator is stuck: ${message ?? 'DeploymentFailed'}`,
  webhook: ({ message }) => `virt-operator is stuck: ${message ?? 'a webhook refuses'}`,
  forbidden: ({ message }) => `virt-operator ${message ?? 'lacks permissions'}`,
  'stored-versions': ({ message }) =>
    `the API server refuses a new CRD: ${message ?? 'it lacks a stored version'}, which the new version drops`,
  lease: ({ component, message }) =>
    `${component} is gone or stuck: ${message ?? 'it does not renew its Lease'}`,
  vms: ({ reason, message }) => `VMs are not running: ${message ?? reason}`,
  api: ({ message }) => `an API of KubeVirt does not answer: ${message ?? 'it is unavailable'}`,
  'webhook-silent': ({ message }) =>
    `a webhook of KubeVirt does not answer: ${message ?? 'its Service has no ready endpoint'}`,
  canary: ({ message }) => `virt-operator stopped the rollout: ${message ?? 'the canary failed'}`,
  unstamped: ({ pods, component }, { who, verb }) =>
    `${who} ${verb('runs', 'run')} without virt-operator's annotations (${pods.slice(0, 3).join(', ')}): virt-operator never counts ${verb('it', 'them')} as updated, so ${component} never completes (kubevirt issue 16561, fixed in v1.8.4)`,
  misscheduled: ({ message }, { who, verb }) =>
    `${who} ${verb('is', 'are')} on a node that ${verb('its', 'their')} DaemonSet excludes: ${message ?? 'a taint'}`,
}

/** What the log adds to what the container's end said already. */
function logged(message = '', lastLog: string | undefined): string {
  return lastLog === undefined || message.includes(lastLog) ? '' : `, last log line: "${lastLog}"`
}

function commandsFor({ kind, namespace, pods, nodes }: Unworded): string[] {
  const [pod, node] = [pods[0], nodes[0]]
  if ((kind === 'node' || kind === 'misscheduled') && node) return [`kubectl describe node ${node}`]
  if (pod && kind === 'unstamped')
    return pods.map(
      (name) =>
        `kubectl -n ${namespace} delete pod ${name}     its DaemonSet creates a new one; VMs keep running`,
    )
  if (pod) return [`kubectl -n ${namespace} describe pod ${pod}`]
  return kind === 'refused' ? [`kubectl -n ${namespace} get events --field-selector reason=FailedCreate`] : []
}

function firstLine(text: string | undefined): string | undefined {
  return text?.split('\n', 1)[0]?.trim().replace(/\.$/, '') || undefined
}

/** Whom a sentence is about. */
interface Subject {
  who: string
  /** The form of a verb: one finds no node, several find none. */
  verb: (one: string, several: string) => string
}

const one = (who: string): Subject => ({ who, verb: (singular) => singular })
const several = (who: string): Subject => ({ who, verb: (_, plural) => plural })

/** A node says more than a pod's random end, where the pod has one; of many the number and three examples. */
function subjectOf({
  component,
  components = [component],
  nodes,
  pods,
}: Pick<Cause, 'component' | 'components' | 'nodes' | 'pods'>): Subject {
  const who = listed(components)
  if (who === strategyComponent) return ofTheJob(pods)
  const where = nodes.length > 3 ? counted(nodes, 'nodes') : listed(nodes)
  if (nodes.length > 0) return (components.length > 1 ? several : one)(`${who} on ${where}`)
  return pods.length > 1 ? several(counted(pods, `pods of ${who}`)) : one(`pod ${pods[0] ?? component}`)
}

function ofTheJob([first = '', ...others]: readonly string[]): Subject {
  const pod = `pod ${first} of the ${strategyComponent}`
  return others.length > 0 ? several(`${pod} and ${others.length} more`) : one(pod)
}

/** `40 nodes (worker-1, worker-2, worker-3, …)`. */
function counted(names: readonly string[], what: string): string {
  return `${names.length} ${what} (${names.slice(0, 3).join(', ')}${names.length > 3 ? ', …' : ''})`
}

const fewOf = (names: readonly string[]): string => (names.length > 3 ? someOf(names) : listed(names))

function listed(names: readonly string[]): string {
  return names.length > 1 ? `${names.slice(0, -1).join(', ')} and ${names.at(-1)}` : (names[0] ?? '')
}

const said: readonly (readonly [RegExp, string])[] = [
  [/not found|manifest unknown|does not exist|NotFound/i, 'not found'],
  [/toomanyrequests|429|rate limit/i, 'the registry limits the rate'],
  [/unauthorized|denied|authentication|401|403/i, 'not allowed to pull it'],
  [/x509|certificate/i, 'the certificate of the registry is not trusted'],
  [/no such host|lookup .* on /i, 'the name of the registry does not resolve'],
  [
    /i\/o timeout|deadline exceeded|connection refused|no route to host|unreachable/i,
    'the registry cannot be reached',
  ],
  [/no space left/i, 'no space left on the node'],
  [/invalid reference|couldn't parse|InvalidImageName/i, 'not a valid image name'],
]

/** What went wrong with a pull, in a few words, from the text of the container runtime; undefined when it does not say. */
export function pullFailure(text: string): string | undefined {
  return said.find(([pattern]) => pattern.test(text))?.[1]
}

/** What holds up one pod. */
export interface PodTrouble {
  kind: CauseKind
  reason: string
  terminal: boolean
  message: string
  container?: string
  /** The container was started again: there is a log of before. */
  again?: boolean
  image?: string
  since?: string
}

interface PodContext {
  node: Node | undefined
  /** Warnings on this pod. */
  events: readonly Event[]
  at: Date
}

const imageReasons = new Set([
  'ImagePullBackOff',
  'ErrImagePull',
  'ErrImageNeverPull',
  'InvalidImageName',
  'ImageInspectError',
  'RegistryUnavailable',
])
/** Why a kubelet waits for an image. */
export const isImageReason = (reason: string): boolean => imageReasons.has(reason)

const containerReasons = new Set([
  'CreateContainerConfigError',
  'CreateContainerError',
  'RunContainerError',
  'PreStartHookError',
  'PostStartHookError',
])

/** Why this pod is not ready, or undefined when nothing points at trouble: it may just be starting. */
export function podTrouble(pod: Pod, around: PodContext): PodTrouble | undefined {
  if (pod.metadata.deletionTimestamp) return stuckTerminating(pod, around)
  if (isReady(pod)) return undefined
  return (
    nodeTrouble(around.node) ??
    containerTrouble(pod, around) ??
    unschedulable(pod) ??
    failed(pod) ??
    told(around.events)
  )
}

function nodeTrouble(node: Node | undefined): PodTrouble | undefined {
  const ready = node?.status?.conditions?.find((c) => c.type === 'Ready')
  if (!ready || ready.status === 'True') return undefined
  return {
    kind: 'node',
    reason: 'NotReady',
    terminal: false,
    message: ready.message ?? '',
    ...from(ready.lastTransitionTime),
  }
}

/** deletionTimestamp is when the grace period ends, so half a minute later something holds the pod. A kubelet that has come back gets that half minute anew. */
function stuckTerminating(pod: Pod, { node, at }: PodContext): PodTrouble | undefined {
  const over = since(pod.metadata.deletionTimestamp, at)
  if (over === undefined || over < 30_000) return undefined
  const lost = nodeTrouble(node)
  const back = since(node && condition(node, 'Ready')?.lastTransitionTime, at)
  if (!lost && back !== undefined && back < 30_000) return undefined
  return (
    lost ?? {
      kind: 'terminating',
      reason: 'Terminating',
      terminal: false,
      message: '',
      ...from(pod.metadata.deletionTimestamp),
    }
  )
}

function containerTrouble(pod: Pod, around: PodContext): PodTrouble | undefined {
  const statuses = [...(pod.status?.initContainerStatuses ?? []), ...(pod.status?.containerStatuses ?? [])]
  for (const status of statuses) {
    const trouble = waitingTrouble(status, around.events) ?? crashTrouble(status)
    if (trouble)
      return { ...trouble, container: status.name, ...from(latest([notReadySince(pod), trouble.since])) }
  }
  return undefined
}

function waitingTrouble(status: ContainerStatus, events: readonly Event[]): PodTrouble | undefined {
  const reason = status.state?.waiting?.reason ?? ''
  if (isImageReason(reason)) return imageTrouble(status, reason, events)
  if (!containerReasons.has(reason)) return undefined
  return { kind: 'container', reason, terminal: true, message: status.state?.waiting?.message ?? '' }
}

/** The waiting message loses the cause when the kubelet backs off; the event keeps it, and when it began. */
function imageTrouble(status: ContainerStatus, reason: string, events: readonly Event[]): PodTrouble {
  const pulls = events.filter((event) => event.reason === 'Failed' && event.message?.includes('pull'))
  const texts = [status.state?.waiting?.message, ...pulls.map((event) => event.message)]
  return {
    kind: 'image',
    reason,
    terminal: true,
    message: texts.filter(Boolean).join('; '),
    ...(status.image ? { image: status.image } : {}),
    ...from(pulls.map(eventStart).toSorted()[0]),
  }
}

function crashTrouble(status: ContainerStatus): PodTrouble | undefined {
  const restarts = status.restartCount ?? 0
  const backsOff = status.state?.waiting?.reason === 'CrashLoopBackOff'
  // Between two back-offs it runs for a moment: that is no recovery.
  if (!backsOff && (restarts < 2 || status.ready)) return undefined
  return {
    kind: 'crash',
    reason: 'CrashLoopBackOff',
    terminal: true,
    again: true,
    message: `${restarts} ${restarts === 1 ? 'restart' : 'restarts'}${lastEnd(status)}`,
    ...(status.image ? { image: status.image } : {}),
  }
}

function lastEnd({ lastState, state }: ContainerStatus): string {
  const ended = lastState?.terminated ?? state?.terminated
  return ended ? `, ${endOf(ended)}` : ''
}

function endOf({ reason = 'Error', exitCode, message }: NonNullable<ContainerState['terminated']>): string {
  const code = exitCode === undefined ? undefined : `exit code ${exitCode}`
  // `Error` and `Completed` say no more than the code.
  const isSaid = code !== undefined && (reason === 'Error' || reason === 'Completed')
  const how = isSaid ? code : [reason, code].filter(Boolean).join(', ')
  return `${how}${message ? `: ${message.trim()}` : ''}`
}

function unschedulable(pod: Pod): PodTrouble | undefined {
  const scheduled = pod.status?.conditions?.find((c) => c.type === 'PodScheduled' && c.status === 'False')
  if (!scheduled) return undefined
  return {
    kind: 'unschedulable',
    reason: scheduled.reason ?? 'Unschedulable',
    terminal: false,
    message: scheduled.message ?? '',
    ...from(scheduled.lastTransitionTime ?? pod.metadata.creationTimestamp),
  }
}

/** Of the strategy Job: its pods are not started again. */
function failed({ status = {}, metadata }: Pod): PodTrouble | undefined {
  if (status.phase !== 'Failed') return undefined
  const { reason = 'Error', message = '' } = status
  const begun = { kind: 'crash', reason, terminal: true } as const
  for (const { name, state } of status.containerStatuses ?? []) {
    const ended = state?.terminated
    if (ended) return { ...begun, message: endOf(ended), container: name, ...from(ended.finishedAt) }
  }
  return { ...begun, message, ...from(metadata.creationTimestamp) }
}

/** Volumes that do not mount, sandboxes that do not start, probes that fail: only events tell. */
function told(events: readonly Event[]): PodTrouble | undefined {
  const last = events.toSorted((a, b) => order(eventEnd(a), eventEnd(b))).at(-1)
  if (!last) return undefined
  return {
    kind: 'not-ready',
    reason: last.reason ?? 'Warning',
    terminal: false,
    message: last.message ?? '',
    ...from(eventStart(last)),
  }
}

function notReadySince(pod: Pod): string | undefined {
  const unready = pod.status?.conditions?.find((c) => c.type === 'ContainersReady' && c.status === 'False')
  return unready?.lastTransitionTime ?? pod.status?.startTime ?? pod.metadata.creationTimestamp
}

const eventStart = (event: Event): string =>
  event.firstTimestamp ?? event.eventTime ?? event.metadata.creationTimestamp ?? ''
const eventEnd = (event: Event): string => event.lastTimestamp ?? eventStart(event)
/** RFC 3339 compares as it stands; the first localeCompare of a process loads a language for 9 ms. */
const order = (a: string, b: string): number => Number(a > b) - Number(a < b)
const from = (time: string | undefined): { since?: string } => (time ? { since: time } : {})

/** A node that is gone answers late or never: then it is done without, ms. */
const patience = 3000
/** Of one look; each cause needs one. */
const atMost = 3
const tailLines = 60

interface Question {
  /** The same key is asked once. */
  key: string
  pod: Pod
  container: string | undefined
  options: LogOptions
  read: (log: string) => string | undefined
  /** Whose log it is, of a container that keeps ending. */
  component?: string
}

interface ReadLog {
  text: string
  fault?: KnownFault
}

/** Remembers what it read: a container's log is asked for once per restart, however often it is looked. */
export class LastLines {
  readonly #said = new Map<string, ReadLog | undefined>()

  /**
   * The last lines of the containers that keep ending, and of a virt-operator that leads and does nothing. Never throws for
   * a log that may not or cannot be read: it is left out.
   */
  async of(
    { reader, clock }: { reader: Pick<Reader, 'log'>; clock: Clock },
    snapshot: Snapshot,
    why: readonly Cause[],
  ): Promise<readonly LastLine[]> {
    const asked = why.flatMap((cause) => questionOn(cause, snapshot, clock.now())).slice(0, atMost)
    const lines = asked.map(async (question): Promise<LastLine[]> => {
      const { key, pod, container } = question
      if (!this.#said.has(key)) this.#said.set(key, await answer(reader, clock, question))
      const known = this.#said.get(key)
      return known ? [{ pod: pod.metadata.name, ...(container && { container }), ...known }] : []
    })
    return (await Promise.all(lines)).flat()
  }
}

async function answer(
  reader: Pick<Reader, 'log'>,
  clock: Clock,
  { pod: { metadata }, options, read, component, container }: Question,
): Promise<ReadLog | undefined> {
  const late = new AbortController()
  const done = new AbortController()
  ownClock(clock)
    .sleep(patience, done.signal)
    .then(
      () => late.abort(),
      () => undefined,
    )
  try {
    const log = await reader.log(metadata, { ...options, signal: late.signal })
    const text = read(log)
    const fault = component === undefined ? undefined : knownFault(log, { component, container })
    return text === undefined || text === '' ? undefined : { text, ...(fault && { fault }) }
  } catch (error) {
    if (late.signal.aborted || error instanceof ApiError || error instanceof NotSavedError) return undefined
    throw error
  } finally {
    done.abort()
  }
}

function questionOn(cause: Cause, snapshot: Snapshot, now: Date): Question[] {
  if (cause.kind === 'crash') return crashed(cause, snapshot)
  return cause.kind === 'quiet' && cause.reason === 'NoChange' ? leading(cause, snapshot, now) : []
}

function crashed({ pods: [name], namespace, container, component }: Cause, snapshot: Snapshot): Question[] {
  const pod = itemsOf(snapshot.pods).find(
    ({ metadata }) => metadata.name === name && metadata.namespace === namespace,
  )
  if (!pod) return []
  const status = statusOf(pod, container)
  // Without a restart there is no previous log, and asking for it is a 400.
  const previous = status?.lastState?.terminated !== undefined
  const options = { ...(container && { container }), previous, tailLines }
  const key = `${pod.metadata.uid}/${container}/${status?.restartCount ?? 0}`
  return [{ key, pod, container, options, read: lastLine, component }]
}

/** Nothing restarts there: asked again once a minute. */
function leading({ namespace }: Cause, snapshot: Snapshot, now: Date): Question[] {
  const holder = holderOf(snapshot, operatorName, namespace)
  const pod = itemsOf(snapshot.pods).find((candidate) => holder !== undefined && holds(candidate, holder))
  if (!pod) return []
  const key = `${pod.metadata.uid}/${Math.floor(now.getTime() / 60_000)}`
  return [{ key, pod, container: undefined, options: { tailLines }, read: complaint }]
}

function statusOf({ status = {} }: Pod, container: string | undefined): ContainerStatus | undefined {
  const all = [...(status.initContainerStatuses ?? []), ...(status.containerStatuses ?? [])]
  return all.find(({ name }) => name === container)
}

/** What the log of a container ended with. */
export interface LastLine {
  pod: string
  /** Absent: the only container of the pod. */
  container?: string
  text: string
  /** What its log tells of, where that is known. */
  fault?: KnownFault
}

/** As much of a log line as fits a sentence. */
const longest = 160

/**
 * What a log says of its end, in one line without control characters: the message of a Go panic, else the last line that
 * complains, else the last one. KubeVirt writes JSON with `level`, `msg` and `reason`, other containers klog or plain
 * text. Undefined for an empty log.
 */
export function lastLine(log: string): string | undefined {
  const lines = log
    .split('\n')
    .filter((line) => !isHarmless(line))
    .map(readable)
    .filter(Boolean)
  const panic = lines.findLast((line) => /^(panic|fatal error):/.test(line))
  const last = panic ?? complaint(log) ?? lines.at(-1)
  return last === undefined || last.length <= longest ? last : `${last.slice(0, longest - 1)}…`
}

/** The last line that is an error or worse, and not one that is logged by design; undefined where none says so. */
export function complaint(log: string): string | undefined {
  return log
    .split('\n')
    .filter((line) => complains(line) && !isHarmless(line))
    .map(readable)
    .findLast(Boolean)
}

const bad = new Set(['error', 'fatal', 'panic', 'critical'])

function complains(line: string): boolean {
  const level = parsed(line)?.['level']
  return typeof level === 'string' ? bad.has(level) : /^[EF]\d{4} /.test(line)
}

function readable(line: string): string {
  const json = parsed(line)
  const text = json ? lastWords(json) : line.replace(/^[IWEF]\d{4} \S+\s+\d+ [^\]]+\] /, '')
  // oxlint-disable-next-line no-control-regex
  return text.replace(/[\s\u0000-\u001f\u007f-\u009f]+/g, ' ').trim()
}

function lastWords({ msg, message, reason, error, err }: Record<string, unknown>): string {
  return [msg ?? message, reason ?? error ?? err].filter((part) => typeof part === 'string').join(': ')
}

function parsed(line: string): Record<string, unknown> | undefined {
  const value = line.startsWith('{') ? parseJson(line) : undefined
  return isRecord(value) ? value : undefined
}
