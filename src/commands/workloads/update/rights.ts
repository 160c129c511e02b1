import { Pods } from '../../../lib/cluster/kinds/pods.ts'
import { VirtualMachineInstanceMigrations } from '../../../lib/cluster/kinds/virtual-machines.ts'
import { workloadsAccess } from '../../../lib/upgrade/workloads-access.ts'
import type { SettingsOwner } from '../../../lib/workloads/strategy/owner.ts'
import { restartRight } from '../../waves/restart-right.ts'
import { writesTo } from '../settings-work.ts'

/** What an update takes: the hold, unless updates are held by somebody already (`holds`), migrations, restarts where they were asked for, and a look at launchers. */
export function updateRights(
  owner: SettingsOwner,
  {
    restart,
    cancels,
    watchOnly,
    holds,
  }: { restart: boolean; cancels: boolean; watchOnly: boolean; holds: boolean },
): ReturnType<typeof workloadsAccess> {
  return workloadsAccess(owner.ref.namespace, [
    ...(watchOnly || holds ? writesTo(owner) : []),
    ...(watchOnly ? [] : [{ kind: VirtualMachineInstanceMigrations, verb: 'create' }]),
    ...(cancels ? [{ kind: VirtualMachineInstanceMigrations, verb: 'delete' }] : []),
    { kind: Pods, verb: 'list' },
    ...(restart ? [restartRight] : []),
  ])
}
