import type { Event, Node } from '../../kube/kinds/core-kinds.ts'
import type { DaemonSet, Pod } from '../../kube/kinds/workload-kinds.ts'
import { type Cause, type CauseKind, podTrouble, type PodTrouble, troubleSentence } from './pod-trouble.ts'
import {
  deploymentFailure,
  identifierOf,
  isReady,
  isUpdated,
  lastChange,
  operatorName,
  operatorPods,
  podsOf,
  stampedVersion,
  strategyComponent,
  strategyPods,
  targetId,
  unmetCondition,
  type UpgradeSnapshot,
  type Workload,
  workloads,
} from '../installed-components.ts'
import { earliest, latest, since } from '../../kube/timestamps.ts'
import { itemsOf } from '../../kube/known.ts'
import { isOfHyperConverged } from '../installation.ts'
import { withPurpose } from '../../kube/shell-line.ts'
import { shorten } from '../../kube/text.ts'
import { lossBehind } from '../../releases/hop-findings.ts'
import { versionOf } from '../../releases/release-versions.ts'
import { readRefusal } from '../../kube/access-rights.ts'
import { isSelected, strategyJob, untolerated } from '../component-status.ts'
import { knownFault, type KnownFault } from './known-messages.ts'

/** How long a terminal container reason may last before the verdict is Stalled. */
const terminalPatience = 15_000

/** Everything that was found to be in the way, grouped by cause, the deepest first. Pure: the same look gives the same causes. */
export function causes(snapshot: UpgradeSnapshot): Cause[] {
  const found = podGroups(snapshot).flatMap(({ component, pods }) =>
    pods.flatMap((pod) => {
      const trouble = podTrouble(pod, podContext(snapshot, pod))
      return trouble ? [{ component, pod, trouble }] : []
    }),
  )
  const failure = failureCause(snapshot)
  const all = [
    ...groupedCauses(found, snapshot),
    ...refusedPods(snapshot),
    ...misscheduledPods(snapshot),
    ...unstampedPods(snapshot),
    ...(failure ? [failure] : []),
  ]
  const condition = unmetCondition(snapshot.kubevirt)
  return condition === undefined ? all : all.map((cause) => Object.assign(cause, { condition }))
}

/** A terminal reason that has lasted its 15 s. */
export function isTerminal(cause: Cause, at: Date): boolean {
  return cause.terminal && (since(cause.since, at) ?? 0) >= terminalPatience
}

const holding: ReadonlySet<CauseKind> = new Set([
  'refused',
  'unschedulable',
  'node',
  'terminating',
  'misscheduled',
])

/** It may heal, when a node returns or a quota grows, and KubeVirt does nothing about it: nothing moves before it does. */
export const holdsPods = ({ kind }: Cause): boolean => holding.has(kind)

const podGroups = (snapshot: UpgradeSnapshot): { component: string; pods: readonly Pod[] }[] => [
  { component: operatorName, pods: operatorPods(snapshot) },
  { component: strategyComponent, pods: jobPods(snapshot) },
  ...workloads(snapshot).map((workload) => ({
    component: workload.object.metadata.name,
    pods: podsOf(snapshot, workload),
  })),
]

/** Of the target's Job only: that of a wrong tag stays behind after the way back, and means nothing then (lab 5). */
function jobPods(snapshot: UpgradeSnapshot): readonly Pod[] {
  const { observedDeploymentID: observed } = snapshot.kubevirt.status ?? {}
  if (observed === targetId(snapshot)) return []
  const ofTarget = itemsOf(snapshot.snapshot.jobs).filter((job) => identifierOf(job) === targetId(snapshot))
  const jobs = new Set(ofTarget.map((job) => job.metadata.uid))
  return strategyPods(snapshot).filter((pod) => {
    if (pod.status?.phase === 'Succeeded') return false
    const owner = pod.metadata.ownerReferences?.find((reference) => reference.kind === 'Job')
    return owner !== undefined && jobs.has(owner.uid)
  })
}

const podContext = ({ snapshot, at }: UpgradeSnapshot, pod: Pod) => ({
  node: itemsOf(snapshot.nodes).find((node) => node.metadata.name === pod.spec?.nodeName),
  events: itemsOf(snapshot.events).filter((event) => isAbout(event, pod)),
  at,
})

function isAbout(event: Event, pod: Pod): boolean {
  const { kind, name, uid } = event.involvedObject ?? {}
  return kind === 'Pod' && name === pod.metadata.name && (uid === undefined || uid === pod.metadata.uid)
}

/** A pod of a component, and what holds it up. */
export interface TroubledPod {
  component: string
  pod: Pod
  trouble: PodTrouble
}

type Group = readonly [TroubledPod, ...TroubledPod[]]

/**
 * One cause for all pods with the same reason. ErrImagePull and ImagePullBackOff alternate: they are one, and so are the steps
 * of a crash loop; nodes that are lost are one for every component that has pods there.
 */
export function groupedCauses(found: readonly TroubledPod[], snapshot: UpgradeSnapshot): Cause[] {
  const groups = [...Map.groupBy(found, keyOf).values()] as [TroubledPod, ...TroubledPod[]][]
  return groups.map((group) => causeOfGroup(group, snapshot))
}

function keyOf({ component, trouble }: TroubledPod): string {
  const { kind, image, message, reason } = trouble
  if (kind === 'node') return kind
  const told = kind === 'unschedulable' ? message : kind === 'not-ready' ? reason : ''
  return JSON.stringify([component, kind, image, told])
}

function causeOfGroup(group: Group, snapshot: UpgradeSnapshot): Cause {
  const [{ component, trouble, pod }] = group
  const { lastLog, fault } = lastWords(group, snapshot)
  const cause = {
    ...whatIsKnown(group),
    ...(lastLog !== undefined && { lastLog }),
    ...(fault && { known: fault.sentence }),
  }
  const { sentence, commands } = troubleSentence(cause)
  const shows = trouble.kind === 'crash' ? [logCommand(pod, trouble)] : commands
  return {
    ...cause,
    sentence,
    commands: [...(fault?.remedy ?? []), ...shows, ...downgradeCause(component, snapshot)],
  }
}

function whatIsKnown(group: Group): Omit<Cause, 'sentence' | 'commands'> {
  const [{ component, pod, trouble }] = group
  const { kind, reason, terminal, container, image, message } = trouble
  const components = [...new Set(group.map((one) => one.component))]
  const from = earliest(group.map((one) => one.trouble.since))
  return {
    kind,
    component,
    ...(components.length > 1 && { components }),
    reason,
    terminal,
    namespace: pod.metadata.namespace ?? '',
    pods: group.map((one) => one.pod.metadata.name),
    nodes: [...new Set(group.flatMap((one) => one.pod.spec?.nodeName ?? []))].toSorted(),
    ...(container && { container }),
    ...(image && { image }),
    ...(message && { message: shorten(message) }),
    ...(from && { since: from }),
  }
}

/** Of a container that keeps ending: what its log ended with, and the fault that is known of it or, where no log was read, suspected. */
function lastWords(
  group: Group,
  { lastLines = [] }: UpgradeSnapshot,
): { lastLog?: string; fault?: KnownFault | undefined } {
  const [{ trouble, component, pod: first }] = group
  if (trouble.kind !== 'crash') return {}
  const said = lastLines.find(
    (line) => line.container === trouble.container && group.some(({ pod }) => pod.metadata.name === line.pod),
  )
  const version = stampedVersion(first)
  const fault = said
    ? said.fault
    : knownFault(undefined, { component, container: trouble.container, version })
  return { ...(said && { lastLog: said.text }), fault }
}

/** Of a container that was started again, what it said before; its name only where kubectl would show another one. */
function logCommand({ metadata, spec }: Pod, { container, again }: PodTrouble): string {
  const other = container !== undefined && container !== spec?.containers?.[0]?.name
  const flags = `${other ? ` -c ${container}` : ''}${again ? ' --previous' : ''}`
  return `kubectl -n ${metadata.namespace} logs ${metadata.name}${flags}`
}

/**
 * Nothing has rolled before the strategy is there: the former version is one command away. Not where another update was left for this one half-way:
 * its components are there, and its CRDs; and not where HyperConverged owns it, which takes nothing back.
 */
function downgradeCause(component: string, snapshot: UpgradeSnapshot): string[] {
  const { status, spec } = snapshot.kubevirt
  const observed = status?.observedKubeVirtVersion
  if (component !== strategyComponent || !observed || isOfHyperConverged(snapshot.kubevirt)) return []
  if (workloads(snapshot).some(({ object }) => identifierOf(object) !== status.observedDeploymentID))
    return []
  // Without a tag the version is the operator's own, which is new by now.
  const by = spec?.imageTag ? '' : ' --method image-tag'
  const loss = lossBehind(versionOf(status.targetKubeVirtVersion), versionOf(observed))
  return [withPurpose(`kvup upgrade --to ${observed}${by}`, `goes back${loss}`)]
}

/** DeploymentFailed as a cause: what virt-operator itself says, told by its last part, where the reason is (lab 13). */
function failureCause({ kubevirt }: UpgradeSnapshot): Cause | undefined {
  const failure = deploymentFailure(kubevirt)
  if (!failure) return undefined
  const { namespace = '' } = kubevirt.metadata
  // What helps by another manifest helps nobody whose operator is of a CSV.
  const target = isOfHyperConverged(kubevirt) ? undefined : kubevirt.status?.targetKubeVirtVersion
  const { kind, message, commands } = {
    ...unread(failure.message),
    ...readFailure(failure.message, { namespace, target }),
  }
  const cause = {
    kind,
    component: operatorName,
    reason: 'DeploymentFailed',
    terminal: false,
    namespace,
    pods: [],
    nodes: [],
    message: shorten(message),
    ...(failure.since ? { since: failure.since } : {}),
  }
  const { sentence } = troubleSentence(cause)
  return { ...cause, sentence, commands: [...commands, operatorLogs(namespace)] }
}

const unread = (message: string) => ({ kind: 'failed' as const, message, commands: [] })

function operatorLogs(namespace: string): string {
  return `kubectl -n ${namespace} logs -l kubevirt.io=virt-operator --tail=20`
}

/** What the text of a DeploymentFailed comes down to. */
interface FailureReading {
  kind: Extract<CauseKind, 'forbidden' | 'webhook' | 'stored-versions' | 'canary' | 'refused'>
  message: string
  /** Commands that show it or lead out of it. */
  commands: readonly string[]
}

interface Place {
  namespace: string
  /** What is to be installed. */
  target: string | undefined
}

type Reading = (text: string, place: Place) => FailureReading | undefined

/** The first reading that fits; undefined for a text that is told as it is. */
export function readFailure(text: string, place: Place): FailureReading | undefined {
  return readings.map((reading) => reading(text, place)).find(Boolean)
}

function refused(text: string, { namespace }: Place): FailureReading | undefined {
  const found = readRefusal(text, namespace)
  if (!found) return undefined
  const { message, commands } = found
  return { kind: found.is === 'quota' ? 'refused' : 'webhook', message, commands }
}

/** `clusterroles… "kubevirt.io:admin" is forbidden: … permissions not currently held: {…}` in one line (lab 13). */
function rbacRefusal(text: string, { target }: Place): FailureReading | undefined {
  // Only from where a word begins: from every letter of a long text it takes a millisecond.
  const object = /(?<!\S)(\S+) "([^"]+)" is forbidden:/.exec(text)
  if (!object) return undefined
  const [, resource = '', name = ''] = object
  const what = `${resource.split('.', 1)[0]} ${name}`
  const refusal = text.slice(object.index)
  const verb = /\bcannot (\S+) resource\b/.exec(refusal)?.[1]
  return {
    kind: 'forbidden',
    message: verb
      ? `may not ${verb} ${what}`
      : `lacks permissions that ${target ?? 'the new version'} needs${missingRights(refusal)}: it may not grant ${what}`,
    commands: target ? [`kvup upgrade --to ${target} --method operator-manifest`] : [],
  }
}

function missingRights(refusal: string): string {
  const groups = [...refusal.matchAll(/APIGroups:\[([^\]]*)\]/g)].map((match) => match[1])
  const missing = [...new Set(groups)].map((group) => group?.replaceAll('"', '')).filter(Boolean)
  return missing.length > 0 ? ` (${missing.join(', ')})` : ''
}

/** A version that is still stored cannot be dropped from a CRD (facts 1.6). */
function storedVersions(text: string, { target }: Place): FailureReading | undefined {
  const crd = /"([^"]+)" is invalid: .*status\.storedVersions/s.exec(text)?.[1]
  if (crd === undefined) return undefined
  const versions = [...text.matchAll(/storedVersions\[\d+\]: Invalid value: "([^"]+)"/g)].map(([, v]) => v)
  return {
    kind: 'stored-versions',
    message: `${crd} has objects stored as ${versions.join(' and ')}`,
    commands: [
      ...(target ? [`kvup check --to ${target}`] : []),
      `kubectl get crd ${crd} -o jsonpath='{.status.storedVersions}'`,
    ],
  }
}

/** Its first new pod ended, or more pods are ready than it wants (facts 2.8). */
function canary(text: string, { namespace }: Place): FailureReading | undefined {
  const counts =
    /unexpected canary upgrade state(?:: updatedAndReadyPods=(\d+), desiredReadyPods=(\d+))?/.exec(text)
  const failed = /daemonSet (\S+) rollout failed/.exec(text)
  if (!counts && !failed) return undefined
  const name = failed?.[1] ?? 'virt-handler'
  const more = counts?.[1] ? `${counts[1]} updated pods are ready, but ${counts[2]} are desired` : undefined
  return {
    kind: 'canary',
    message: failed ? `the first new pod of ${name} failed` : (more ?? 'more pods are ready than desired'),
    commands: [`kubectl -n ${namespace} get pods -l kubevirt.io=${name} -o wide`],
  }
}

/** A quota's refusal says "is forbidden" as well, so it comes first. */
const readings: readonly Reading[] = [refused, rbacRefusal, storedVersions, canary]

/** An old FailedCreate says nothing about now: Kubernetes tries again at least this often. */
const fresh = 15 * 60_000

/** Pods that a quota, a webhook or a policy keeps from being created: only FailedCreate events tell. */
function refusedPods(snapshot: UpgradeSnapshot): Cause[] {
  const { operator } = snapshot
  const all: readonly Workload[] = [
    ...(operator ? [{ kind: 'Deployment', object: operator } as const] : []),
    ...workloads(snapshot),
  ]
  const job = strategyJob(snapshot)
  return [
    ...(job && !hasPod(snapshot, job.name) ? [{ owner: job.name, component: strategyComponent }] : []),
    ...all
      .filter(isShort)
      .map(({ object }) => ({ owner: object.metadata.name, component: object.metadata.name })),
  ].flatMap(({ owner, component }) => {
    const events = itemsOf(snapshot.snapshot.events).filter((event) => refuses(event, owner, snapshot.at))
    const last = events.at(-1)
    return last ? [refusalCause(component, last, earliest(events.map(begin)))] : []
  })
}

const hasPod = (snapshot: UpgradeSnapshot, job: string): boolean =>
  strategyPods(snapshot).some(({ metadata }) => metadata.ownerReferences?.some(({ name }) => name === job))

function isShort(workload: Workload): boolean {
  if (workload.kind === 'DaemonSet') {
    const { currentNumberScheduled = 0, desiredNumberScheduled = 0 } = workload.object.status ?? {}
    return currentNumberScheduled < desiredNumberScheduled
  }
  return (workload.object.status?.updatedReplicas ?? 0) < (workload.object.spec?.replicas ?? 1)
}

function refuses(event: Event, owner: string, at: Date): boolean {
  const { kind, name = '' } = event.involvedObject ?? {}
  const by = kind === 'ReplicaSet' ? name.replace(/-[^-]+$/, '') : name
  const age = since(event.lastTimestamp ?? event.eventTime ?? event.firstTimestamp, at)
  return event.reason === 'FailedCreate' && by === owner && (age ?? 0) < fresh
}

const begin = ({ firstTimestamp, eventTime }: Event) => firstTimestamp ?? eventTime

function refusalCause(component: string, event: Event, from: string | undefined): Cause {
  const { namespace = '' } = event.metadata
  const reading = readRefusal(event.message ?? '', namespace)
  const cause = {
    kind: 'refused' as const,
    component,
    reason: 'FailedCreate',
    terminal: false,
    namespace,
    pods: [],
    nodes: [],
    message: reading?.message ?? withoutName(event.message ?? ''),
    ...(from === undefined ? {} : { since: from }),
  }
  const { sentence, commands } = troubleSentence(cause)
  return { ...cause, sentence, commands: reading?.commands ?? commands }
}

/** `Error creating: pods "virt-api-x" is forbidden: …`: the pod was never there, and each try has another name. */
function withoutName(message: string): string {
  return message.replace(/^Error creating: (pods "[^"]*" is forbidden: )?/, '')
}

/**
 * New pods of a DaemonSet on nodes that it does not want any more, of a taint or label that came later. virt-operator counts
 * them as ready, has more than it wants, and does not go on (facts 2.8, 2.9). Nothing while Kubernetes counts none.
 */
function misscheduledPods(snapshot: UpgradeSnapshot): Cause[] {
  return workloads(snapshot).flatMap((workload) => {
    if (workload.kind !== 'DaemonSet' || !workload.object.status?.numberMisscheduled) return []
    const found = strays(snapshot, workload)
    return found.length > 0 ? [misscheduledCause(workload.object, found)] : []
  })
}

interface Stray {
  pod: Pod
  node: Node
  /** What keeps the DaemonSet away. */
  why: string
  since: string | undefined
}

function strays(snapshot: UpgradeSnapshot, workload: Workload & { kind: 'DaemonSet' }): Stray[] {
  const target = targetId(snapshot)
  return podsOf(snapshot, workload).flatMap((pod) => {
    const node = itemsOf(snapshot.snapshot.nodes).find(({ metadata }) => metadata.name === pod.spec?.nodeName)
    if (!node || !isUpdated(pod, target) || !isReady(pod)) return []
    const [taint] = untolerated(node, workload.object)
    if (taint) return [{ pod, node, why: `the taint ${taint.key}:${taint.effect}`, since: taint.timeAdded }]
    return isSelected(node, workload.object)
      ? []
      : [{ pod, node, why: 'its node selector', since: undefined }]
  })
}

function misscheduledCause({ metadata }: DaemonSet, found: readonly Stray[]): Cause {
  const from = found.find((stray) => stray.since !== undefined)?.since
  const cause = {
    kind: 'misscheduled' as const,
    component: metadata.name,
    reason: 'Misscheduled',
    terminal: false,
    namespace: metadata.namespace ?? '',
    pods: found.map(({ pod }) => pod.metadata.name),
    nodes: found.map(({ node }) => node.metadata.name),
    message: [...new Set(found.map(({ why }) => why))].join(' and '),
    ...(from && { since: from }),
  }
  return { ...cause, ...troubleSentence(cause) }
}

/** A DaemonSet may be this new before its pods without annotations mean something, ms. */
const stampPatience = 2 * 60_000

/**
 * Pods of a DaemonSet that Kubernetes counts as updated and ready, while they bear no identifier as its template does: they were made from the template of a moment in
 * which it had none, no roll replaces them, and virt-operator waits for them without end (kubevirt issue 16561).
 */
function unstampedPods(snapshot: UpgradeSnapshot): Cause[] {
  const target = targetId(snapshot)
  return workloads(snapshot).flatMap((workload) => {
    if (workload.kind !== 'DaemonSet' || target === undefined) return []
    const { object } = workload
    const { template } = object.spec ?? {}
    const isStamped = template !== undefined && identifierOf(template) === target
    if (!isStamped || !isRolledByKubernetes(object)) return []
    const found = podsOf(snapshot, workload).filter(
      (pod) => identifierOf(pod) === undefined && isReady(pod) && !pod.metadata.deletionTimestamp,
    )
    const from = latest(found.map(({ metadata }) => metadata.creationTimestamp))
    return found.length > 0 && (since(from, snapshot.at) ?? 0) >= stampPatience
      ? [unstampedCause(snapshot, object, found)]
      : []
  })
}

function isRolledByKubernetes({ metadata, status = {} }: DaemonSet): boolean {
  const { desiredNumberScheduled: desired = 0, updatedNumberScheduled = 0, numberReady = 0 } = status
  return (
    status.observedGeneration === metadata.generation &&
    updatedNumberScheduled >= desired &&
    numberReady >= desired
  )
}

function unstampedCause(
  { kubevirt }: UpgradeSnapshot,
  { metadata }: DaemonSet,
  found: readonly Pod[],
): Cause {
  const available = kubevirt.status?.conditions?.find(({ type }) => type === 'Available')
  const from = available?.status === 'False' ? available.lastTransitionTime : undefined
  const cause = {
    kind: 'unstamped' as const,
    component: metadata.name,
    reason: 'NoInstallStrategyAnnotations',
    terminal: true,
    namespace: metadata.namespace ?? '',
    pods: found.map((pod) => pod.metadata.name),
    nodes: found.flatMap(({ spec }) => spec?.nodeName ?? []),
    ...(from && { since: from }),
  }
  return { ...cause, ...troubleSentence(cause) }
}

/** A Lease that is renewed every few seconds and was not for this long is nobody's, ms. */
const silence = 60_000

/** A component whose turn has not come says nothing more. */
function quietText(waitingFor: string): string {
  const component = /^(?<name>\S+): waits its turn$/u.exec(waitingFor)?.groups?.['name']
  return component === undefined ? `still waiting for ${waitingFor}` : `no progress on ${component}`
}

/** For a verdict that nothing else explains: what is waited for, and whether virt-operator is alive at all. */
export function quietCause(snapshot: UpgradeSnapshot, waitingFor: string): Cause {
  const { kubevirt, at } = snapshot
  const namespace = kubevirt.metadata.namespace ?? ''
  const renewed = lastRenewal(snapshot)
  const silent = (since(renewed, at) ?? 0) >= silence
  const [said] = snapshot.lastLines ?? []
  const from = silent ? renewed : lastChange(snapshot)
  const cause = {
    kind: 'quiet' as const,
    component: operatorName,
    reason: silent ? 'LeaseNotRenewed' : 'NoChange',
    terminal: false,
    namespace,
    pods: [],
    nodes: [],
    message: silent ? 'virt-operator does not renew its Lease' : quietText(waitingFor),
    ...(from && { since: from }),
    ...(said && !silent && { lastLog: said.text }),
  }
  return {
    ...cause,
    sentence: troubleSentence(cause).sentence,
    commands: [`kubectl -n ${namespace} logs -l kubevirt.io=virt-operator --tail=20`],
  }
}

function lastRenewal({ snapshot, kubevirt }: UpgradeSnapshot): string | undefined {
  const lease = itemsOf(snapshot.leases).find(
    ({ metadata }) => metadata.name === operatorName && metadata.namespace === kubevirt.metadata.namespace,
  )
  return lease?.spec?.renewTime ?? undefined
}
