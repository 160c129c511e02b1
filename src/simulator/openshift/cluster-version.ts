import * as kube from '../kinds.ts'
import { claim, foundIn, seconds, control } from '../machinery/controller.ts'
import {
  isTrue,
  minute,
  msSince,
  type Platform,
  pollEvery,
  withConditions,
  writeStatus,
} from './platform-context.ts'
import { type Request, requestOf, withoutUpdates, withRequest, withUpdates } from './cluster-updates.ts'
import { type Condition, condition } from '../../lib/kube/object.ts'
import { releaseNumber } from './openshift-shape.ts'
import { timestamp } from '../api/object-lifecycle.ts'

type Status = NonNullable<kube.ClusterVersion['status']>
type ReadClusterVersion = kube.ClusterVersion & { status: Status }

/** In ms: until a change is noticed, a release is fetched and verified, the update service has answered. */
const takes = { noticing: 2000, loading: 15_000, retrieving: 8000 }

const gatesNamespace = 'openshift-config-managed'
const acksNamespace = 'openshift-config'

/** Keeps the status of the ClusterVersion: whether an update is accepted, how far it is, which updates there are, and what stands in the way of another minor. */
export function runClusterVersion(cx: Platform): Promise<void> {
  const watched = [
    { kind: kube.ClusterVersions },
    { kind: kube.ClusterOperators },
    { kind: kube.ConfigMaps, where: { namespace: gatesNamespace } },
    { kind: kube.ConfigMaps, where: { namespace: acksNamespace } },
    cx.faults,
  ]
  const memory = new Waits()
  return control(
    cx,
    watched,
    async () => {
      const [version] = await cx.reader.list(kube.ClusterVersions)
      if (!version?.status) return takes.noticing
      memory.begin()
      const status = await nextStatus(cx, { ...version, status: version.status }, memory)
      await writeStatus(cx, kube.ClusterVersions, version, status)
      if (memory.pending) return takes.noticing
      return status.history?.[0]?.state === 'Partial' ? pollEvery : undefined
    },
    () => takes.noticing,
  )
}

async function nextStatus(cx: Platform, version: ReadClusterVersion, memory: Waits): Promise<Status> {
  const [now, at] = [cx.clock.now(), seconds(cx)]
  const operators = await cx.reader.list(kube.ClusterOperators)
  const judged = await judgedNow(cx, version, operators)
  const request = requestOf(judged, cx.shape.graph)
  const loading = isLoad(request) && memory.waits('load', asked(version), now)
  const status = withProgress(withRequest(judged, request, { loading, at }), operators, now)
  return updatesOf(cx, status, version.spec?.channel ?? '', memory)
}

const isLoad = ({ is }: Request): boolean => is === 'release' || is === 'failed'
const asked = ({ spec }: kube.ClusterVersion): string => JSON.stringify(spec?.desiredUpdate ?? null)

/** With what stands in the way of another minor, as of now. */
async function judgedNow(
  cx: Platform,
  version: ReadClusterVersion,
  operators: readonly kube.ClusterOperator[],
): Promise<ReadClusterVersion> {
  const gates = await configMap(cx, 'admin-gates', gatesNamespace)
  const acks = await configMap(cx, 'admin-acks', acksNamespace)
  const observed = { version, operators, gates, acks }
  const conditions = withUpgradeable(version.status.conditions ?? [], observed, seconds(cx))
  const observedGeneration = version.metadata.generation ?? 1
  return { ...version, status: { ...version.status, observedGeneration, conditions } }
}

function updatesOf(cx: Platform, status: Status, channel: string, memory: Waits): Status {
  const { graph } = cx.shape
  if (memory.waits('updates', channel, cx.clock.now())) return withoutUpdates(status)
  const answers = cx.faults.on.updatesNotRetrieved !== true
  return withUpdates(status, { channel, graph, at: seconds(cx) }, answers)
}

async function configMap({ reader }: Platform, name: string, namespace: string) {
  return foundIn(await reader.get(kube.ConfigMaps, { name, namespace }))
}

/** What takes its time, since when: forgotten with the process, and begun again. */
class Waits {
  readonly #of = new Map<'load' | 'updates', { what: string; until: number }>()
  #pending = false

  /** A new look: nothing is waited for yet. */
  begin(): void {
    this.#pending = false
  }

  /** Whether this look found something still under way: time that its own calls took is no reason not to look again. */
  get pending(): boolean {
    return this.#pending
  }

  /** Whether that is still under way; it begins when it is asked for the first time. */
  waits(of: 'load' | 'updates', what: string, now: Date): boolean {
    const time = of === 'load' ? takes.loading : takes.retrieving
    const known = this.#of.get(of)
    const wait = known?.what === what ? known : { what, until: now.getTime() + time }
    this.#of.set(of, wait)
    const waiting = now.getTime() < wait.until
    this.#pending ||= waiting
    return waiting
  }
}

/** How many manifests a release has; each operator stands for as many. */
const manifests = 901
const limit = { slow: 30 * minute, slowMachines: 90 * minute, degraded: 40 * minute }

/** The version that an operator is at, itself. */
export const operatorVersion = ({ status }: kube.ClusterOperator): string | undefined =>
  status?.versions?.find(({ name }) => name === 'operator')?.version

/** True when nothing of it is left to be done for that version. */
export function isAt(operator: kube.ClusterOperator, version: string): boolean {
  const { conditions } = operator.status ?? {}
  const moving = isTrue(conditions, 'Progressing') || isTrue(conditions, 'Degraded')
  return operatorVersion(operator) === version && !moving
}

/** Where the update stands, and whether it fails (ocp 3.1): Completed once every operator is there. Pure. */
function withProgress(status: Status, operators: readonly kube.ClusterOperator[], now: Date): Status {
  const at = timestamp(now)
  const version = status.desired?.version ?? ''
  const [last, ...before] = status.history ?? []
  const say = (claims: readonly Condition[]): Condition[] =>
    withConditions(status.conditions ?? [], claims, at)
  if (last?.state !== 'Partial') return { ...status, conditions: say(reconciling(version, operators)) }
  const done = operators.filter((operator) => isAt(operator, version)).length
  if (done < operators.length)
    return { ...status, conditions: say(updating(version, { operators, done, now })) }
  const available = claim('Available', 'True', undefined, `Done applying ${version}`)
  return {
    ...status,
    history: [{ ...last, state: 'Completed', completionTime: at }, ...before],
    conditions: say([available, ...reconciling(version, operators)]),
  }
}

const fine = claim('Failing', 'False')
const progressing = (status: 'True' | 'False', message: string, reason?: string): Condition =>
  claim('Progressing', status, reason, message)

function reconciling(version: string, operators: readonly kube.ClusterOperator[]): Condition[] {
  const degraded = degradedNames(operators)
  if (degraded.length === 0) return [fine, progressing('False', `Cluster version is ${version}`)]
  const message = `Error while reconciling ${version}: ${degradedWords(degraded)}`
  return [failing(degraded), progressing('False', message, degradedReason(degraded))]
}

function updating(
  version: string,
  { operators, done, now }: { operators: readonly kube.ClusterOperator[]; done: number; now: Date },
): Condition[] {
  const started = operators.filter(
    (o) => isTrue(o.status?.conditions, 'Progressing') || isTrue(o.status?.conditions, 'Degraded'),
  )
  const over = (ms: (name: string) => number): string[] =>
    names(started.filter((o) => msSince(o.status?.conditions, 'Progressing', now) > ms(o.metadata.name)))
  const degraded = degradedNames(started)
  const exceeded = over(() => limit.degraded).filter((name) => degraded.includes(name))
  if (exceeded.length > 0) {
    const message = `Unable to apply ${version}: wait has exceeded 40 minutes for these operators: ${exceeded.join(', ')}`
    return [failing(exceeded), progressing('True', message, degradedReason(exceeded))]
  }
  const parts = Math.round((manifests * done) / operators.length)
  const percent = Math.trunc((parts / manifests) * 100)
  const towards = `Working towards ${version}: ${parts} of ${manifests} done (${percent}% complete)`
  if (degraded.length > 0) {
    const message = `${towards}, waiting up to 40 minutes on ${degraded.join(', ')}`
    return [fine, progressing('True', message, degradedReason(degraded))]
  }
  const slow = over((name) => (name === 'machine-config' ? limit.slowMachines : limit.slow))
  if (slow.length > 0) {
    const unsure = claim('Failing', 'Unknown', 'SlowClusterOperator', slowWords(slow))
    return [unsure, progressing('True', `${towards}, ${unsure.message}`, updatingReason(slow))]
  }
  if (started.length === 0) return [fine, progressing('True', towards)]
  const waited = names(started)
  return [fine, progressing('True', `${towards}, waiting on ${waited.join(', ')}`, updatingReason(waited))]
}

const names = (operators: readonly kube.ClusterOperator[]): string[] =>
  operators.map(({ metadata }) => metadata.name).sort()

const degradedNames = (operators: readonly kube.ClusterOperator[]): string[] =>
  names(operators.filter((o) => isTrue(o.status?.conditions, 'Degraded')))

const several = (of: readonly string[], one: string, many: string): string => (of.length === 1 ? one : many)
const updatingReason = (of: readonly string[]): string =>
  several(of, 'ClusterOperatorUpdating', 'ClusterOperatorsUpdating')
const degradedReason = (of: readonly string[]): string =>
  several(of, 'ClusterOperatorDegraded', 'ClusterOperatorsDegraded')
const degradedWords = (of: readonly string[]): string =>
  several(
    of,
    `the cluster operator ${of[0]} is degraded`,
    `the cluster operators ${of.join(', ')} are degraded`,
  )

function failing(of: readonly string[]): Condition {
  const message = several(
    of,
    `Cluster operator ${of[0]} is degraded`,
    `Cluster operators ${of.join(', ')} are degraded`,
  )
  return claim('Failing', 'True', degradedReason(of), message)
}

function slowWords(slow: readonly string[]): string {
  const others = slow.filter((name) => name !== 'machine-config')
  const parts = [
    ...(others.length > 0 ? [`${others.join(', ')} over 30 minutes`] : []),
    ...(slow.includes('machine-config') ? ['machine-config over 90 minutes'] : []),
  ]
  return `waiting on ${parts.join(' and ')} which is longer than expected`
}

interface Snapshot {
  version: kube.ClusterVersion
  operators: readonly kube.ClusterOperator[]
  gates: kube.ConfigMap | undefined
  acks: kube.ConfigMap | undefined
}

/**
 * The conditions with what stands in the way of another minor: no `Upgradeable` at all where nothing does, one with the cause, or one
 * for all causes and a further condition for each. As in 4.x up to 4.20; newer ones word the reasons otherwise (ocp 3.2).
 */
function withUpgradeable(conditions: readonly Condition[], snapshot: Snapshot, at: string): Condition[] {
  const causes = causesOf(snapshot)
  const claims = claimsOf(causes)
  const types = new Set(claims.map(({ type }) => type))
  const kept = conditions.filter(({ type }) => !type.startsWith('Upgradeable') || types.has(type))
  return withConditions(kept, claims, at)
}

function claimsOf(causes: readonly Cause[]): Condition[] {
  const [only] = causes
  if (!only) return []
  if (causes.length === 1) return [claim('Upgradeable', 'False', only.reason, only.message)]
  const reasons = causes.map(({ reason }) => reason).join(',')
  const messages = causes.map(({ message }) => message).join('\n* ')
  const message = `Cluster should not be upgraded between minor versions for multiple reasons: ${reasons}\n* ${messages}`
  return [
    claim('Upgradeable', 'False', 'MultipleReasons', message),
    ...causes.map(({ type, reason, message: why }) => claim(type, 'False', reason, why)),
  ]
}

function causesOf({ version, operators, gates, acks }: Snapshot): Cause[] {
  const { spec, status } = version
  const overridden = (spec?.overrides ?? []).length > 0
  const acknowledgement = unacknowledged(gates, acks, runningVersion(version))
  return [
    ...(overridden ? [overrides] : []),
    ...(acknowledgement ? [acknowledgement] : []),
    ...operatorsCause(operators),
    ...(isTrue(status?.conditions, 'Progressing') ? [inProgress] : []),
  ]
}

/** The last one that was completed; gates are of that one's minor. */
function runningVersion({ status }: kube.ClusterVersion): string {
  const history = status?.history ?? []
  const completed = history.find(({ state }) => state === 'Completed') ?? history.at(-1)
  return completed?.version ?? ''
}

const inProgress: Cause = {
  type: 'UpgradeableUpgradeInProgress',
  reason: 'UpdateInProgress',
  message: 'An update is already in progress and the details are in the Progressing condition',
}
const overrides: Cause = {
  type: 'UpgradeableClusterVersionOverrides',
  reason: 'ClusterVersionOverridesSet',
  message:
    'Disabling ownership via cluster version overrides prevents upgrades. Please remove overrides before continuing.',
}

const words = (name: string): string =>
  `Cluster operator ${name} should not be upgraded between minor versions: `

function operatorsCause(operators: readonly kube.ClusterOperator[]): Cause[] {
  const type = 'UpgradeableClusterOperators'
  const refusing = operators.flatMap((operator) => {
    const said = condition(operator, 'Upgradeable')
    return said?.status === 'False' ? [{ name: operator.metadata.name, said }] : []
  })
  const [only] = refusing
  if (!only) return []
  if (refusing.length === 1)
    return [
      { type, reason: only.said.reason ?? '', message: `${words(only.name)}${only.said.message ?? ''}` },
    ]
  const each = refusing.map(({ name, said }) => `${words(name)}${said.reason}: ${said.message}`)
  const message = `Multiple cluster operators should not be upgraded between minor versions:\n* ${each.join('\n* ')}`
  return [{ type, reason: 'ClusterOperatorsNotUpgradeable', message }]
}

interface Cause {
  /** Of the condition that stands for it where there are several causes: `UpgradeableAdminAckRequired`. */
  type: string
  reason: string
  message: string
}

/** What an administrator has not acknowledged of the gates of the running minor; undefined where all is (ocp 3.3). Pure. */
function unacknowledged(
  gates: kube.ConfigMap | undefined,
  acks: kube.ConfigMap | undefined,
  version: string,
): Cause | undefined {
  const type = 'UpgradeableAdminAckRequired'
  if (!gates)
    return { type, reason: 'UnableToAccessAdminGatesConfigMap', message: 'admin-gates configmap not found.' }
  if (!acks)
    return { type, reason: 'UnableToAccessAdminAcksConfigMap', message: 'admin-acks configmap not found.' }
  const open = Object.entries(gates.data ?? {}).flatMap(
    ([name, text]) => openGate({ name, text }, acks.data?.[name], version) ?? [],
  )
  const reasons = new Set(open.map(({ reason }) => reason))
  if (open.length === 0) return undefined
  const message = open
    .map((gate) => gate.message)
    .sort()
    .join(' ')
  return { type, reason: reasons.size === 1 ? (open[0]?.reason ?? '') : 'MultipleReasons', message }
}

/** A gate that is written wrongly stays closed whatever is acknowledged. */
function openGate({ name, text }: { name: string; text: string }, ack: string | undefined, version: string) {
  const minor = /^ack-(?<minor>[45][.]\d+)-[^-]/.exec(name)?.groups?.['minor']
  if (minor === undefined) {
    const message = `admin-gates configmap gate name ${name} has invalid format; must comply with "^ack-([4-5][.][0-9]{1,})-[^-]".`
    return { reason: 'AdminAckConfigMapGateNameError', message }
  }
  const { major, minor: running } = releaseNumber(version)
  if (minor !== `${major}.${running}`) return undefined
  if (text === '') {
    const message = `admin-gates configmap gate ${name} must contain a non-empty value.`
    return { reason: 'AdminAckConfigMapGateValueError', message }
  }
  return ack === 'true' ? undefined : { reason: 'AdminAckRequired', message: text }
}
