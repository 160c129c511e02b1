import { Pods } from '../../../lib/cluster/kinds/pods.ts'
import {
  VirtualMachineInstanceMigrations,
  VirtualMachines,
} from '../../../lib/cluster/kinds/virtual-machines.ts'
import { type Used, workloadsAccess } from '../../../lib/upgrade/workloads-access.ts'
import { passesOn, type SettingsOwner } from '../../../lib/workloads/strategy/owner.ts'

/** What an update takes: the hold, migrations, restarts where they were asked for, and a look at launchers. */
export function updateRights(
  owner: SettingsOwner,
  { restart, cancels, watchOnly }: { restart: boolean; cancels: boolean; watchOnly: boolean },
): ReturnType<typeof workloadsAccess> {
  const { kind, ref } = owner
  const hold = (passesOn(owner) ? ['get', 'patch'] : ['patch']).map((verb): Used => ({ kind, verb }))
  const restarts: Used[] = restart
    ? [
        {
          kind: { ...VirtualMachines, apiVersion: 'subresources.kubevirt.io/v1' },
          verb: 'update',
          subresource: 'restart',
        },
      ]
    : []
  return workloadsAccess(ref.namespace, [
    ...hold,
    ...(watchOnly ? [] : [{ kind: VirtualMachineInstanceMigrations, verb: 'create' }]),
    ...(cancels ? [{ kind: VirtualMachineInstanceMigrations, verb: 'delete' }] : []),
    { kind: Pods, verb: 'list' },
    ...restarts,
  ])
}
