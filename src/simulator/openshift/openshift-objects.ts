import { type ConfigMap, ConfigMaps, Namespaces, type Node, Nodes } from '../../lib/kube/kinds/core-kinds.ts'
import type { Platform } from './platform-context.ts'
import {
  nodeNames,
  type OpenShiftShape,
  type PoolShape,
  poolsOf,
  type Release,
  releaseNumber,
  releaseOf,
} from './openshift-shape.ts'
import {
  ApiRequestCounts,
  ClusterOperators,
  ClusterVersions,
  Infrastructures,
  KubeApiServers,
  type MachineConfig,
  type MachineConfigPool,
  MachineConfigs,
  MachineHealthChecks,
  NodeHealthChecks,
  NodeMaintenances,
  OldNodeMaintenances,
  MachineConfigPools as Pools,
} from '../../lib/kube/kinds/openshift-kinds.ts'
import type { Kind, KubeObject } from '../../lib/kube/object.ts'
import { healthCheckObject } from './machine-health-checks.ts'
import { monitoring, monitoringService } from './monitoring.ts'
import { jsonPathColumns, nameColumn } from '../api/kinds/printer-columns.ts'
import { custom, type SimKind } from '../api/kinds/sim-kind.ts'
import table from './operators.json' with { type: 'json' }
import { made } from '../machinery/controller.ts'

/** Where cluster-version tells machine-config which release machines are to be of. */
export const releaseImages = {
  name: 'machine-config-osimageurl',
  namespace: 'openshift-machine-config-operator',
} as const

export async function requestMachines({ writer }: Platform, { version }: Release): Promise<void> {
  await writer.mergePatch(ConfigMaps, releaseImages, { data: { releaseVersion: version } })
}

/** The release that machines are to be of. */
export async function machineRelease({ reader, shape }: Platform): Promise<Release | undefined> {
  const found = await reader.get(ConfigMaps, releaseImages)
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
export function openShiftObjects(shape: OpenShiftShape): KubeObject[] {
  return [
    ...namespaces.map((name) => made(Namespaces, { metadata: { name } })),
    ...poolsOf(shape).flatMap((pool) => nodesOfPool(shape, pool)),
    specified(Infrastructures, 'cluster', {}),
    specified(ClusterVersions, 'version', { clusterID, channel: shape.channel }),
    specified(KubeApiServers, 'cluster', { managementState: 'Managed' }),
    ...operatorsOf(shape).map(({ name }) => specified(ClusterOperators, name, {})),
    configMap('openshift-config-managed', 'admin-gates', shape.adminGates ?? {}),
    configMap('openshift-config', 'admin-acks', {}),
    configMap(releaseImages.namespace, releaseImages.name, { releaseVersion: shape.version }),
    ...machines(shape),
    made(Namespaces, { metadata: { name: monitoring.namespace } }),
    monitoringService(),
  ]
}

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

function configMap(namespace: string, name: string, data: Readonly<Record<string, string>>): ConfigMap {
  return made(ConfigMaps, { metadata: { name, namespace }, data: { ...data } })
}

/** What every machine of a role gets, beside what others add with the same label. */
function baseConfig(role: string): MachineConfig {
  return made(MachineConfigs, {
    metadata: { name: `00-${role}`, labels: { [roleLabel]: role } },
    spec: { config: { ignition: { version: '3.4.0' } } },
  })
}

/** Masters are what an update waits for; machines of a custom pool are workers with something on top (ocp 3.5). */
export function machineConfigPool({ name, paused = false, maxUnavailable }: PoolShape): MachineConfigPool {
  const isCustom = name !== 'master' && name !== 'worker'
  const ofRole = { [roleLabel]: name }
  const ofRoles = [{ key: roleLabel, operator: 'In', values: ['worker', name] }]
  return made(Pools, {
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

const role = (name: string): Record<string, string> => ({ [`node-role.kubernetes.io/${name}`]: '' })
const controlPlane = { ...role('master'), ...role('control-plane') }
const schedulable = { 'kubevirt.io/schedulable': 'true' }

/** The machines of a pool, as they run the installed release. */
export function nodesOfPool(platform: Machines, pool: PoolShape): Node[] {
  return nodeNames(pool).map((name) => machine(platform, pool.name, name))
}

function machine(platform: Machines, pool: string, name: string): Node {
  const isMaster = pool === 'master'
  const alone = isCompact(platform)
  // virt-operator's own pods tolerate this key and not `master`, which says the same.
  const taints = [{ key: 'node-role.kubernetes.io/control-plane', effect: 'NoSchedule' }]
  const labels = {
    ...(isMaster ? controlPlane : {}),
    ...(isMaster && !alone ? {} : { ...role('worker'), ...schedulable }),
    ...(isMaster || pool === 'worker' ? {} : role(pool)),
  }
  const node = machineNode(name, labels, { size: resources, nodeInfo: nodeInfo(platform) })
  return { ...node, spec: isMaster && !alone ? { taints } : {} }
}

type NodeStatus = NonNullable<Node['status']>

/** A Linux machine of that name and size. */
export function machineNode(
  name: string,
  labels: Record<string, string>,
  { size, nodeInfo: info }: { size: Record<string, string>; nodeInfo: NonNullable<NodeStatus['nodeInfo']> },
): Node {
  const own = { 'kubernetes.io/hostname': name, 'kubernetes.io/os': 'linux', 'kubernetes.io/arch': 'amd64' }
  return made(Nodes, {
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
function isCompact(platform: Machines): boolean {
  return poolsOf(platform).every((pool) => pool.name === 'master' || nodeNames(pool).length === 0)
}

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
export function operatorsOf({ topology }: Pick<OpenShiftShape, 'topology'>): readonly OperatorPlace[] {
  return topology === 'External'
    ? operatorList.filter(({ name }) => !table.elsewhere.includes(name))
    : operatorList
}

type Columns = Readonly<Record<string, string>>

const of = (type: string): string => `.status.conditions[?(@.type=='${type}')].status`
const since = ".status.conditions[?(@.type=='Progressing')].lastTransitionTime"
const said = ".status.conditions[?(@.type=='Progressing')].message"
const age = { Age: '.metadata.creationTimestamp' }
const dates = new Set(['Age', 'Since'])

function kind(told: Kind, shortNames: readonly string[], columns: Columns): SimKind {
  const definitions = Object.entries(columns).map(([name, jsonPath]) => ({
    name,
    jsonPath,
    type: dates.has(name) ? 'date' : 'string',
  }))
  return custom(told, { shortNames, categories: [], columns: [nameColumn, ...jsonPathColumns(definitions)] })
}

const platformKinds: readonly SimKind[] = [
  kind(ClusterVersions, [], {
    Version: ".status.history[?(@.state=='Completed')].version",
    Available: of('Available'),
    Progressing: of('Progressing'),
    Since: since,
    Status: said,
  }),
  kind(ClusterOperators, ['co'], {
    Version: ".status.versions[?(@.name=='operator')].version",
    Available: of('Available'),
    Progressing: of('Progressing'),
    Degraded: of('Degraded'),
    Since: since,
    Message: said,
  }),
  kind(Infrastructures, [], age),
  kind(KubeApiServers, [], age),
  kind(Pools, ['mcp'], {
    Config: '.status.configuration.name',
    Updated: of('Updated'),
    Updating: of('Updating'),
    Degraded: of('Degraded'),
    MachineCount: '.status.machineCount',
    ReadyMachineCount: '.status.readyMachineCount',
    UpdatedMachineCount: '.status.updatedMachineCount',
    DegradedMachineCount: '.status.degradedMachineCount',
    ...age,
  }),
  kind(MachineConfigs, ['mc'], {
    GeneratedByController:
      ".metadata.annotations['machineconfiguration\\.openshift\\.io/generated-by-controller-version']",
    IgnitionVersion: '.spec.config.ignition.version',
    ...age,
  }),
  kind(MachineHealthChecks, ['mhc', 'mhcs'], {
    MaxUnhealthy: '.spec.maxUnhealthy',
    ExpectedMachines: '.status.expectedMachines',
    CurrentHealthy: '.status.currentHealthy',
  }),
  kind(ApiRequestCounts, [], {
    RemovedInRelease: '.status.removedInRelease',
    RequestsInCurrentHour: '.status.currentHour.requestCount',
    RequestsInLast24h: '.status.requestCount',
  }),
  kind(NodeMaintenances, ['nm'], { Node: '.spec.nodeName', ...age }),
  kind(NodeHealthChecks, ['nhc'], {
    Phase: '.status.phase',
    ObservedNodes: '.status.observedNodes',
    HealthyNodes: '.status.healthyNodes',
  }),
]

const maintenance: Columns = { Node: '.spec.nodeName', ...age }

/** The kinds of the platform, with the columns that `oc get` shows of them. The virtualization of 4.10 is the last that brings its own kind of maintenance (ocp 6.12). */
export function openShiftKinds({ version }: Pick<OpenShiftShape, 'version'>): SimKind[] {
  const { major, minor } = releaseNumber(version)
  const isOld = major === 4 && minor <= 10
  return [...platformKinds, ...(isOld ? [kind(OldNodeMaintenances, ['nm'], maintenance)] : [])]
}
