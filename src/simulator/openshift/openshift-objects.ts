import * as kube from '../kinds.ts'
import { listServed, minute, type OpenShiftFaults, type Platform, writeStatus } from './platform-context.ts'
import {
  type HealthCheckShape,
  nodeNames,
  type OpenShiftShape,
  type PoolShape,
  poolsOf,
  type Release,
  releaseNumber,
  releaseOf,
} from './openshift-shape.ts'
import { condition, type Kind, type KubeObject } from '../../lib/kube/object.ts'
import { agePath, conditionPath, pathColumns } from '../api/kinds/printer-columns.ts'
import { custom, type SimKind } from '../api/kinds/sim-kind.ts'
import table from './operators.json' with { type: 'json' }
import { control, made, recordEvent } from '../machinery/controller.ts'
import { share } from '../machinery/owned-pods.ts'
import { Refusal } from '../api/api-refusal.ts'
import { Services } from '../api/subresources.ts'
import type { Store } from '../api/store.ts'
import type { Faults } from '../machinery/machinery-faults.ts'
import { outdatedLabel } from '../virt-operator/vmi-controller.ts'

/** Where cluster-version tells machine-config which release machines are to be of. */
export const releaseImages = {
  name: 'machine-config-osimageurl',
  namespace: 'openshift-machine-config-operator',
} as const

export async function requestMachines({ writer }: Platform, { version }: Release): Promise<void> {
  await writer.mergePatch(kube.ConfigMaps, releaseImages, { data: { releaseVersion: version } })
}

/** The release that machines are to be of. */
export async function machineRelease({ reader, shape }: Platform): Promise<Release | undefined> {
  const found = await reader.get(kube.ConfigMaps, releaseImages)
  const version = found.is === 'object' ? found.object.data?.['releaseVersion'] : undefined
  return shape.graph.find((release) => release.version === version)
}

export const requiredLabel = 'operator.machineconfiguration.openshift.io/required-for-upgrade'
export const roleLabel = 'machineconfiguration.openshift.io/role'

const namespaces = [
  'openshift-cluster-version',
  'openshift-config',
  'openshift-config-managed',
  'openshift-machine-api',
  releaseImages.namespace,
]

/**
 * Everything of the platform, its nodes included, as somebody creates it: what its operators say of it (`status`) they
 * write themselves once `runOpenShift` runs.
 */
export const openShiftObjects = (shape: OpenShiftShape): KubeObject[] => [
  ...namespaces.map((name) => made(kube.Namespaces, { metadata: { name } })),
  ...poolsOf(shape).flatMap((pool) => nodesOfPool(shape, pool)),
  specified(kube.Infrastructures, 'cluster', {}),
  specified(kube.ClusterVersions, 'version', { clusterID, channel: shape.channel }),
  specified(kube.KubeApiServers, 'cluster', { managementState: 'Managed' }),
  ...operatorsOf(shape).map(({ name }) => specified(kube.ClusterOperators, name, {})),
  configMap('openshift-config-managed', 'admin-gates', shape.adminGates ?? {}),
  configMap('openshift-config', 'admin-acks', {}),
  configMap(releaseImages.namespace, releaseImages.name, { releaseVersion: shape.version }),
  ...machines(shape),
  made(kube.Namespaces, { metadata: { name: monitoring.namespace } }),
  monitoringService(),
]

function machines(shape: OpenShiftShape): KubeObject[] {
  const { healthChecks = [] } = shape
  if (shape.topology === 'External') return healthChecks.map(healthCheckObject)
  return [
    ...['master', 'worker'].map(baseConfig),
    ...poolsOf(shape).map(machineConfigPool),
    ...healthChecks.map(healthCheckObject),
  ]
}

/** The API server wants a spec, if only an empty one. */
const clusterID = 'c0ffee00-0000-4000-8000-0000000000c1'

const specified = (
  { apiVersion, kind: kindName }: Pick<KubeObject, 'apiVersion' | 'kind'>,
  name: string,
  spec: object,
): KubeObject & { spec: object } => ({ apiVersion, kind: kindName, metadata: { name }, spec })

/** How highly available it is; on a real server `status` is dropped at creation and written later. */
export function infrastructureStatus({ topology = 'HighlyAvailable' }: OpenShiftShape): object {
  const infrastructureTopology = topology === 'SingleReplica' ? topology : 'HighlyAvailable'
  return {
    controlPlaneTopology: topology,
    infrastructureTopology,
    platform: 'BareMetal',
    apiServerURL: 'https://api.cluster.example:6443',
    infrastructureName: 'cluster-x7k2p',
  }
}

function configMap(namespace: string, name: string, data: Readonly<Record<string, string>>): kube.ConfigMap {
  return made(kube.ConfigMaps, { metadata: { name, namespace }, data: { ...data } })
}

/** What every machine of a role gets, beside what others add with the same label. */
const baseConfig = (role: string): kube.MachineConfig =>
  made(kube.MachineConfigs, {
    metadata: { name: `00-${role}`, labels: { [roleLabel]: role } },
    spec: { config: { ignition: { version: '3.4.0' } } },
  })

/** Masters are what an update waits for; machines of a custom pool are workers with something on top (ocp 3.5). */
export function machineConfigPool({ name, paused = false, maxUnavailable }: PoolShape): kube.Pool {
  const isCustom = name !== 'master' && name !== 'worker'
  const ofRole = { [roleLabel]: name }
  const ofRoles = [{ key: roleLabel, operator: 'In', values: ['worker', name] }]
  return made(kube.Pools, {
    metadata: {
      name,
      labels: {
        [`pools.operator.machineconfiguration.openshift.io/${name}`]: '',
        ...(name === 'master' ? { [requiredLabel]: '' } : {}),
      },
    },
    spec: {
      machineConfigSelector: isCustom ? { matchExpressions: ofRoles } : { matchLabels: ofRole },
      nodeSelector: { matchLabels: { [`node-role.kubernetes.io/${name}`]: '' } },
      paused,
      ...(maxUnavailable === undefined ? {} : { maxUnavailable }),
    },
  })
}

type Machines = Pick<OpenShiftShape, 'flavour' | 'version' | 'graph' | 'topology' | 'pools'>

const roleOf = (name: string): Record<string, string> => ({ [`node-role.kubernetes.io/${name}`]: '' })
const controlPlane = { ...roleOf('master'), ...roleOf('control-plane') }
const schedulable = { 'kubevirt.io/schedulable': 'true' }

/** The machines of a pool, as they run the installed release. */
export const nodesOfPool = (platform: Machines, pool: PoolShape): kube.Node[] =>
  nodeNames(pool).map((name) => machine(platform, pool.name, name))

function machine(platform: Machines, pool: string, name: string): kube.Node {
  const isMaster = pool === 'master'
  const alone = isCompact(platform)
  // virt-operator's own pods tolerate this key and not `master`, which says the same.
  const taints = [{ key: 'node-role.kubernetes.io/control-plane', effect: 'NoSchedule' }]
  const labels = {
    ...(isMaster ? controlPlane : {}),
    ...(isMaster && !alone ? {} : { ...roleOf('worker'), ...schedulable }),
    ...(isMaster || pool === 'worker' ? {} : roleOf(pool)),
  }
  const node = machineNode(name, labels, { size: resources, nodeInfo: nodeInfo(platform) })
  return { ...node, spec: isMaster && !alone ? { taints } : {} }
}

type NodeStatus = NonNullable<kube.Node['status']>

/** A Linux machine of that name and size. */
export function machineNode(
  name: string,
  labels: Record<string, string>,
  { size, nodeInfo: info }: { size: Record<string, string>; nodeInfo: NonNullable<NodeStatus['nodeInfo']> },
): kube.Node {
  const own = { 'kubernetes.io/hostname': name, 'kubernetes.io/os': 'linux', 'kubernetes.io/arch': 'amd64' }
  return made(kube.Nodes, {
    metadata: { name, labels: { ...own, ...labels } },
    status: {
      capacity: size,
      allocatable: size,
      addresses: [{ type: 'Hostname', address: name }],
      nodeInfo: info,
    },
  })
}

/** No machines beside those of the control plane: they carry the workloads as well, and have both roles. */
const isCompact = (platform: Machines): boolean =>
  poolsOf(platform).every((pool) => pool.name === 'master' || nodeNames(pool).length === 0)

const resources = { cpu: '16', memory: '64Gi', pods: '250', 'devices.kubevirt.io/kvm': '1k' }

function nodeInfo(platform: Machines): NonNullable<NodeStatus['nodeInfo']> {
  const kubernetes = releaseOf(platform.graph, platform.version)?.kubernetes ?? '0.0.0'
  return { architecture: 'amd64', ...softwareOf(platform, { version: platform.version, kubernetes }) }
}

/** What a release puts on a machine. */
export function softwareOf(
  { flavour }: Pick<OpenShiftShape, 'flavour'>,
  { version, kubernetes }: { version: string; kubernetes: string },
): { kubeletVersion: string; containerRuntimeVersion: string; osImage: string } {
  const { major, minor } = releaseNumber(version)
  const os = flavour === 'okd' ? 'CentOS Stream CoreOS' : 'Red Hat Enterprise Linux CoreOS'
  return {
    kubeletVersion: `v${kubernetes}`,
    containerRuntimeVersion: `cri-o://${kubernetes}`,
    osImage: `${os} ${major}.${minor}`,
  }
}

/** A ClusterOperator in an update: those of one level start together, once all of the level before are done. */
export interface OperatorPlace {
  name: string
  level: number
  /** How long its update takes, in minutes; machine-config takes what the masters take besides. */
  minutes: number
}

/** In the order in which their manifests stand in a release, level by level, with the minutes: about 40 before machine-config. */
const operatorList: readonly OperatorPlace[] = table.levels.flatMap((operators, order) =>
  Object.entries(operators).map(([name, minutes]) => ({ name, level: order + 1, minutes })),
)

/** A hosted control plane brings its own etcd and machines, which no operator here updates. */
export const operatorsOf = ({ topology }: Pick<OpenShiftShape, 'topology'>): readonly OperatorPlace[] =>
  topology === 'External' ? operatorList.filter(({ name }) => !table.elsewhere.includes(name)) : operatorList

const sincePath = conditionPath('Progressing', 'lastTransitionTime')
const saidPath = conditionPath('Progressing', 'message')

const ofPlatform = (
  told: Kind,
  shortNames: readonly string[],
  columns: Readonly<Record<string, string>>,
): SimKind => custom(told, { shortNames, categories: [], columns: pathColumns(columns) })

const maintenance = { Node: '.spec.nodeName', ...agePath }

const platformKinds: readonly SimKind[] = [
  ofPlatform(kube.ClusterVersions, [], {
    Version: ".status.history[?(@.state=='Completed')].version",
    Available: conditionPath('Available'),
    Progressing: conditionPath('Progressing'),
    Since: sincePath,
    Status: saidPath,
  }),
  ofPlatform(kube.ClusterOperators, ['co'], {
    Version: ".status.versions[?(@.name=='operator')].version",
    Available: conditionPath('Available'),
    Progressing: conditionPath('Progressing'),
    Degraded: conditionPath('Degraded'),
    Since: sincePath,
    Message: saidPath,
  }),
  ofPlatform(kube.Infrastructures, [], agePath),
  ofPlatform(kube.KubeApiServers, [], agePath),
  ofPlatform(kube.Pools, ['mcp'], {
    Config: '.status.configuration.name',
    Updated: conditionPath('Updated'),
    Updating: conditionPath('Updating'),
    Degraded: conditionPath('Degraded'),
    MachineCount: '.status.machineCount',
    ReadyMachineCount: '.status.readyMachineCount',
    UpdatedMachineCount: '.status.updatedMachineCount',
    DegradedMachineCount: '.status.degradedMachineCount',
    ...agePath,
  }),
  ofPlatform(kube.MachineConfigs, ['mc'], {
    GeneratedByController:
      ".metadata.annotations['machineconfiguration\\.openshift\\.io/generated-by-controller-version']",
    IgnitionVersion: '.spec.config.ignition.version',
    ...agePath,
  }),
  ofPlatform(kube.MachineHealthChecks, ['mhc', 'mhcs'], {
    MaxUnhealthy: '.spec.maxUnhealthy',
    ExpectedMachines: '.status.expectedMachines',
    CurrentHealthy: '.status.currentHealthy',
  }),
  ofPlatform(kube.ApiRequestCounts, [], {
    RemovedInRelease: '.status.removedInRelease',
    RequestsInCurrentHour: '.status.currentHour.requestCount',
    RequestsInLast24h: '.status.requestCount',
  }),
  ofPlatform(kube.NodeMaintenances, ['nm'], maintenance),
  ofPlatform(kube.NodeHealthChecks, ['nhc'], {
    Phase: '.status.phase',
    ObservedNodes: '.status.observedNodes',
    HealthyNodes: '.status.healthyNodes',
  }),
]

/** The kinds of the platform, with the columns that `oc get` shows of them. The virtualization of 4.10 is the last that brings its own kind of maintenance (ocp 6.12). */
export function openShiftKinds({ version }: Pick<OpenShiftShape, 'version'>): SimKind[] {
  const { major, minor } = releaseNumber(version)
  const isOld = major === 4 && minor <= 10
  return [...platformKinds, ...(isOld ? [ofPlatform(kube.OldNodeMaintenances, ['nm'], maintenance)] : [])]
}

const patience = 5 * minute
const beat = 30_000
const machineRole = 'machine.openshift.io/cluster-api-machine-role'
/** What stops a MachineHealthCheck, whatever its value. */
const pausedNote = 'cluster.x-k8s.io/paused'

/**
 * Takes a node that was not Ready for five minutes for lost, and its machine away, unless the check is paused or too many nodes are
 * not well (night E7): what a reboot looks like to it that takes its time.
 */
export function runHealthChecks(cx: Platform): Promise<void> {
  const watched = [{ kind: kube.Nodes }, { kind: kube.MachineHealthChecks }, { kind: kube.NodeHealthChecks }]
  return control(cx, watched, async () => {
    const nodes = await cx.reader.list(kube.Nodes)
    const machineChecks = await listServed(cx, kube.MachineHealthChecks)
    const nodeChecks = await listServed(cx, kube.NodeHealthChecks)
    for (const check of machineChecks) await machineCheck(cx, check, nodes)
    for (const check of nodeChecks) await nodeCheck(cx, check, nodes)
    return nodes.every(isReady) ? undefined : beat
  })
}

const isReady = (node: kube.Node): boolean => condition(node, 'Ready')?.status === 'True'

function isLost(cx: Platform, node: kube.Node): boolean {
  const ready = condition(node, 'Ready')
  if (ready === undefined || ready.status === 'True') return false
  return cx.clock.now().getTime() - Date.parse(ready.lastTransitionTime ?? '') >= patience
}

function selected(nodes: readonly kube.Node[], labels: Record<string, string>): kube.Node[] {
  const wanted = Object.entries(labels)
  return nodes.filter(({ metadata }) => wanted.every(([key, value]) => metadata.labels?.[key] === value))
}

/** Machines have no objects here: a role among them is the role of nodes. */
async function machineCheck(cx: Platform, check: kube.MachineHealthCheck, nodes: readonly kube.Node[]) {
  const role = check.spec?.selector?.matchLabels?.[machineRole] ?? ''
  const own = selected(nodes, { [`node-role.kubernetes.io/${role}`]: '' })
  const unwell = own.filter((node) => !isReady(node)).length
  const most = share(check.spec?.maxUnhealthy ?? '100%', own.length, 'down')
  const remediationsAllowed = Math.max(0, most - unwell)
  const status = { expectedMachines: own.length, currentHealthy: own.length - unwell, remediationsAllowed }
  await writeStatus(cx, kube.MachineHealthChecks, check, { ...check.status, ...status })
  const paused = check.metadata.annotations?.[pausedNote] !== undefined
  if (!paused && unwell <= most) await remediate(cx, check, own)
}

async function nodeCheck(cx: Platform, check: kube.NodeHealthCheck, nodes: readonly kube.Node[]) {
  const { selector, pauseRequests = [], minHealthy = '51%' } = check.spec ?? {}
  const own = selected(nodes, selector?.matchLabels ?? {})
  const healthyNodes = own.filter(isReady).length
  const paused = pauseRequests.length > 0
  const enough = healthyNodes >= share(minHealthy, own.length, 'up')
  const phase = paused ? 'Paused' : 'Enabled'
  await writeStatus(cx, kube.NodeHealthChecks, check, {
    ...check.status,
    phase,
    observedNodes: own.length,
    healthyNodes,
  })
  if (!paused && enough) await remediate(cx, check, own)
}

async function remediate(
  cx: Platform,
  check: kube.MachineHealthCheck | kube.NodeHealthCheck,
  nodes: readonly kube.Node[],
): Promise<void> {
  for (const node of nodes.filter((one) => isLost(cx, one))) {
    const message = `Machine of node ${node.metadata.name} is deleted: the node has not been Ready for 5 minutes`
    await recordEvent(cx, check, 'healthcheck', ['Warning', 'MachineDeleted', message])
    await cx.writer.delete(kube.Nodes, node.metadata)
  }
}

const silent = ['Unknown', 'False']

/** A check over the nodes of a pool, which takes a node for lost after five minutes (night E7). */
const healthCheckObject = (check: HealthCheckShape): kube.MachineHealthCheck | kube.NodeHealthCheck =>
  check.kind === 'MachineHealthCheck' ? machineHealthCheck(check) : nodeHealthCheck(check)

function machineHealthCheck({ name, pool }: HealthCheckShape): kube.MachineHealthCheck {
  const spec = {
    selector: { matchLabels: { 'machine.openshift.io/cluster-api-machine-role': pool } },
    unhealthyConditions: silent.map((status) => ({ type: 'Ready', status, timeout: '300s' })),
    maxUnhealthy: '40%',
  }
  const { apiVersion, kind } = kube.MachineHealthChecks
  return { apiVersion, kind, metadata: { name, namespace: 'openshift-machine-api' }, spec }
}

function nodeHealthCheck({ name, pool }: HealthCheckShape): kube.NodeHealthCheck {
  const spec = {
    selector: { matchLabels: { [`node-role.kubernetes.io/${pool}`]: '' } },
    unhealthyConditions: silent.map((status) => ({ type: 'Ready', status, duration: '300s' })),
    minHealthy: '51%',
  }
  const { apiVersion, kind } = kube.NodeHealthChecks
  return { apiVersion, kind, metadata: { name }, spec }
}

const monitoring = { namespace: 'openshift-monitoring', name: 'thanos-querier' } as const

/** A new one for each cluster. */
const monitoringService = (): KubeObject & { spec: object } => ({
  apiVersion: 'v1',
  kind: 'Service',
  metadata: { ...monitoring },
  spec: { ports: [{ name: 'web', port: 9091, targetPort: 'web' }] },
})

/** How long it is pending (ocp 1.10). */
const outdatedFor = 24 * 60 * minute

/** The API server passes no token on, so kube-rbac-proxy in front of it refuses, as on a real platform; `open` is one where somebody took that away. */
export function serveMonitoring(
  store: Store,
  { monitoring: access = 'guarded' }: OpenShiftShape,
  faults: Faults<OpenShiftFaults>,
): void {
  const outdatedSince = whenOutdated(store)
  store.onSubresource(Services, `proxy of ${monitoring.name}`, ({ parameters }) => {
    if (access === 'guarded') throw new Refusal(401, '', 'Unauthorized')
    if (parameters['path'] !== 'api/v1/alerts') throw new Refusal(404, '', '404 page not found')
    const outdated = outdatedSince()
    const age = outdated === undefined ? undefined : store.clock.now().getTime() - outdated
    const alerts = [
      alert({ name: 'Watchdog', severity: 'none', namespace: monitoring.namespace }),
      alert({
        name: 'AlertmanagerReceiversNotConfigured',
        severity: 'warning',
        namespace: monitoring.namespace,
      }),
      ...(faults.on.firing ?? []).map((one) => alert(one)),
      ...(age === undefined
        ? []
        : [alert(outdatedAlert, age < outdatedFor ? ('pending' as const) : ('firing' as const))]),
    ]
    return { status: 'success', data: { alerts } }
  })
}

const outdatedAlert = { name: 'OutdatedVirtualMachineInstanceWorkloads', severity: 'warning' }

const alert = (
  { name, ...labels }: { name: string; severity: string; namespace?: string },
  state: 'firing' | 'pending' = 'firing',
) => ({ labels: { alertname: name, ...labels }, annotations: {}, state, value: '1e+00' })

/** Since when some VM has an older launcher, in ms; undefined: none has. */
function whenOutdated(store: Store): () => number | undefined {
  const outdated = new Set<string>()
  let since: number | undefined
  store.watch(kube.Vmis, ({ type, object: { metadata } }) => {
    const id = metadata.uid ?? metadata.name
    if (type !== 'DELETED' && metadata.labels?.[outdatedLabel] !== undefined) outdated.add(id)
    else outdated.delete(id)
    since = outdated.size === 0 ? undefined : (since ?? store.clock.now().getTime())
  })
  return () => since
}
