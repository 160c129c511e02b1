import type { ConfigMap } from '../../cluster/kinds/core.ts'
import {
  ClusterOperators,
  ClusterVersions,
  Infrastructures,
  KubeApiServers,
  type MachineConfig,
  type MachineConfigPool,
  MachineConfigPools,
  MachineConfigs,
} from '../../cluster/kinds/openshift.ts'
import type { KubeObject } from '../../cluster/object.ts'
import { healthCheckObject } from './health-check-objects.ts'
import { releaseImages } from './machine-config/release-images.ts'
import { monitoring, monitoringService } from './monitoring.ts'
import { platformNodes } from './nodes.ts'
import { operatorsOf } from './operator-list.ts'
import { poolsOf } from './pool-shapes.ts'
import type { OpenShiftShape, PoolShape } from './shape.ts'

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
    ...namespaces.map((name) => ({ apiVersion: 'v1', kind: 'Namespace', metadata: { name } })),
    ...platformNodes(shape),
    specified(Infrastructures, 'cluster', {}),
    specified(ClusterVersions, 'version', { clusterID, channel: shape.channel }),
    specified(KubeApiServers, 'cluster', { managementState: 'Managed' }),
    ...operatorsOf(shape).map(({ name }) => specified(ClusterOperators, name, {})),
    configMap('openshift-config-managed', 'admin-gates', shape.adminGates ?? {}),
    configMap('openshift-config', 'admin-acks', {}),
    configMap(releaseImages.namespace, releaseImages.name, { releaseVersion: shape.version }),
    ...machines(shape),
    { apiVersion: 'v1', kind: 'Namespace', metadata: { name: monitoring.namespace } },
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
  { apiVersion, kind }: Pick<KubeObject, 'apiVersion' | 'kind'>,
  name: string,
  spec: object,
): KubeObject & { spec: object } => ({ apiVersion, kind, metadata: { name }, spec })

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
  return { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name, namespace }, data: { ...data } }
}

/** What every machine of a role gets, beside what others add with the same label. */
function baseConfig(role: string): MachineConfig {
  return {
    apiVersion: MachineConfigs.apiVersion,
    kind: MachineConfigs.kind,
    metadata: { name: `00-${role}`, labels: { [roleLabel]: role } },
    spec: { config: { ignition: { version: '3.4.0' } } },
  }
}

/** Masters are what an update waits for; machines of a custom pool are workers with something on top (ocp 3.5). */
export function machineConfigPool({ name, paused = false, maxUnavailable }: PoolShape): MachineConfigPool {
  const isCustom = name !== 'master' && name !== 'worker'
  const ofRole = { [roleLabel]: name }
  const ofRoles = [{ key: roleLabel, operator: 'In', values: ['worker', name] }]
  return {
    apiVersion: MachineConfigPools.apiVersion,
    kind: MachineConfigPools.kind,
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
  }
}
