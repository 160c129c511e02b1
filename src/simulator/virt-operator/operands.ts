import * as kube from '../kinds.ts'
import {
  contains,
  disruptionBudget,
  ensure,
  hasStamps,
  isOfDeployment,
  ofRelease,
  podStamps,
} from './managed-objects.ts'
import {
  type DeploymentConfig,
  DeploymentFailure,
  isAtLeast,
  type Operator,
  type OperatorFaults,
  type Pass,
  versionOrder,
} from './virt-operator-context.ts'
import table from './release-objects.json' with { type: 'json' }
import { type ControllerContext, foundIn, recordEvent, templateHash } from '../machinery/controller.ts'
import type { Faults } from '../machinery/machinery-faults.ts'
import { isReady } from '../machinery/owned-pods.ts'

/** `changed`: written in this pass. `rolling`: its pods are not through. */
type OperandState = 'changed' | 'rolling' | 'rolled'

/** The Deployments of a release beside virt-controller and virt-api, in their order: from which operator on, or with which feature gate of the CR (lab "Seen" 6, recording operator-v1.8.4-v1.9.0-slow-webhook). */
const optional: readonly { name: string; since: number; gate?: string }[] = [
  { name: 'virt-exportproxy', since: 9, gate: 'VMExport' },
  { name: 'virt-synchronization-controller', since: 10, gate: 'DecentralizedLiveMigration' },
  { name: 'virt-template-apiserver', since: 9 },
  { name: 'virt-template-controller', since: 9 },
]

/** The Deployments that there are beside virt-controller and virt-api. */
export function extraComponents({ self, faults }: Operator, { kubevirt, config }: Pass): string[] {
  const developer = kubevirt.spec?.configuration?.['developerConfiguration'] as
    | { featureGates?: string[] }
    | undefined
  const gates = developer?.featureGates ?? []
  const known = optional.filter(
    ({ since, gate = '' }) => isAtLeast(self.version, since) || gates.includes(gate),
  )
  const { unknownComponent: unknown } = faults.on
  const isThere = unknown !== undefined && isAtLeast(config.kubeVirtVersion, unknown.since)
  return [...known.map(({ name }) => name), ...(isThere ? [unknown.name] : [])]
}

/** In which order operands change, and which of them are waited for before the next: facts 2.5 step 11; virt-api does not wait for what a release adds (recording operator-v1.8.4-v1.9.0). */
function operandOrder(cx: Operator, pass: Pass): { name: string; waits: boolean }[] {
  const { observedDeploymentID, observedKubeVirtVersion = '' } = pass.kubevirt.status ?? {}
  const extra = extraComponents(cx, pass)
  const isThere = observedDeploymentID === pass.config.id
  const newer =
    observedDeploymentID !== undefined &&
    (versionOrder(pass.config.kubeVirtVersion, observedKubeVirtVersion) ?? 1) > 0
  const [order, waited] =
    newer && !isThere
      ? [
          ['virt-handler', 'virt-controller', ...extra, 'virt-api'],
          ['virt-handler', 'virt-controller'],
        ]
      : [['virt-api', 'virt-controller', ...extra, 'virt-handler'], isThere ? [] : ['virt-api']]
  return order.map((name) => ({ name, waits: waited.includes(name) }))
}

/** Brings the operands on. True when nothing was left to write and everything is through. */
export async function syncOperands(cx: Operator, pass: Pass): Promise<boolean> {
  let through = true
  for (const { name, waits } of operandOrder(cx, pass)) {
    const state = name === 'virt-handler' ? await rollHandler(cx, pass) : await rollDeployment(cx, pass, name)
    through &&= state === 'rolled'
    if (waits && state !== 'rolled') return false
  }
  return through
}

async function rollDeployment(cx: Operator, pass: Pass, name: string): Promise<OperandState> {
  const replicas = await replicasOf(cx, pass, name)
  const wanted = componentDeployment(pass.config, name, replicas)
  const written = await ensure(cx, pass, { kind: kube.Deployments, object: wanted })
  if (replicas > 1) await ensure(cx, pass, disruptionBudget(pass.config.namespace, name, replicas))
  if (written) return 'changed'
  const found = await cx.reader.get(kube.Deployments, wanted.metadata)
  return found.is === 'object' && (await isRolled(cx, pass, found.object)) ? 'rolled' : 'rolling'
}

/** How many pods a Deployment of KubeVirt gets: what the CR asks for, else by the number of nodes (facts 2.10). */
async function replicasOf(cx: Operator, { kubevirt }: Pass, name: string): Promise<number> {
  const asked = kubevirt.spec?.infra?.replicas
  if (asked !== undefined) return asked
  if (name.startsWith('virt-template-')) return 1
  const nodes = await cx.reader.list(kube.Nodes)
  if (nodes.length === 1) return 1
  return name === 'virt-api' ? Math.max(2, Math.floor(nodes.length / 10)) : 2
}

/** virt-handler by canary: maxUnavailable 1, with one updated pod ready 10%, with all of them 1 again (facts 2.8). */
async function rollHandler(cx: Operator, pass: Pass): Promise<OperandState> {
  const ref = { name: 'virt-handler', namespace: pass.config.namespace }
  const before = foundIn(await cx.reader.get(kube.DaemonSets, ref))
  const pods = await componentPods(cx, pass, before)
  const wanted = handlerDaemonSet(pass.config, extrasOf(cx, pass, { set: before, pods }))
  if (before === undefined || !hasStamps(before, pass.config, pass.generation) || drifted(before, wanted)) {
    await write(cx, pass, { before, wanted })
    return 'changed'
  }
  if (pods.updatedReady === 0) await refuseBrokenCanary(cx, before, pods.all)
  if (pods.updatedReady > desiredOf(before) && isRolling(before, pass)) throw unexpected(pods, before)
  const next = nextLimit(before, pods, isFurther(before, pods, pass))
  if (next !== undefined) {
    await cx.writer.mergePatch(kube.DaemonSets, ref, {
      spec: { updateStrategy: { rollingUpdate: { maxUnavailable: next } } },
    })
  }
  return isThrough(before, pods) ? 'rolled' : 'rolling'
}

const limitOf = ({ spec }: kube.DaemonSet): number | string =>
  spec?.updateStrategy?.rollingUpdate?.maxUnavailable ?? 1
const desiredOf = ({ status }: kube.DaemonSet): number => status?.desiredNumberScheduled ?? 0
const drifted = (before: kube.DaemonSet, wanted: kube.DaemonSet): boolean =>
  !contains(before.spec?.template?.spec, wanted.spec?.template?.spec)

async function write(cx: Operator, pass: Pass, { before, wanted }: Rewrite): Promise<void> {
  const onlyStamps = before !== undefined && !drifted(before, wanted)
  await ensure(cx, pass, { kind: kube.DaemonSets, object: onlyStamps ? withoutLimit(wanted) : wanted })
}

interface Rewrite {
  before: kube.DaemonSet | undefined
  wanted: kube.DaemonSet
}

/** An edit of the CR alone leaves maxUnavailable as the rollout has it. */
function withoutLimit(wanted: kube.DaemonSet): kube.DaemonSet {
  const { updateStrategy: _, ...spec } = wanted.spec ?? {}
  return { ...wanted, spec }
}

/** Pods of this very deployment are replaced: such a roll is no canary, it is not widened (recording chain-v1.6.0-v1.7.0-v1.8.4). */
function isFurther({ spec }: kube.DaemonSet, { all }: ComponentPods, { config }: Pass): boolean {
  const hash = templateHash(spec?.template)
  const ours = all.filter((pod) => isOfDeployment(pod, config.id))
  return ours.some(({ metadata }) => metadata.labels?.['controller-revision-hash'] !== hash)
}

function nextLimit(set: kube.DaemonSet, pods: ComponentPods, isNarrow: boolean): number | string | undefined {
  const desired = desiredOf(set)
  const limit = limitOf(set)
  if (pods.updatedReady >= desired) return limit === 1 ? undefined : 1
  return pods.updatedReady > 0 && limit === 1 && desired > 1 && !isNarrow ? '10%' : undefined
}

function isThrough(set: kube.DaemonSet, pods: ComponentPods): boolean {
  const desired = desiredOf(set)
  const observed = (set.status?.observedGeneration ?? 0) >= (set.metadata.generation ?? 0)
  return (
    observed &&
    desired > 0 &&
    set.status?.numberReady === desired &&
    pods.updatedReady >= desired &&
    !pods.oldRunning
  )
}

const isRolling = (set: kube.DaemonSet, { kubevirt, config }: Pass): boolean =>
  limitOf(set) !== 1 || kubevirt.status?.observedDeploymentID !== config.id

/** More are ready than are wanted: the one too many is on a node that the DaemonSet left (facts 2.8). */
function unexpected({ updatedReady }: ComponentPods, set: kube.DaemonSet): DeploymentFailure {
  const counts = `updatedAndReadyPods=${updatedReady}, desiredReadyPods=${desiredOf(set)}`
  return new DeploymentFailure(`unexpected canary upgrade state: ${counts}`)
}

/** A canary that ends is a failure; one that never starts is waited for without an end. */
async function refuseBrokenCanary(cx: Operator, set: kube.DaemonSet, pods: readonly kube.Pod[]) {
  const ended = pods.some(
    (pod) => pod.status?.containerStatuses?.some((c) => (c.restartCount ?? 0) > 0) ?? false,
  )
  if (!ended) return
  const message = `daemonSet ${set.metadata.name} rollout failed`
  await recordEvent(cx, set, 'virt-operator', ['Warning', 'FailedUpdate', message])
  throw new DeploymentFailure(`unable to update DaemonSet ${set.metadata.name}: ${message}`)
}

/**
 * When virt-handler gets its argument. It has it from an installation of v1.7 or later on (lab "Seen" 9). One of before gets it by a further roll: on one node at once, and then its
 * old volume goes (recording operator-v1.6.0-v1.7.0-1w); on more of them not before the next release, for v1.7 does not come to it where it has widened maxUnavailable
 * (operator-v1.6.0-v1.7.0, chain-v1.6.0-v1.7.0-v1.8.4). Faults say otherwise.
 */
function argumentComes({ faults }: Operator, { kubeVirtVersion }: DeploymentConfig, set?: kube.DaemonSet) {
  const { moreHandlerRolls: more, noMigrationNames } = faults.on
  if (noMigrationNames === true || !isAtLeast(kubeVirtVersion, 7)) return 'never'
  if (more === true) return 'behind done'
  if (more === 'before done') return more
  if (set === undefined || (knowsNames(set) && !(isAlone(set) && hasOldVolume(set)))) return 'at first'
  return isAlone(set) || isAtLeast(kubeVirtVersion, 8) ? 'before done' : 'never'
}

const isAlone = (set?: kube.DaemonSet): boolean => set !== undefined && desiredOf(set) === 1
const hasMoreRolls = ({ faults }: Operator): boolean => (faults.on.moreHandlerRolls ?? false) !== false

function extrasOf(
  cx: Operator,
  { kubevirt, config }: Pass,
  { set, pods }: { set: kube.DaemonSet | undefined; pods: ComponentPods },
): HandlerExtras {
  const comes = argumentComes(cx, config, set)
  if (comes === 'never' || comes === 'at first')
    return { migrationNames: comes === 'at first', oldVolume: false }
  const isOurs = set !== undefined && isOfDeployment(set, config.id)
  const isDone = kubevirt.status?.observedDeploymentID === config.id
  const comesNow = comes === 'behind done' ? isDone : isOurs && isWhole(set) && !pods.oldRunning
  if (set !== undefined && (comesNow || (isOurs && knowsNames(set))))
    return { migrationNames: true, oldVolume: hasOldVolume(set) && !(knowsNames(set) && isWhole(set)) }
  return { migrationNames: false, oldVolume: hasMoreRolls(cx) || isAlone(set) }
}

const podSpecOf = ({ spec }: kube.DaemonSet): kube.PodSpec => spec?.template?.spec ?? {}

const hasOldVolume = (set: kube.DaemonSet): boolean =>
  podSpecOf(set).volumes?.some((volume) => volume.name === oldCertificates) ?? false

const knowsNames = (set: kube.DaemonSet): boolean =>
  podSpecOf(set).containers?.[0]?.args?.includes(migrationNames[0]) ?? false

function isWhole({ metadata, status = {} }: kube.DaemonSet): boolean {
  if ((status.observedGeneration ?? 0) < (metadata.generation ?? 0)) return false
  const { desiredNumberScheduled: desired, updatedNumberScheduled, numberReady } = status
  return updatedNumberScheduled === desired && numberReady === desired
}

/** The pods of a component, and which of them are of the wanted deployment. */
interface ComponentPods {
  all: kube.Pod[]
  updatedReady: number
  /** A running pod of another deployment is left. */
  oldRunning: boolean
}

async function componentPods(
  cx: Operator,
  { config }: Pass,
  component: kube.Deployment | kube.DaemonSet | undefined,
): Promise<ComponentPods> {
  const labels = Object.entries(component?.spec?.selector?.matchLabels ?? {})
    .map((pair) => pair.join('='))
    .join(',')
  const all = component ? await cx.reader.list(kube.Pods, { namespace: config.namespace, labels }) : []
  const updated = all.filter((pod) => isOfDeployment(pod, config.id))
  return {
    all,
    updatedReady: updated.filter((pod) => pod.status?.phase === 'Running' && isReady(pod)).length,
    oldRunning: all.some((pod) => pod.status?.phase === 'Running' && !isOfDeployment(pod, config.id)),
  }
}

/** The operator's own idea of a Deployment that is through: one updated ready pod, no old one (facts 2.9). */
async function isRolled(cx: Operator, pass: Pass, deployment: kube.Deployment): Promise<boolean> {
  const { status = {}, metadata } = deployment
  const { observedGeneration = 0, replicas = 0, readyReplicas = 0 } = status
  if (observedGeneration < (metadata.generation ?? 0) || replicas === 0 || readyReplicas === 0) return false
  const pods = await componentPods(cx, pass, deployment)
  return pods.updatedReady > 0 && !pods.oldRunning
}

/** What the operator adds to the pods of every operand. */
function withStamps<T extends kube.Deployment | kube.DaemonSet>(
  object: T,
  config: DeploymentConfig,
  place: object,
): T {
  const { labels, annotations } = podStamps(config)
  const template = object.spec?.template ?? {}
  const priorityClassName = 'kubevirt-cluster-critical'
  Object.assign(template, {
    metadata: { ...template.metadata, labels: { ...template.metadata?.labels, ...labels }, annotations },
    spec: { ...template.spec, priorityClassName, ...place },
  })
  return object
}

const everywhere = { tolerations: [{ key: 'CriticalAddonsOnly', operator: 'Exists' }] }

/** An operand that is a Deployment. One that nobody has heard of is like virt-exportproxy, but its pods bear no label `kubevirt.io`. */
function componentDeployment(config: DeploymentConfig, name: string, replicas: number): kube.Deployment {
  const known = Object.entries(table.operands).find(([operand]) => operand === name)?.[1]
  const object = ofRelease<kube.Deployment>(known ?? strange(name), config)
  Object.assign(object.spec ?? {}, { replicas })
  return withStamps(object, config, table.onControlPlane)
}

function strange(name: string): unknown {
  const text = JSON.stringify(table.operands['virt-exportproxy']).replaceAll('virt-exportproxy', name)
  return JSON.parse(text.replaceAll(`"kubevirt.io":"${name}"`, `"app.kubernetes.io/name":"${name}"`))
}

/** What the operator has added to virt-handler by itself after its first roll: facts 2.8. */
interface HandlerExtras {
  migrationNames: boolean
  oldVolume: boolean
}

const oldCertificates = 'kubevirt-virt-handler-certs'
const migrationNames = ['--migration-cn-types', 'migration'] as const

function handlerDaemonSet(config: DeploymentConfig, extras: HandlerExtras): kube.DaemonSet {
  const object = ofRelease<kube.DaemonSet>(table.operands['virt-handler'], config)
  const { kubeVirtVersion: version } = config
  if (!isAtLeast(version, 7) || isAtLeast(version, 10))
    delete object.metadata.labels?.['kubevirt.io/supports-migration-cn-types']
  if (extras.migrationNames) podSpecOf(object).containers?.[0]?.args?.push(...migrationNames)
  const volumes = extras.oldVolume ? [{ name: oldCertificates, secret: { secretName: oldCertificates } }] : []
  return withStamps(object, config, { ...everywhere, volumes })
}

/** What a virt-handler does with its node under the fault `nodesClosedFor`. */
export async function closeNode(cx: ControllerContext, { spec }: kube.Pod, faults: Faults<OperatorFaults>) {
  const label = (value: string) =>
    cx.writer.mergePatch(
      kube.Nodes,
      { name: spec?.nodeName ?? '' },
      { metadata: { labels: { 'kubevirt.io/schedulable': value } } },
    )
  const ms = faults.on.nodesClosedFor
  if (ms === undefined) return
  await label('false')
  await cx.clock.sleep(ms, cx.signal)
  await label('true')
}
