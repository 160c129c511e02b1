import { type VirtualMachineInstance, VirtualMachineInstances } from '../kube/kinds/kubevirt-kinds.ts'
import type { KubeObject } from '../kube/object.ts'
import { valueAt } from '../kube/server-side-apply.ts'
import { counted } from '../kube/text.ts'
import type { Method } from '../releases/hop-findings.ts'
import type { ClusterTwin } from './cluster-twin.ts'

/** What the simulator does not reckon with, of what this cluster has and this upgrade does: a sentence for each. */
export function notSimulated(
  { inhabitants }: ClusterTwin,
  { method, to }: { method: Method; to: string },
): readonly string[] {
  const instances = inhabitants.filter(isInstance)
  const huge = instances.filter((vmi) => inDomain(vmi, 'memory', 'hugepages') !== undefined).length
  const devices = instances.filter(asksForDevices).length
  return [
    ...(instances.length === 0
      ? []
      : ['CPU: a VM finds room on a node for any number of cores, dedicated ones too.']),
    ...(huge === 0 ? [] : [`Hugepages, which ${counted(huge, 'VM', ['asks', 'ask'])} for.`]),
    ...(devices === 0
      ? []
      : [`GPUs and other devices of nodes, which ${counted(devices, 'VM', ['asks', 'ask'])} for.`]),
    ...(method === 'operator-manifest'
      ? [
          `The manifest of the release: the twin applies one of its own, so that manifest-conflicts and manifest-extras cannot show. kvup plan --to ${to} reads the real one.`,
        ]
      : []),
  ]
}

const isInstance = (object: KubeObject): object is VirtualMachineInstance =>
  object.kind === VirtualMachineInstances.kind

const inDomain = ({ spec }: VirtualMachineInstance, ...path: readonly string[]): unknown =>
  valueAt(spec, ['domain', ...path])

const isListed = (list: unknown): boolean => Array.isArray(list) && list.length > 0

/** A network card of a node as well. */
const asksForDevices = (vmi: VirtualMachineInstance): boolean =>
  isListed(inDomain(vmi, 'devices', 'gpus')) ||
  isListed(inDomain(vmi, 'devices', 'hostDevices')) ||
  [inDomain(vmi, 'devices', 'interfaces')].flat().some((one) => valueAt(one, ['sriov']) !== undefined)
