import type { Reader } from '../../cluster/cluster.ts'
import { Namespaces } from '../../cluster/kinds/core.ts'
import { MigrationPolicies, type MigrationPolicy } from '../../cluster/kinds/migration-policies.ts'
import type { VirtualMachineInstance } from '../../cluster/kinds/virtual-machines.ts'
import { isNotFound } from '../../system/errors.ts'

type Labels = Readonly<Record<string, string>>

/** The MigrationPolicies, and the labels of namespaces where one asks for them. */
export interface Policies {
  all: readonly MigrationPolicy[]
  namespaces: ReadonlyMap<string, Labels>
}

/** None where the kind is not served. Throws ApiError but 404. */
export async function readPolicies(reader: Reader): Promise<Policies> {
  const all = await reader.list(MigrationPolicies).catch((error: unknown) => {
    if (!isNotFound(error)) throw error
    return []
  })
  const namespaces = new Map<string, Labels>()
  if (all.some(({ spec }) => spec?.selectors?.namespaceSelector))
    for (const { metadata } of await reader.list(Namespaces))
      namespaces.set(metadata.name, metadata.labels ?? {})
  return { all, namespaces }
}

/**
 * The one that selects it by most labels, of equals by most of the VM's own, then the first by name. Empty selectors select every VM,
 * none at all select none (KV:pkg/virt-controller/watch/migration/migrationpolicy.go, matchPolicy). Pure.
 */
export function policyFor(
  { metadata: { namespace = '', labels = {} } }: VirtualMachineInstance,
  { all, namespaces }: Policies,
): MigrationPolicy | undefined {
  const matching = all.flatMap((policy) => {
    const { selectors } = policy.spec ?? {}
    if (!selectors) return []
    const { namespaceSelector = {}, virtualMachineInstanceSelector = {} } = selectors
    const own = Object.keys(virtualMachineInstanceSelector).length
    const weight = Object.keys(namespaceSelector).length + own
    const selected =
      has(namespaces.get(namespace) ?? {}, namespaceSelector) && has(labels, virtualMachineInstanceSelector)
    return selected ? [{ policy, weight, own }] : []
  })
  const [best] = matching.toSorted(
    (a, b) => b.weight - a.weight || b.own - a.own || byName(a.policy, b.policy),
  )
  return best?.policy
}

const has = (labels: Labels, wanted: Labels): boolean =>
  Object.entries(wanted).every(([key, value]) => labels[key] === value)

const byName = (a: MigrationPolicy, b: MigrationPolicy) => (a.metadata.name < b.metadata.name ? -1 : 1)
