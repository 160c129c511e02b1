import * as kube from '../kinds.ts'
import data from './platform.json' with { type: 'json' }
import { type Platform, platformData } from './platform-context.ts'
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
import type { Kind, KubeObject } from '../../lib/kube/object.ts'
import { pathColumns } from '../api/kinds/printer-columns.ts'
import { custom, type SimKind } from '../api/kinds/sim-kind.ts'
import { foundIn, made } from '../machinery/controller.ts'

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
  const images = foundIn(await reader.get(kube.ConfigMaps, releaseImages))
  return releaseOf(shape.graph, images?.data?.['releaseVersion'])
}

export const requiredLabel = 'operator.machineconfiguration.openshift.io/required-for-upgrade'
export const roleLabel = 'machineconfiguration.openshift.io/role'

/**
 * Everything of the platform, its nodes included, as somebody creates it: what its operators say of it (`status`) they
 * write themselves once `runOpenShift` runs.
 */
export function openShiftObjects(shape: OpenShiftShape): KubeObject[] {
  const { channel, version, adminGates = {}, healthChecks = [] } = shape
  const gates = { name: 'admin-gates', namespace: 'openshift-config-managed' }
  const { apiVersion, kind } = kube.ClusterOperators
  return [
    ...platformData<KubeObject[]>(data.objects, { channel, version }),
    ...poolsOf(shape).flatMap((pool) => nodesOfPool(shape, pool)),
    ...operatorsOf(shape).map(({ name }) => ({ apiVersion, kind, metadata: { name }, spec: {} })),
    made(kube.ConfigMaps, { metadata: gates, data: { ...adminGates } }),
    ...(shape.topology === 'External'
      ? []
      : [...structuredClone(data.machineConfigs), ...poolsOf(shape).map(machineConfigPool)]),
    ...healthChecks.map(healthCheck),
  ]
}

/** A check over the nodes of a pool, which takes a node for lost after five minutes (night E7). */
const healthCheck = ({ kind, name, pool }: HealthCheckShape): KubeObject =>
  platformData(data.templates[kind], { name, pool })

/** Masters are what an update waits for; machines of a custom pool are workers with something on top (ocp 3.5). */
export function machineConfigPool({ name, paused = false, maxUnavailable }: PoolShape): kube.Pool {
  const pool = platformData<kube.Pool>(data.templates.pool, { name })
  const matchExpressions = [{ key: roleLabel, operator: 'In', values: ['worker', name] }]
  if (name === 'master') Object.assign(pool.metadata.labels ?? {}, { [requiredLabel]: '' })
  else if (name !== 'worker') Object.assign(pool.spec ?? {}, { machineConfigSelector: { matchExpressions } })
  Object.assign(pool.spec ?? {}, { paused, ...(maxUnavailable !== undefined && { maxUnavailable }) })
  return pool
}

type Machines = Pick<OpenShiftShape, 'flavour' | 'version' | 'graph' | 'topology' | 'pools'>

/** The machines of a pool, on the release of the platform. */
export function nodesOfPool(platform: Machines, pool: PoolShape): kube.Node[] {
  const kubernetes = releaseOf(platform.graph, platform.version)?.kubernetes ?? '0.0.0'
  const nodeInfo = {
    architecture: 'amd64',
    ...softwareOf(platform, { version: platform.version, kubernetes }),
  }
  const isMaster = pool.name === 'master'
  const works = !isMaster || isCompact(platform)
  const roles = [
    ...(isMaster ? ['master', 'control-plane'] : []),
    ...(works ? ['worker'] : []),
    ...(isMaster || pool.name === 'worker' ? [] : [pool.name]),
  ]
  const labels = {
    ...Object.fromEntries(roles.map((role) => [`node-role.kubernetes.io/${role}`, ''])),
    ...(works && { 'kubevirt.io/schedulable': 'true' }),
  }
  // virt-operator's own pods tolerate this key and not `master`, which says the same.
  const taints = [{ key: 'node-role.kubernetes.io/control-plane', effect: 'NoSchedule' }]
  return nodeNames(pool).map((name) =>
    Object.assign(machineNode(name, labels, { size, nodeInfo }), { spec: works ? {} : { taints } }),
  )
}

type NodeInfo = NonNullable<NonNullable<kube.Node['status']>['nodeInfo']>

/** A Linux machine of that name and size. */
export function machineNode(
  name: string,
  labels: Record<string, string>,
  { size: capacity, nodeInfo }: { size: Record<string, string>; nodeInfo: NodeInfo },
): kube.Node {
  const own = { 'kubernetes.io/hostname': name, 'kubernetes.io/os': 'linux', 'kubernetes.io/arch': 'amd64' }
  const addresses = [{ type: 'Hostname', address: name }]
  return made(kube.Nodes, {
    metadata: { name, labels: { ...own, ...labels } },
    status: { capacity, allocatable: capacity, addresses, nodeInfo },
  })
}

/** No machines beside those of the control plane: they carry the workloads as well, and have both roles. */
const isCompact = (platform: Machines): boolean =>
  poolsOf(platform).every((pool) => pool.name === 'master' || pool.nodes === 0)

const size = { cpu: '16', memory: '64Gi', pods: '250', 'devices.kubevirt.io/kvm': '1k' }

/** What a release puts on a machine. */
export function softwareOf(
  { flavour }: Pick<OpenShiftShape, 'flavour'>,
  { version, kubernetes }: Pick<Release, 'version' | 'kubernetes'>,
): Required<Pick<NodeInfo, 'kubeletVersion' | 'containerRuntimeVersion' | 'osImage'>> {
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
const operators: readonly OperatorPlace[] = data.levels.flatMap((level, order) =>
  Object.entries(level).map(([name, minutes]) => ({ name, level: order + 1, minutes })),
)

/** A hosted control plane brings its own etcd and machines, which no operator here updates. */
export const operatorsOf = ({ topology }: Pick<OpenShiftShape, 'topology'>): readonly OperatorPlace[] =>
  topology === 'External' ? operators.filter(({ name }) => !data.elsewhere.includes(name)) : operators

/** The kinds of the platform, with the columns that `oc get` shows of them. The virtualization of 4.10 is the last that brings its own kind of maintenance (ocp 6.12). */
export function openShiftKinds({ version }: Pick<OpenShiftShape, 'version'>): SimKind[] {
  const { major, minor } = releaseNumber(version)
  const isThere = ({ until }: { until?: number }): boolean =>
    until === undefined || (major === 4 && minor < until)
  return data.kinds.filter(isThere).map(({ kind: names, columns, shortNames = [] }) => {
    const [apiVersion = '', kind = '', plural = '', scope] = names.split(' ')
    const served: Kind = { apiVersion, kind, plural, namespaced: scope !== 'cluster' }
    return custom(served, { shortNames, categories: [], columns: pathColumns(columns) })
  })
}
