import { minutes } from '../kube/clock.ts'
import type { Reader } from '../kube/cluster.ts'
import { type Node, Nodes } from '../kube/kinds/core-kinds.ts'
import type { Pod } from '../kube/kinds/workload-kinds.ts'
import { type Known, known } from '../kube/known.ts'
import { condition } from '../kube/object.ts'
import { quantity } from '../kube/quantity.ts'
import { counted, someOf } from '../kube/text.ts'
import { since } from '../kube/timestamps.ts'
import { configuredValue, type Installation } from './installation.ts'
import { handlerName } from './component-status.ts'
import { componentLabel } from './installed-components.ts'

/** Nodes that are offered to VMs and have no /dev/kvm to give: VMs are not placed there, and those that are there do not come back. */
export interface HollowNodes {
  names: readonly string[]
  sentence: string
  remedy: readonly string[]
}

const kvm = 'devices.kubevirt.io/kvm'
const offered = 'kubevirt.io/schedulable'
const emulation = ['developerConfiguration', 'useEmulation']
/** A virt-handler that has just come registers its device plugin anew, ms. */
const registersWithin = 2 * minutes

interface Inputs {
  nodes: readonly Node[]
  /** Of KubeVirt's namespace. */
  pods: readonly Pod[]
  installation: Pick<Installation, 'kubevirt' | 'namespace'>
  /** Of a look at a cluster where virt-handler may be rolled at that moment: one that has just come counts as not there. */
  at?: Date
}

/** The device plugin in virt-handler has stopped, or the node lost virtualization. Undefined where there is no such node, and where KubeVirt emulates. Pure. */
export function hollowNodes({ nodes, pods, installation, at }: Inputs): HollowNodes | undefined {
  if (configuredValue(installation, emulation) === true) return undefined
  const held = new Set(pods.filter((pod) => isAtWork(pod, at)).map(({ spec }) => spec?.nodeName))
  const names = nodes
    .filter((node) => isHollow(node) && held.has(node.metadata.name))
    .map(({ metadata }) => metadata.name)
  const [first] = names
  if (first === undefined) return undefined
  return {
    names,
    sentence: `${counted(names.length, 'node', ['has', 'have'])} the label ${offered} but no ${kvm} (${someOf(names)}): VMs neither start there nor migrate to it`,
    remedy: [
      `kubectl get nodes -o custom-columns='NODE:.metadata.name,KVM:.status.allocatable.devices\\.kubevirt\\.io/kvm'`,
      `kubectl -n ${installation.namespace} delete pods -l kubevirt.io=virt-handler --field-selector spec.nodeName=${first}     restarts its device plugin; VMs keep running, but its migrations fail`,
    ],
  }
}

/** A node that does not name the device at all is another thing: an architecture, a former release. */
function isHollow({ metadata, status }: Node): boolean {
  return metadata.labels?.[offered] === 'true' && quantity(status?.allocatable?.[kvm] ?? '') === 0
}

function isAtWork(pod: Pod, at: Date | undefined): boolean {
  if (componentLabel(pod) !== handlerName) return false
  if (at === undefined) return true
  const ready = condition({ status: pod.status ?? {} }, 'Ready')
  return ready?.status !== 'True' || (since(ready.lastTransitionTime, at) ?? Infinity) >= registersWithin
}

/** Nodes are large: of more than this `kvup check` alone tells. */
const readAtMost = 500
const firstPage = 250

/** The nodes that are offered to VMs. Not known where they may not be read, and where there are too many. Throws any other ApiError. */
export async function offeredNodes(reader: Reader): Promise<Known<Node>> {
  const all: Node[] = []
  let isTooMany = false
  const read = async (): Promise<Node[]> => {
    const where = { labels: `${offered}=true`, pageSize: firstPage }
    for await (const { items, remaining = 0 } of reader.pages(Nodes, where)) {
      all.push(...items)
      isTooMany = all.length + remaining > readAtMost
      if (isTooMany) break
    }
    return all
  }
  const found = await known(read())
  return isTooMany ? { known: false, why: `more than ${readAtMost} nodes take VMs` } : found
}
