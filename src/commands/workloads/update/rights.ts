import { Pods } from '../../../lib/cluster/kinds/pods.ts'
import { VirtualMachineInstanceMigrations } from '../../../lib/cluster/kinds/virtual-machines.ts'
import { workloadsAccess } from '../../../lib/upgrade/workloads-access.ts'
import type { SettingsOwner } from '../../../lib/workloads/strategy/owner.ts'
import { restartRight } from '../../waves/restart-right.ts'
import { writesTo } from '../settings-work.ts'

/** What an update takes: the hold, migrations, restarts where they were asked for, and a look at launchers. */
export function updateRights(
  owner: SettingsOwner,
  { restart, cancels, watchOnly }: { restart: boolean; cancels: boolean; watchOnly: boolean },
): ReturnType<typeof workloadsAccess> {
  return workloadsAccess(owner.ref.namespace, [
    ...writesTo(owner),
    ...(watchOnly ? [] : [{ kind: VirtualMachineInstanceMigrations, verb: 'create' }]),
    ...(cancels ? [{ kind: VirtualMachineInstanceMigrations, verb: 'delete' }] : []),
    { kind: Pods, verb: 'list' },
    ...(restart ? [restartRight] : []),
  ])
}
