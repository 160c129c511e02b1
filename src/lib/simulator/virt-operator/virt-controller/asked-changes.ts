import type { VirtualMachineInstance } from '../../../cluster/kinds/virtual-machines.ts'
import { type Condition, condition } from '../../../cluster/object.ts'

/** What a person asked of a running VM and only a migration carries out: hotplug, and a move to other volumes (facts 3.2, 5). */
const types: readonly string[] = ['HotVCPUChange', 'HotMemoryChange', 'MigrationRequired', 'VolumesChange']

/** HotVCPUChange counts whatever its status is. */
export function asksForMigration(vmi: VirtualMachineInstance): boolean {
  return types.some((type) => {
    const asked = condition(vmi, type)
    return type === 'HotVCPUChange' ? asked !== undefined : asked?.status === 'True'
  })
}

/** The conditions once a migration has carried it out. */
export const withoutAsked = (conditions: readonly Condition[] = []): Condition[] =>
  conditions.filter(({ type }) => !types.includes(type))
