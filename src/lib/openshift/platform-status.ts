import type { Reader } from '../kube/cluster.ts'
import { condition, type Condition, type Kind, type KubeObject } from '../kube/object.ts'
import { type ConfigMap, ConfigMaps, type Node, Nodes } from '../kube/kinds/core-kinds.ts'
import {
  type ClusterOperator,
  ClusterOperators,
  type ClusterVersion,
  ClusterVersions,
  type Infrastructure,
  Infrastructures,
  type MachineConfigPool,
  MachineConfigPools,
  type MachineHealthCheck,
  MachineHealthChecks,
  type NodeHealthCheck,
  NodeHealthChecks,
  type PlatformRelease,
} from '../kube/kinds/openshift-kinds.ts'
import { filled, type Known, known, listServed, notAsked, onlyKnown } from '../kube/known.ts'
import type { OperatorCondition } from '../kube/kinds/operator-kinds.ts'

/** What was seen of an OKD or OpenShift cluster. A kind that is not served is known, and there are none of it. */
export interface PlatformSnapshot {
  /** One, or none where this is no such cluster. */
  clusterVersion: Known<ClusterVersion>
  clusterOperators: Known<ClusterOperator>
  pools: Known<MachineConfigPool>
  /** Labels, kubelet version, readiness and the annotations of the machine config daemon only. */
  nodes: Known<Node>
  /** ConfigMap openshift-config-managed/admin-gates: one or none (ocp 3.3). */
  adminGates: Known<ConfigMap>
  /** ConfigMap openshift-config/admin-acks: one or none. */
  adminAcks: Known<ConfigMap>
  /** One or none. */
  infrastructure: Known<Infrastructure>
  machineHealthChecks: Known<MachineHealthCheck>
  nodeHealthChecks: Known<NodeHealthCheck>
}

export type PlatformPart = keyof PlatformSnapshot

const readers: { readonly [P in PlatformPart]: (reader: Reader) => Promise<PlatformSnapshot[P]> } = {
  clusterVersion: async (reader) => one(await listed(reader, ClusterVersions), 'version'),
  clusterOperators: async (reader) => listed(reader, ClusterOperators),
  pools: async (reader) => listed(reader, MachineConfigPools),
  nodes: async (reader) => known(platformNodes(reader)),
  adminGates: async (reader) => configMap(reader, 'admin-gates', 'openshift-config-managed'),
  adminAcks: async (reader) => configMap(reader, 'admin-acks', 'openshift-config'),
  infrastructure: async (reader) => one(await listed(reader, Infrastructures), 'cluster'),
  machineHealthChecks: async (reader) => listed(reader, MachineHealthChecks),
  nodeHealthChecks: async (reader) => listed(reader, NodeHealthChecks),
}

/** Of which nothing was asked for. */
export const unreadPlatform: PlatformSnapshot = {
  clusterVersion: notAsked,
  clusterOperators: notAsked,
  pools: notAsked,
  nodes: notAsked,
  adminGates: notAsked,
  adminAcks: notAsked,
  infrastructure: notAsked,
  machineHealthChecks: notAsked,
  nodeHealthChecks: notAsked,
}

/**
 * Reads the wanted parts, all without `parts`, in one round trip. A part that may not be read or was not saved is unknown; any
 * other ApiError is thrown.
 */
export async function takePlatform(
  reader: Reader,
  { parts = Object.keys(readers) as PlatformPart[] }: { parts?: readonly PlatformPart[] } = {},
): Promise<PlatformSnapshot> {
  const taken = await Promise.all(parts.map(async (part) => [part, await readers[part](reader)] as const))
  return { ...unreadPlatform, ...Object.fromEntries(taken) }
}

function one<T extends KubeObject>(part: Known<T>, name: string): Known<T> {
  return onlyKnown(part, ({ metadata }) => metadata.name === name)
}

async function listed<T extends KubeObject>(reader: Reader, kind: Kind<T>): Promise<Known<T>> {
  return known(listServed(reader, kind))
}

async function configMap(reader: Reader, name: string, namespace: string): Promise<Known<ConfigMap>> {
  const found = reader.get(ConfigMaps, { name, namespace })
  return known(found.then((answer) => (answer.is === 'object' ? [answer.object] : [])))
}

const kept =
  /^machineconfiguration\.openshift\.io\/(?:currentConfig|desiredConfig|desiredDrain|lastAppliedDrain|state|reason)$/u

/** Of each node what says to which pool it belongs and how far it is. Page by page, so that images and the like are not kept. Throws ApiError. */
export async function platformNodes(reader: Reader): Promise<Node[]> {
  const all: Node[] = []
  for await (const { items } of reader.pages(Nodes)) all.push(...items.map(trimmed))
  return all
}

function trimmed({ apiVersion, kind, metadata, spec, status = {} }: Node): Node {
  const { name, uid, labels, annotations = {} } = metadata
  const ready = condition({ status }, 'Ready')
  return {
    apiVersion,
    kind,
    metadata: {
      name,
      ...filled({ uid, labels }),
      annotations: Object.fromEntries(Object.entries(annotations).filter(([key]) => kept.test(key))),
    },
    spec: filled({ unschedulable: spec?.unschedulable }),
    status: {
      conditions: ready ? [ready] : [],
      nodeInfo: filled({ kubeletVersion: status.nodeInfo?.kubeletVersion }),
    },
  }
}

/** Where the cluster's own version stands (ocp 3.1). */
export interface PlatformStatus {
  /** The last release that was reached in full; undefined while a first installation is under way. */
  version?: string
  /** What the cluster follows now: status.desired. */
  target?: string
  /** `partial`: it stopped before it was done, and nothing progresses. */
  state: 'idle' | 'updating' | 'partial'
  /** It is the installation that is under way, or stopped: the cluster never ran a release. */
  installing?: true
  /** What the update that is under way, or stopped, began from: `incomplete` where that release was not reached in full itself. */
  from?: { version: string; incomplete?: true }
  /** The same release for another architecture, or by another image of the same version: versions do not tell how far it is. */
  sameVersion?: 'multi-architecture' | 'other-image'
  /** RFC 3339: when the present update began, or the last one was done. */
  since?: string
  failing: Condition['status']
  /** RFC 3339: since when Failing and Progressing are as they are now. */
  failingSince?: string
  progressingSince?: string
  /** Failing=Unknown, reason SlowClusterOperator: what takes longer than expected. No failure. */
  slow?: string
  progressing: boolean
  /** How much of the present update is done, 0 to 100; undefined where none is under way, or it does not say. */
  percent?: number
  /** Of Failing where it is True, else of Progressing. */
  message: string
  /** For the next minor only; a patch is let through whatever it says. Absent means yes. */
  upgradeable: Gate
  /** Whether the release that was asked for last was taken. */
  accepted: Gate
  armed?: ArmedUpdate
  channel?: string
  /** That the present release is in. */
  channels: readonly string[]
  /** RFC 3339: since when the request that was not accepted is refused. */
  refusedSince?: string
  /** Undefined: not retrieved, which is not "none". */
  available?: readonly PlatformRelease[]
  /** RetrievedUpdates=False: why nothing is known, in the cluster's own words. Absent while they are fetched anew, for another channel. */
  notRetrieved?: string
  /** The last update that was done, RFC 3339; absent while it is the installation. */
  last?: { version: string; started: string; completed: string }
  conditional: readonly ConditionalRelease[]
  /**
   * The conditions are about the spec as it is now. A change waits until it is true; a cluster at rest is at rest all the same, for after a change of
   * the channel alone the cluster version operator tells of the new generation only when it applies its manifests the next time.
   */
  current: boolean
}

/** That the release which an update began from was never reached in full itself; none where it was. */
export const neverCompleted = ({
  from,
  version,
}: Pick<PlatformStatus, 'from' | 'version'>): readonly string[] =>
  from?.incomplete
    ? [
        `the update to ${from.version} was never completed; ${version ?? 'no release'} was the last complete one`,
      ]
    : []

/** A release that is offered with risks. */
interface ConditionalRelease {
  release: PlatformRelease
  /** Names of its risks, in the order in which they are told. */
  risks: readonly string[]
  /** Whether the risks apply to this cluster: `no` says which; `unknown`, that nobody could tell, which is not the same. */
  recommended: Gate
}

/** Pure. Each trap of ocp 3.1 and 3.2 is decided here once. */
export function assessPlatform(cv: ClusterVersion): PlatformStatus {
  const { status = {}, metadata } = cv
  return {
    ...history(cv),
    ...progress(cv),
    upgradeable: gateOf(condition(cv, 'Upgradeable'), yes),
    accepted: gateOf(condition(cv, 'ReleaseAccepted'), yes),
    ...filled({ armed: armedUpdate(cv), channel: cv.spec?.channel, available: offered(cv) }),
    ...filled({ percent: percentComplete(cv), notRetrieved: notRetrieved(cv), last: lastUpdate(cv) }),
    ...filled({ refusedSince: refusedSince(cv) }),
    channels: status.desired?.channels ?? [],
    conditional: (status.conditionalUpdates ?? []).map(conditional),
    current: status.observedGeneration === metadata.generation,
  }
}

/** A list that is not there is an empty one where the updates were retrieved: the cluster version operator leaves out what is empty (ocp 3.1). */
function offered(cv: ClusterVersion): readonly PlatformRelease[] | undefined {
  const releases = cv.status?.availableUpdates
  if (releases) return releases
  return condition(cv, 'RetrievedUpdates')?.status === 'True' ? [] : undefined
}

function notRetrieved(cv: ClusterVersion): string | undefined {
  const retrieved = condition(cv, 'RetrievedUpdates')
  if (retrieved?.status !== 'False') return undefined
  return retrieved.message || retrieved.reason || 'RetrievedUpdates=False'
}

function refusedSince(cv: ClusterVersion): string | undefined {
  const accepted = condition(cv, 'ReleaseAccepted')
  return accepted?.status === 'False' ? accepted.lastTransitionTime : undefined
}

/** The oldest entry is the installation, where the history was not cut. */
function lastUpdate({ status }: ClusterVersion): PlatformStatus['last'] {
  const done = (status?.history ?? []).slice(0, -1).find(({ state }) => state === 'Completed')
  const { version, startedTime: started, completionTime: completed } = done ?? {}
  return version && started && completed ? { version, started, completed } : undefined
}

type Progress = Pick<
  PlatformStatus,
  'failing' | 'failingSince' | 'slow' | 'progressing' | 'progressingSince' | 'message'
>

function progress(cv: ClusterVersion): Progress {
  const failing = condition(cv, 'Failing')
  const progressing = condition(cv, 'Progressing')
  const said = failing?.status === 'True' ? failing : progressing
  return {
    failing: failing?.status ?? 'Unknown',
    ...filled({
      failingSince: failing?.lastTransitionTime,
      progressingSince: progressing?.lastTransitionTime,
    }),
    ...slowness(failing, progressing),
    progressing: progressing?.status === 'True',
    message: said?.message ?? '',
  }
}

/** A part that takes longer than expected is no failure, and Progressing has the better words for it. */
function slowness(failing?: Condition, progressing?: Condition): { slow?: string } {
  if (failing?.status !== 'Unknown' || failing.reason !== 'SlowClusterOperator') return {}
  return { slow: (progressing ?? failing).message ?? '' }
}

function history(
  cv: ClusterVersion,
): Pick<PlatformStatus, 'version' | 'target' | 'state' | 'since' | 'from' | 'sameVersion' | 'installing'> {
  const { history: entries = [], desired } = cv.status ?? {}
  const [first] = entries
  const state = stateOf(cv)
  return {
    ...(state !== 'idle' && leavingOf(cv)),
    ...(entries.length === 1 && first?.state === 'Partial' && { installing: true as const }),
    ...filled({
      version: entries.find((entry) => entry.state === 'Completed')?.version,
      target: desired?.version,
      since: state === 'idle' ? first?.completionTime : first?.startedTime,
    }),
    state,
  }
}

/** Of an update that is not done: the entry before its own, reached in full or not. */
function leavingOf(cv: ClusterVersion): Pick<PlatformStatus, 'from' | 'sameVersion'> {
  const { history: entries = [], desired } = cv.status ?? {}
  const [first] = entries
  // The history may not have the new release yet.
  const before = entries[first?.version === desired?.version ? 1 : 0]
  if (before?.version === undefined) return {}
  const isSame = before.version === desired?.version
  const kind = isMulti(cv) ? 'multi-architecture' : 'other-image'
  return {
    from: { version: before.version, ...(before.state !== 'Completed' && { incomplete: true }) },
    ...(isSame && { sameVersion: kind }),
  }
}

/** As it says itself, which releases before 4.19 do not; else as it was asked for, or as the release that was accepted is told (`Payload loaded version="…" image="…" architecture="Multi"`). */
function isMulti(cv: ClusterVersion): boolean {
  const { desired } = cv.status ?? {}
  const { architecture, version } = cv.spec?.desiredUpdate ?? {}
  const accepted = condition(cv, 'ReleaseAccepted')
  const isLoaded = accepted?.status === 'True' && (accepted.message ?? '').includes(`"${desired?.version}"`)
  return (
    desired?.architecture === 'Multi' ||
    (architecture === 'Multi' && version === desired?.version) ||
    (isLoaded && (accepted.message ?? '').includes('architecture="Multi"'))
  )
}

/** By the history, not by Progressing: that is False before an update was noticed (ocp 3.1). */
function stateOf(cv: ClusterVersion): PlatformStatus['state'] {
  const { history: [first] = [], desired } = cv.status ?? {}
  if (first?.state === 'Completed') return first.version === desired?.version ? 'idle' : 'updating'
  return condition(cv, 'Progressing')?.status === 'False' ? 'partial' : 'updating'
}

type Offered = NonNullable<NonNullable<ClusterVersion['status']>['conditionalUpdates']>[number]

function conditional({ release = {}, risks = [], conditions = [] }: Offered): ConditionalRelease {
  const recommended = conditions.find(({ type }) => type === 'Recommended')
  const [risk] = risks
  const unsaid = {
    is: 'unknown',
    reason: risk?.name ?? 'NotEvaluated',
    message: risk?.message ?? '',
  } as const
  const names = risks.flatMap(({ name }) => name ?? [])
  return { release, risks: names, recommended: gateOf(recommended, unsaid) }
}

/** An update that is asked for and neither running nor done. */
export interface ArmedUpdate {
  version?: string
  image?: string
}

/**
 * spec.desiredUpdate where the cluster follows another release: it was refused or not noticed yet, and starts by itself as soon as
 * nothing speaks against it any more (ocp 3.2).
 */
function armedUpdate({ spec, status }: ClusterVersion): ArmedUpdate | undefined {
  const { version, image } = spec?.desiredUpdate ?? {}
  if (!version && !image) return undefined
  const asked = { ...(version && { version }), ...(image && { image }) }
  return isThe(asked, status?.desired ?? {}) ? undefined : asked
}

/** By the image where both name one: a release has one per architecture. */
function isThe(asked: ArmedUpdate, release: PlatformRelease): boolean {
  if (asked.image && release.image) return asked.image === release.image
  return asked.version !== undefined && asked.version === release.version
}

/**
 * How much of the update that is under way the cluster version operator says is done, 0 to 100: it counts manifests, the last of which take longest. Undefined where it
 * does not say (ocp 3.1: `Working towards 4.19.14: 55 of 901 done (6% complete)`).
 */
function percentComplete(cv: ClusterVersion): number | undefined {
  const progressing = condition(cv, 'Progressing')
  if (progressing?.status !== 'True') return undefined
  const said = /\((?<percent>\d{1,3})% complete\)/u.exec(progressing.message ?? '')?.groups?.['percent']
  return said === undefined || Number(said) > 100 ? undefined : Number(said)
}

/** One part of the platform: version, and what is not as it is when all is well. */
export interface ClusterOperatorStatus {
  name: string
  /** `versions[operator]`. */
  version?: string
  available: boolean
  /** Why it is not available, where it says so. */
  unavailable?: Trouble
  /** Since when, RFC 3339, and in its words. */
  progressing?: Trouble
  degraded?: Trouble
  upgradeable: Gate
}

/** A condition that is not as it should be: since when (RFC 3339, its own transition), and the operator's words. */
export interface Trouble {
  since?: string
  reason?: string
  message: string
}

/** In the order in which they were listed. */
export function assessClusterOperators(
  operators: readonly ClusterOperator[],
): readonly ClusterOperatorStatus[] {
  return operators.map((operator) => {
    const version = operator.status?.versions?.find(({ name }) => name === 'operator')?.version
    const progressing = whileIs(operator, 'Progressing', 'True')
    const degraded = whileIs(operator, 'Degraded', 'True')
    const unavailable = whileIs(operator, 'Available', 'False') ?? silence(operator)
    return {
      name: operator.metadata.name,
      ...(version && { version }),
      available: condition(operator, 'Available')?.status === 'True',
      ...(unavailable && { unavailable }),
      ...(progressing && { progressing }),
      ...(degraded && { degraded }),
      upgradeable: gateOf(condition(operator, 'Upgradeable'), yes),
    }
  })
}

/** It was made by the cluster version operator, and has not reported yet. */
function silence(operator: ClusterOperator): Trouble | undefined {
  if (condition(operator, 'Available') !== undefined) return undefined
  const { creationTimestamp: since } = operator.metadata
  return { ...filled({ since }), message: 'it does not report whether it is available' }
}

function whileIs(operator: ClusterOperator, type: string, status: Condition['status']): Trouble | undefined {
  const found = condition(operator, type)
  if (found?.status !== status) return undefined
  const { lastTransitionTime: since, reason, message = '' } = found
  return { ...filled({ since, reason }), message }
}

/** Whether somebody lets an update through, and why not in their words. `unknown` is no "no": each caller says what it makes of it. */
export type Gate = { is: 'yes' } | { is: 'no' | 'unknown'; reason: string; message: string }

const yes: Gate = { is: 'yes' }

/** A condition of which True lets through; `absent` is what its absence means. */
export function gateOf(found: Condition | undefined, absent: Gate): Gate {
  if (!found) return absent
  const { status, type, reason = type, message = '' } = found
  return status === 'True' ? yes : { is: status === 'False' ? 'no' : 'unknown', reason, message }
}

export const unknownGate = (reason: string, message: string): Gate => ({ is: 'unknown', reason, message })

/** The operator's own condition, as its ClusterOperator names it in the message and, less the last word, in the reason. */
const ofKubelet = { inMessage: 'KubeletMinorVersionUpgradeable: ', inReason: 'KubeletMinorVersion_' }
const unsure = new Set(['KubeletVersionUnknown', 'KubeletMinorVersionAhead'])

/**
 * Whether the kubelets are new enough for the control plane's next minor, as the cluster itself says: no arithmetic with
 * even and odd minors holds for ever. It stands in `Upgradeable` of the ClusterOperator kube-apiserver, beside other causes (ocp 3.4).
 */
export function kubeletSkew(operators: Known<ClusterOperator>): Gate {
  if (!operators.known) return unknownGate('NotRead', operators.why)
  const found = operators.items.find(({ metadata }) => metadata.name === 'kube-apiserver')
  if (!found) return unknownGate('NoOperator', 'there is no ClusterOperator kube-apiserver')
  const said = condition(found, 'Upgradeable')
  return said ? gateIn(said) : unknownGate('NotSaid', 'kube-apiserver has no condition Upgradeable')
}

function gateIn({ status, reason = '', message = '' }: Condition): Gate {
  if (status === 'True') return yes
  const cause = reason.split('::').find((said) => said.startsWith(ofKubelet.inReason))
  if (cause === undefined) return status === 'False' ? yes : unknownGate(reason, message)
  const lines = message.split('\n').filter((line) => line.startsWith(ofKubelet.inMessage))
  const why = cause.slice(ofKubelet.inReason.length)
  return {
    is: unsure.has(why) ? 'unknown' : 'no',
    reason: why,
    message: lines.map((line) => line.slice(ofKubelet.inMessage.length)).join('\n'),
  }
}

/** Something that an administrator has to acknowledge before the next minor. */
export interface AdminGate {
  /** The key that has to be `"true"` in openshift-config/admin-acks. */
  name: string
  /** What is to be read before. */
  text: string
}

const applies = /^ack-(?<minor>[4-5][.][0-9]{1,})-[^-]/u

/**
 * Gates that are not acknowledged on a platform of this minor (`4.18`), the malformed and the empty ones included: those block
 * until they are mended, whatever is acknowledged (ocp 3.3; cvo pkg/risk/adminack).
 */
export function openGates(
  gates: ConfigMap | undefined,
  acks: ConfigMap | undefined,
  platformMinor: string,
): readonly AdminGate[] {
  return Object.entries(gates?.data ?? {}).flatMap(([name, text]) => {
    const minor = applies.exec(name)?.groups?.['minor']
    if (minor === undefined)
      return [{ name, text: 'its name is not of the form ack-MINOR-NAME, so it can never pass' }]
    if (minor !== platformMinor) return []
    if (text === '') return [{ name, text: 'it does not name what to acknowledge, so it can never pass' }]
    return acks?.data?.[name] === 'true' ? [] : [{ name, text }]
  })
}

/**
 * Whether OLM lets the operator of this OperatorCondition be replaced, decided as OLM does: an override beats the status, a status
 * of an older generation is a no, and nothing said, or no such object, is a yes (ocp 2.5).
 */
export function operatorConditionGate(found: OperatorCondition | undefined): Gate {
  if (!found) return yes
  const override = upgradeable(found.spec?.overrides)
  if (override) return override.status === 'True' ? yes : no(override)
  const observed = upgradeable(found.status?.conditions)
  // Not copied to the status yet: OLM is about to see it.
  return observed ? readGate(observed, found) : saidGate(upgradeable(found.spec?.conditions))
}

function readGate(observed: Said, found: OperatorCondition): Gate {
  if (!isOutdated(observed, found)) return saidGate(observed)
  return no({
    ...observed,
    reason: 'Outdated',
    message: `it is of generation ${observed.observedGeneration}`,
  })
}

const saidGate = (said: Said | undefined): Gate => (said?.status === 'False' ? no(said) : yes)

type Said = Condition & { observedGeneration?: number }

const upgradeable = (conditions: readonly Said[] | undefined): Said | undefined =>
  conditions?.find(({ type }) => type === 'Upgradeable')

function isOutdated({ observedGeneration }: Said, { metadata }: OperatorCondition): boolean {
  return observedGeneration !== undefined && observedGeneration < (metadata.generation ?? 0)
}

const no = ({ reason = 'Upgradeable', message = '' }: Condition): Gate => ({ is: 'no', reason, message })

/**
 * What has to be known before the operator of this OperatorCondition is replaced: that OLM would hold that, or that it would not, against the
 * operator's own word; and whether the operator or an override says so (ocp 2.5). Undefined where nothing speaks against it.
 */
export function saidOfReplacing(found: OperatorCondition | undefined): string | undefined {
  const gate = operatorConditionGate(found)
  const said = operatorConditionGate(found && { ...found, spec: { ...found.spec, overrides: [] } })
  if (gate.is === 'no') {
    const who = isOverridden(found) ? 'an override in its OperatorCondition' : 'its OperatorCondition'
    return `OLM cannot replace it: ${who} says ${gate.reason}: ${gate.message}`
  }
  if (!isOverridden(found) || said.is !== 'no') return undefined
  return `OLM would replace it, by an override in its OperatorCondition, although it says ${said.reason}: ${said.message}`
}

/** Somebody says, in place of the operator, whether it may be replaced. */
export const isOverridden = (found: OperatorCondition | undefined): boolean =>
  found?.spec?.overrides?.some(({ type }) => type === 'Upgradeable') === true
