import type { VirtualMachineInstance } from '../cluster/kinds/virtual-machines.ts'
import { decisionOf } from './outdated/decision.ts'
import type { UpdateRules } from './outdated/rules.ts'

/** What KubeVirt's own workload updater will do to an outdated VMI. */
export type Fate = 'migrates' | 'restarts' | 'shuts down' | 'is lost' | 'stays'

/** facts 3.2, 3.4 and 3.5. `runStrategy` is that of the VM behind it; undefined for a bare VMI. */
export function fateOf(
  vmi: VirtualMachineInstance,
  rules: UpdateRules,
  runStrategy: string | undefined,
): Fate {
  const decision = decisionOf(vmi, rules)
  if (decision === 'migrate' || decision === 'migrate-volumes' || decision === 'evacuate') return 'migrates'
  return decision === 'shut-down' ? afterShutdown(vmi, runStrategy) : 'stays'
}

/** facts 3.4: only runStrategy Always starts a VM again; sets and pools replace a VMI that is gone. */
export function afterShutdown(vmi: VirtualMachineInstance, runStrategy: string | undefined): Fate {
  if (runStrategy === 'Always') return 'restarts'
  if (runStrategy !== undefined) return 'shuts down'
  const owner = vmi.metadata.ownerReferences?.find((o) => o.controller === true)
  return owner === undefined || owner.kind === 'VirtualMachine' ? 'is lost' : 'restarts'
}
