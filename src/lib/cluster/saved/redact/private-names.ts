import type { KubeObject } from '../../object.ts'

/** Names that tell nobody anything: those of platforms and of KubeVirt itself. */
const publicNamespace = /^(default|kube-.+|openshift(-.+)?|kubevirt(-.+)?|cdi|olm|operators|descheduler)$/

export interface PrivateNames {
  namespaces: ReadonlySet<string>
  nodes: ReadonlySet<string>
  /** Of VMs and VMIs. */
  machines: ReadonlySet<string>
  /** Of what else lives in private namespaces. */
  others: ReadonlySet<string>
  /** Names that judgements know: of what is in KubeVirt's namespace, and of what has none. */
  known: ReadonlySet<string>
}

/** Which names say something about whose cluster it is. `home` is KubeVirt's namespace, which stays. */
export function privateNames(objects: readonly KubeObject[], home: string | undefined): PrivateNames {
  const names = {
    namespaces: new Set<string>(),
    nodes: new Set<string>(),
    machines: new Set<string>(),
    others: new Set<string>(),
    known: new Set<string>(),
  }
  const isPublic = (namespace: string) => namespace === home || publicNamespace.test(namespace)
  for (const object of objects) {
    const { name, namespace } = object.metadata
    if (namespace !== undefined && !isPublic(namespace)) {
      names.namespaces.add(namespace)
      names[isMachine(object) ? 'machines' : 'others'].add(name)
    } else if (isMachine(object)) names.machines.add(name)
    else if (object.kind === 'Node') names.nodes.add(name)
    else if (object.kind !== 'Namespace' || isPublic(name)) names.known.add(name)
    for (const node of nodesIn(object)) names.nodes.add(node)
  }
  return names
}

export function isMachine({ kind }: KubeObject): boolean {
  return kind === 'VirtualMachine' || kind === 'VirtualMachineInstance'
}

const nodeKeys = ['nodeName', 'evacuationNodeName']

/** Nodes that are gone, or may not be seen. */
function nodesIn(object: KubeObject): string[] {
  const { spec, status } = object as { spec?: Record<string, unknown>; status?: Record<string, unknown> }
  return [spec, status].flatMap((part) =>
    nodeKeys.flatMap((key) => (typeof part?.[key] === 'string' && part[key] !== '' ? [part[key]] : [])),
  )
}
