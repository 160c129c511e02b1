import { Pods } from '../../../lib/cluster/kinds/pods.ts'
import {
  VirtualMachineInstanceMigrations,
  VirtualMachines,
} from '../../../lib/cluster/kinds/virtual-machines.ts'
import { type Used, workloadsAccess } from '../../../lib/upgrade/workloads-access.ts'
import { passesOn, type SettingsOwner } from '../../../lib/workloads/strategy/owner.ts'
import type { UpdateWanted } from '../../../lib/workloads/update/wanted.ts'

/** What an update takes: the hold, migrations, restarts where they were asked for, and a look at launchers. */
export function updateRights(
  owner: SettingsOwner,
  { restart }: Pick<UpdateWanted, 'restart'>,
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
    { kind: VirtualMachineInstanceMigrations, verb: 'create' },
    { kind: Pods, verb: 'list' },
    ...restarts,
  ])
}
