import type { VirtualMachineInstance } from '../../cluster/kinds/virtual-machines.ts'
import { domainOf, launcherResources, type Resources, type Sharing } from './launcher-resources.ts'
import type { NodeTerm } from './node-terms.ts'
import { type LabelSelector, selectorText } from './selector-text.ts'
import type { Toleration } from './taints.ts'

/** Required (anti-)affinity to pods, as the VMI has it. */
export interface PodTerm {
  topologyKey: string
  /** A label selector in kubectl's words. */
  labels: string
  namespaces: readonly string[]
  apart: boolean
}

/** A claim whose volume can be used on some nodes only. */
export interface BoundVolume {
  claim: string
  terms: readonly NodeTerm[]
}

/** What a launcher pod of a VMI asks of the node that it is to run on. */
export interface Demand {
  resources: Resources
  selector: Readonly<Record<string, string>>
  /** Labels `PREFIX/VALUE=true` of the node, and what each means to a person. */
  labels: readonly { key: string; means: string }[]
  tolerations: readonly Toleration[]
  nodeTerms: readonly NodeTerm[]
  podTerms: readonly PodTerm[]
  /** Read only where the pod is to end first: who migrates takes none along. */
  volumes?: readonly BoundVolume[]
}

const required = 'requiredDuringSchedulingIgnoredDuringExecution'
type Required<T> = { [required]?: T }

interface Affinity {
  nodeAffinity?: Required<{ nodeSelectorTerms?: NodeTerm[] }>
  podAffinity?: Required<RawPodTerm[]>
  podAntiAffinity?: Required<RawPodTerm[]>
}

interface Scheduling {
  nodeSelector?: Readonly<Record<string, string>>
  tolerations?: Toleration[]
  affinity?: Affinity
}

interface RawPodTerm {
  topologyKey?: string
  labelSelector?: LabelSelector
  namespaces?: string[]
  namespaceSelector?: unknown
}

/** `from`: labels of the node where it runs, by which KubeVirt chooses the CPU of the target. Pure. */
export function demandOf(
  vmi: VirtualMachineInstance,
  sharing: Sharing,
  from: Readonly<Record<string, string>> | undefined,
): Demand {
  const { tolerations = [], affinity = {}, nodeSelector = {} } = (vmi.spec ?? {}) as Scheduling
  return {
    resources: launcherResources(vmi, sharing),
    selector: nodeSelector,
    labels: neededLabels(vmi, from ?? {}),
    tolerations,
    nodeTerms: affinity.nodeAffinity?.[required]?.nodeSelectorTerms ?? [],
    podTerms: podTerms(affinity, vmi.metadata.namespace ?? ''),
  }
}

function podTerms({ podAffinity, podAntiAffinity }: Affinity, own: string): PodTerm[] {
  return [
    ...(podAffinity?.[required] ?? []).flatMap((term) => podTerm(term, own, false)),
    ...(podAntiAffinity?.[required] ?? []).flatMap((term) => podTerm(term, own, true)),
  ]
}

/** One that selects namespaces by their labels is not judged. */
function podTerm(
  { topologyKey = '', labelSelector, namespaces, namespaceSelector }: RawPodTerm,
  own: string,
  apart: boolean,
): PodTerm[] {
  if (labelSelector === undefined || namespaceSelector !== undefined) return []
  const places = namespaces?.length ? namespaces : [own]
  return [{ topologyKey, labels: selectorText(labelSelector), namespaces: places, apart }]
}

const hostModel = 'host-model-cpu.node.kubevirt.io/'
const machineType = 'machine-type.node.kubevirt.io/'

/** lab "Seen with workloads" 8. What the node of today does not tell is not asked of another one. */
function neededLabels(vmi: VirtualMachineInstance, from: Readonly<Record<string, string>>): Demand['labels'] {
  const { cpu } = domainOf(vmi)
  const { machine } = (vmi.status ?? {}) as { machine?: { type?: string } }
  const all = Object.keys(from)
  const tells = (prefix: string) => all.some((key) => key.startsWith(prefix))
  const type = machine?.type
  return [
    ...cpuLabels(cpu?.model, all),
    ...(type && tells(machineType) ? [{ key: machineType + type, means: `machine type ${type}` }] : []),
    ...(cpu?.dedicatedCpuPlacement ? [{ key: 'cpumanager', means: 'a CPU manager' }] : []),
  ]
}

function cpuLabels(model: string | undefined, labels: readonly string[]): Demand['labels'] {
  if (model === undefined || model === 'host-model') {
    const host = labels.find((key) => key.startsWith(hostModel))?.slice(hostModel.length)
    if (host === undefined) return []
    return [{ key: `cpu-model-migration.node.kubevirt.io/${host}`, means: `CPU model ${host}` }]
  }
  if (model === 'host-passthrough' || !labels.some((key) => key.startsWith('cpu-model.node.kubevirt.io/')))
    return []
  return [{ key: `cpu-model.node.kubevirt.io/${model}`, means: `CPU model ${model}` }]
}
