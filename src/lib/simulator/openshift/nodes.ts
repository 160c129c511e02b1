import type { Node } from '../../cluster/kinds/core.ts'
import { nodeNames, poolsOf } from './pool-shapes.ts'
import { releaseNumber, releaseOf } from './release-number.ts'
import type { OpenShiftShape, PoolShape } from './shape.ts'

type Platform = Pick<OpenShiftShape, 'flavour' | 'version' | 'graph' | 'topology' | 'pools'>

const role = (name: string): Record<string, string> => ({ [`node-role.kubernetes.io/${name}`]: '' })
const controlPlane = { ...role('master'), ...role('control-plane') }
const schedulable = { 'kubevirt.io/schedulable': 'true' }

/** The machines of all pools, as they run the installed release. */
export function platformNodes(platform: Platform): Node[] {
  return poolsOf(platform).flatMap((pool) => nodesOfPool(platform, pool))
}

export function nodesOfPool(platform: Platform, pool: PoolShape): Node[] {
  return nodeNames(pool).map((name) => machine(platform, pool.name, name))
}

function machine(platform: Platform, pool: string, name: string): Node {
  const isMaster = pool === 'master'
  const alone = isCompact(platform)
  // virt-operator's own pods tolerate this key and not `master`, which says the same.
  const taints = [{ key: 'node-role.kubernetes.io/control-plane', effect: 'NoSchedule' }]
  return {
    apiVersion: 'v1',
    kind: 'Node',
    metadata: {
      name,
      labels: {
        'kubernetes.io/hostname': name,
        'kubernetes.io/os': 'linux',
        'kubernetes.io/arch': 'amd64',
        ...(isMaster ? controlPlane : {}),
        ...(isMaster && !alone ? {} : { ...role('worker'), ...schedulable }),
        ...(isMaster || pool === 'worker' ? {} : role(pool)),
      },
    },
    spec: isMaster && !alone ? { taints } : {},
    status: { ...size, addresses: [{ type: 'Hostname', address: name }], nodeInfo: nodeInfo(platform) },
  }
}

/** No machines beside those of the control plane: they carry the workloads as well, and have both roles. */
function isCompact(platform: Platform): boolean {
  return poolsOf(platform).every((pool) => pool.name === 'master' || nodeNames(pool).length === 0)
}

const resources = { cpu: '16', memory: '64Gi', pods: '250', 'devices.kubevirt.io/kvm': '1k' }
const size = { capacity: resources, allocatable: resources }

function nodeInfo(platform: Platform): NonNullable<NonNullable<Node['status']>['nodeInfo']> {
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
