import { DaemonSets, Deployments, Jobs, type Pod, Pods } from '../../lib/kube/kinds/workload-kinds.ts'
import { ConfigMaps } from '../../lib/kube/kinds/core-kinds.ts'
import { type KubeVirt, KubeVirts } from '../../lib/kube/kinds/kubevirt-kinds.ts'
import {
  between,
  claim,
  type ControllerContext,
  sameStatus,
  seconds,
  type Watched,
  control,
} from '../machinery/controller.ts'
import type { Faults } from '../machinery/machinery-faults.ts'
import { lead } from '../machinery/leader-election.ts'
import type { PodLogs } from '../machinery/kubelet.ts'
import {
  configText,
  deploymentConfig,
  DeploymentFailure,
  isOlderMinor,
  type Operator,
  type OperatorFaults,
  operatorPod,
  type Pass,
} from './virt-operator-context.ts'
import { ensure, loadStrategy, strategyLabel, supportObjects } from './managed-objects.ts'
import { extraComponents, syncOperands } from './operands.ts'
import type { Condition, KubeObject } from '../../lib/kube/object.ts'

/** What the real one says when its cache lags behind (lab "Seen" 2). */
const blip =
  'unable to create instancetype cx1.2xlarge: virtualmachineclusterinstancetypes.instancetype.kubevirt.io "cx1.2xlarge" already exists'
/** What it has made. */
const ours = 'app.kubernetes.io/managed-by=virt-operator'
const shortestBackOff = 5000
const longestBackOff = 1_000_000

/** The program of a virt-operator pod: waits for the Lease, then keeps KubeVirt as the CR asks. */
export async function runOperator(
  cx: ControllerContext,
  pod: Pod,
  { faults, logs }: { faults: Faults<OperatorFaults>; logs: PodLogs },
): Promise<void> {
  const self = operatorPod(pod)
  const say = (msg: string, reason: string) =>
    logs.say(pod.metadata, {
      component: 'virt-operator',
      level: 'error',
      msg,
      reason,
      timestamp: cx.clock.now().toISOString(),
    })
  const candidate = { lease: 'virt-operator', namespace: self.namespace, identity: self.name }
  const stopped = () => faults.on.stopped === true
  await lead(cx, { ...candidate, stopped }, (signal) => operate({ ...cx, signal, self, faults, say }))
}

function operate(cx: Operator): Promise<void> {
  const { namespace } = cx.self
  const work = new Work(cx)
  const concerns = () => work.hasToReconcile()
  const watched: Watched[] = [
    { kind: KubeVirts, where: { namespace } },
    { kind: Deployments, where: { namespace }, concerns },
    { kind: DaemonSets, where: { namespace }, concerns },
    { kind: Pods, where: { namespace, labels: ours }, concerns },
    { kind: Jobs, where: { namespace }, concerns },
    { kind: ConfigMaps, where: { namespace, labels: strategyLabel }, concerns },
  ]
  return control(
    cx,
    watched,
    () => work.pass(),
    () => between(cx.random, 4000, 5000),
  )
}

/** What a pass looks at besides the operands: of the KubeVirt anything but the number of outdated VMs, which virt-controller writes with every one that it moves. */
function reconciledAt({ faults }: Operator, { metadata, spec, status }: KubeVirt): string {
  const { resourceVersion: _, managedFields: _fields, ...others } = metadata
  const { outdatedVirtualMachineInstanceWorkloads: _count, ...rest } = status ?? {}
  return JSON.stringify([faults.on, others, spec, rest])
}

/** The passes of one leader, one after the other. */
class Work {
  readonly #cx: Operator
  #backOff = shortestBackOff
  #blipped = ''
  /** What it looked at in the KubeVirt when all was through and nothing else has changed since. */
  #settled: string | undefined
  #changes = 0

  constructor(cx: Operator) {
    this.#cx = cx
  }

  /** Something changed that it looks at. */
  hasToReconcile(): true {
    this.#settled = undefined
    this.#changes++
    return true
  }

  async pass(): Promise<number | undefined> {
    const cx = this.#cx
    const [kubevirt] = await cx.reader.list(KubeVirts, { namespace: cx.self.namespace })
    if (kubevirt && this.#settled === reconciledAt(cx, kubevirt)) return undefined
    this.#settled = undefined
    if (kubevirt === undefined || kubevirt.metadata.deletionTimestamp !== undefined) return undefined
    if (kubevirt.metadata.annotations?.[latest] === undefined) return adopt(cx, kubevirt)
    const config = deploymentConfig(kubevirt, cx.self)
    const pass: Pass = { kubevirt, config, generation: kubevirt.metadata.generation ?? 1 }
    try {
      return await this.#advance(pass)
    } catch (error) {
      if (!(error instanceof DeploymentFailure)) throw error
      cx.say(`reenqueuing KubeVirt ${kubevirt.metadata.namespace}/${kubevirt.metadata.name}`, error.message)
      await report(cx, pass, { is: 'failed', why: error.message })
      this.#backOff = Math.min(this.#backOff * 2, longestBackOff)
      return this.#backOff
    }
  }

  async #advance(pass: Pass): Promise<number | undefined> {
    const cx = this.#cx
    if (!(await loadStrategy(cx, pass.config))) {
      await report(cx, pass, { is: 'under way' })
      return undefined
    }
    if (this.#blipIsDue(pass)) throw new DeploymentFailure(blip)
    const changes = this.#changes
    const ready = await sync(cx, pass)
    const wrote = await report(cx, pass, { is: ready ? 'ready' : 'under way' })
    if (ready && !wrote && changes === this.#changes) this.#settled = reconciledAt(cx, pass.kubevirt)
    this.#backOff = shortestBackOff
    return undefined
  }

  /** Once per deployment, in the pass after it was ready. */
  #blipIsDue({ kubevirt, config }: Pass): boolean {
    if (this.#cx.faults.on.blipAfterReady !== true || this.#blipped === config.id) return false
    if (kubevirt.status?.observedDeploymentID !== config.id) return false
    this.#blipped = config.id
    return true
  }
}

const latest = 'kubevirt.io/latest-observed-api-version'

/** The first write to a new CR: it drops an empty `featureGates: []`, which makes generation 2 (lab "Seen" 4). */
async function adopt(cx: Operator, { metadata, spec }: KubeVirt): Promise<undefined> {
  const annotations = { [latest]: 'v1', 'kubevirt.io/storage-observed-api-version': 'v1' }
  const developer = spec?.configuration?.['developerConfiguration'] as { featureGates?: string[] } | undefined
  const emptied = developer?.featureGates?.length === 0
  const configuration = { developerConfiguration: { featureGates: null } }
  await cx.writer.mergePatch(KubeVirts, metadata, {
    metadata: { annotations },
    ...(emptied ? { spec: { configuration } } : {}),
  })
  return undefined
}

/** Brings everything to the configuration, as far as it goes in one pass; true when all of it is there and through. */
async function sync(cx: Operator, pass: Pass): Promise<boolean> {
  const { definitions, others } = supportObjects(pass.config)
  if (cx.faults.on.withoutRights === true)
    throw new DeploymentFailure(missingRightText(pass.config.namespace))
  for (const managed of definitions) await ensure(cx, pass, managed)
  if (isOlderMinor(cx.self.version, pass.config.kubeVirtVersion)) {
    throw new DeploymentFailure(escalationText(pass.config.namespace))
  }
  for (const managed of others) await ensure(cx, pass, managed)
  if (!(await syncOperands(cx, pass))) return false
  return !(await removeForeign(cx, pass))
}

/** Deployments that the operator once made and this strategy does not have. */
async function removeForeign(cx: Operator, pass: Pass): Promise<boolean> {
  const wanted = new Set(['virt-api', 'virt-controller', ...extraComponents(cx, pass)])
  const there = await cx.reader.list(Deployments, { namespace: pass.config.namespace, labels: ours })
  const foreign = there.filter(({ metadata }) => !wanted.has(metadata.name))
  for (const { metadata } of foreign) await cx.writer.delete(Deployments, metadata)
  return foreign.length > 0
}

/** What the API server says when an operator grants what it does not hold, the Go dump in front included (lab "Seen" 13). */
function escalationText(namespace: string): string {
  const rules = Array.from(
    { length: 40 },
    (_, i) =>
      `PolicyRule{Verbs:[get list watch create delete patch update],APIGroups:[kubevirt.io],Resources:[rule-${i}],ResourceNames:[],NonResourceURLs:[],},`,
  ).join('')
  const account = `system:serviceaccount:${namespace}:kubevirt-operator`
  const verbs = '["get" "delete" "create" "update" "patch" "list" "watch" "deletecollection"]'
  const missing = ['virtualmachinebackups', 'virtualmachinebackuptrackers']
    .map((resource) => `{APIGroups:["backup.kubevirt.io"], Resources:["${resource}"], Verbs:${verbs}}`)
    .join('\n')
  return (
    `unable to update ClusterRole &ClusterRole{ObjectMeta:{kubevirt.io:admin      0 0001-01-01 00:00:00 +0000 UTC <nil> <nil> ` +
    `map[app.kubernetes.io/managed-by:virt-operator kubevirt.io:],},Rules:[]PolicyRule{${rules}},AggregationRule:nil,}: ` +
    `clusterroles.rbac.authorization.k8s.io "kubevirt.io:admin" is forbidden: user "${account}" ` +
    `(groups=["system:serviceaccounts" "system:serviceaccounts:${namespace}" "system:authenticated"]) ` +
    `is attempting to grant RBAC permissions not currently held:\n${missing}`
  )
}

/** An operator whose own ClusterRole lacks a rule. */
const missingRightText = (namespace: string): string =>
  `unable to patch CustomResourceDefinition virtualmachines.kubevirt.io: customresourcedefinitions.apiextensions.k8s.io "virtualmachines.kubevirt.io" is forbidden: ` +
  `User "system:serviceaccount:${namespace}:kubevirt-operator" cannot patch resource "customresourcedefinitions" in API group "apiextensions.k8s.io" at the cluster scope`

type Status = NonNullable<KubeVirt['status']>
type Outcome = { is: 'ready' | 'under way' } | { is: 'failed'; why: string }

/** Writes what a pass came to; nothing when that is there already. True when it wrote. */
async function report(cx: Operator, pass: Pass, outcome: Outcome): Promise<boolean> {
  const { kubevirt, config, generation } = pass
  const isReady = outcome.is === 'ready'
  const observed: Status = {
    observedKubeVirtRegistry: config.registry,
    observedKubeVirtVersion: config.kubeVirtVersion,
    observedDeploymentConfig: configText(config),
    observedDeploymentID: config.id,
    observedGeneration: generation,
  }
  const status: Status = {
    phase: isReady ? 'Deployed' : (kubevirt.status?.phase ?? 'Deploying'),
    operatorVersion: cx.self.version,
    defaultArchitecture: 'amd64',
    targetKubeVirtRegistry: config.registry,
    targetKubeVirtVersion: config.kubeVirtVersion,
    targetDeploymentConfig: configText(config),
    targetDeploymentID: config.id,
    ...(isReady && { ...observed, generations: await generations(cx, pass) }),
    conditions: conditionsOf(pass, outcome, seconds(cx)),
  }
  if (sameStatus(kubevirt.status, status)) return false
  if (cx.faults.on.statusTooLarge === true) {
    const what = `could not update the status of KubeVirt ${kubevirt.metadata.name}`
    cx.say(what, 'etcdserver: request is too large')
    return false
  }
  await cx.writer.mergePatch(KubeVirts, kubevirt.metadata, { status }, 'status')
  return true
}

/** What it wrote itself (recorded: it names no pods and no ReplicaSets). */
async function generations(cx: Operator, { config }: Pass): Promise<NonNullable<Status['generations']>> {
  const where = { namespace: config.namespace, labels: ours }
  const [deployments, daemonsets] = await Promise.all([
    cx.reader.list(Deployments, where),
    cx.reader.list(DaemonSets, where),
  ])
  const written = (resource: string) => (object: KubeObject) => ({
    group: 'apps',
    resource,
    namespace: config.namespace,
    name: object.metadata.name,
    lastGeneration: object.metadata.generation ?? 1,
    hash: '',
  })
  return [...deployments.map(written('deployments')), ...daemonsets.map(written('daemonsets'))]
}

/** What the operator says of the installation: the rows of facts 1.5, with Available, Progressing and Degraded. */
const outcomes = {
  deploying: ['DeploymentInProgress', 'False', 'True', 'False'],
  updating: ['UpdateInProgress', 'True', 'True', 'True'],
  ready: ['AllComponentsReady', 'True', 'False', 'False'],
  failed: ['DeploymentFailed', 'False', 'False', 'True'],
} as const

/** An update is one deployment ID that follows another. */
function outcomeOf({ kubevirt, config }: Pass, outcome: Outcome): [keyof typeof outcomes, string] {
  if (outcome.is === 'failed') return ['failed', `An error occurred during deployment: ${outcome.why}`]
  if (outcome.is === 'ready') return ['ready', 'All components are ready.']
  const {
    observedDeploymentID = '',
    observedKubeVirtVersion,
    observedKubeVirtRegistry,
  } = kubevirt.status ?? {}
  const to = `version ${config.kubeVirtVersion}`
  if (observedDeploymentID === '' || observedDeploymentID === config.id)
    return ['deploying', `Deploying ${to} with registry ${config.registry}`]
  const from = `previous version ${observedKubeVirtVersion} with registry ${observedKubeVirtRegistry}`
  return ['updating', `Transitioning from ${from} to target ${to} using registry ${config.registry}`]
}

function conditionsOf(pass: Pass, outcome: Outcome, now: string): Condition[] {
  const before = pass.kubevirt.status?.conditions ?? []
  const [reached, message] = outcomeOf(pass, outcome)
  const [reason, available, progressing, degraded] = outcomes[reached]
  const wanted = [
    claim('Available', available, reason, message),
    claim('Progressing', progressing, reason, message),
    claim('Degraded', degraded, reason, message),
  ]
  if (reached === 'ready')
    wanted.push(claim('Created', 'True', 'AllResourcesCreated', 'All resources were created.'))
  else if (reached !== 'updating') wanted.push(...before.filter(({ type }) => type === 'Created'))
  if (reached === 'failed') wanted.push(claim('Synchronized', 'False', reason, message))
  return wanted.map((next) => {
    const last = before.find(({ type }) => type === next.type)
    const isSame =
      last?.status === next.status && last.reason === next.reason && last.message === next.message
    return isSame ? last : Object.assign(next, { lastProbeTime: now, lastTransitionTime: now })
  })
}
