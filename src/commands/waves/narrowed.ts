import type { Access } from '../../lib/cluster/cluster.ts'
import type { Work } from '../../lib/run/carry-out.ts'
import { placeOfVm } from '../../lib/workloads/vm-name.ts'

/** What is in the namespaces of VMs. */
const ofVms: ReadonlySet<string> = new Set([
  'virtualmachines',
  'virtualmachineinstances',
  'virtualmachineinstancemigrations',
  'pods',
])

/** The same rights, asked for in these namespaces only: who may move the VMs of one need not be allowed to move all. Undefined: in all. */
export function narrowed(rights: Work['rights'], namespaces: readonly string[] | undefined): Work['rights'] {
  if (namespaces === undefined) return rights
  const within = (access: Access): Access[] =>
    access.namespace === undefined && ofVms.has(access.resource)
      ? namespaces.map((namespace) => ({ ...access, namespace }))
      : [access]
  return { ...rights, required: rights.required.flatMap(within) }
}

/** Where the VMs of a run are; undefined: it may be all namespaces. */
export function namespacesOf(
  vms: Iterable<string>,
  { namespace, partly }: { namespace: string | undefined; partly: boolean },
): readonly string[] | undefined {
  if (namespace !== undefined) return [namespace]
  if (!partly) return undefined
  return [...new Set([...vms].map((vm) => placeOfVm(vm).namespace))]
}
