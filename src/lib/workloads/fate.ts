import type { VirtualMachineInstance } from '../cluster/kinds/virtual-machines.ts'
import { condition } from '../cluster/object.ts'

/** What KubeVirt's own workload updater will do to an outdated VMI. */
export type Fate = 'migrates' | 'restarts' | 'shuts down' | 'is lost' | 'stays'

export interface UpdateRules {
  methods: readonly string[]
  /** `configuration.evictionStrategy`; a VMI's own was frozen at its creation (facts 1.3). */
  clusterEviction: string | undefined
}

/** facts 3.2, 3.4 and 3.5. `runStrategy` is that of the VM behind it; undefined for a bare VMI. */
export function fateOf(
  vmi: VirtualMachineInstance,
  rules: UpdateRules,
  runStrategy: string | undefined,
): Fate {
  const migratable = condition(vmi, 'LiveMigratable')?.status === 'True'
  if (rules.methods.includes('LiveMigrate') && migratable) return 'migrates'
  if (!rules.methods.includes('Evict')) return 'stays'
  const strategy = vmi.spec?.evictionStrategy ?? rules.clusterEviction ?? 'None'
  return evictionOf(strategy, migratable) ?? afterShutdown(vmi, runStrategy)
}

/** What the eviction webhook makes of it (facts 3.4); undefined: it lets the pod die. */
function evictionOf(strategy: string, migratable: boolean): Fate | undefined {
  if (strategy === 'External') return 'stays'
  if (strategy === 'LiveMigrate') return migratable ? 'migrates' : 'stays'
  return strategy === 'LiveMigrateIfPossible' && migratable ? 'migrates' : undefined
}

function afterShutdown(vmi: VirtualMachineInstance, runStrategy: string | undefined): Fate {
  if (runStrategy === 'Always') return 'restarts'
  if (runStrategy !== undefined) return 'shuts down'
  const owner = vmi.metadata.ownerReferences?.find((o) => o.controller === true)
  return owner === undefined || owner.kind === 'VirtualMachine' ? 'is lost' : 'restarts'
}
