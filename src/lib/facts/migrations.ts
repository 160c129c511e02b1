import type { Reader } from '../cluster/cluster.ts'
import {
  type VirtualMachineInstanceMigration,
  VirtualMachineInstanceMigrations,
} from '../cluster/kinds/virtual-machines.ts'

/** Whoever made it, and in whatever phase: only Succeeded and Failed are ends. */
function isUnfinished(migration: VirtualMachineInstanceMigration): boolean {
  const phase = migration.status?.phase
  return phase !== 'Succeeded' && phase !== 'Failed'
}

/** Of every namespace, folded page by page. Throws ApiError. */
export async function unfinishedMigrations(reader: Reader): Promise<VirtualMachineInstanceMigration[]> {
  const found: VirtualMachineInstanceMigration[] = []
  for await (const page of reader.pages(VirtualMachineInstanceMigrations))
    found.push(...page.items.filter(isUnfinished))
  return found
}
