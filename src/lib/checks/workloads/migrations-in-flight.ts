import type { VirtualMachineInstanceMigration } from '../../cluster/kinds/virtual-machines.ts'
import { itemsOf } from '../../facts/known.ts'
import type { Check } from '../check.ts'
import { counted } from '../../system/counted.ts'
import { someOf } from '../../system/some-of.ts'

/** Night U1, facts 2.8: the virt-handler roll kills them. An upgrade waits for them unless it is told otherwise. */
export const migrationsInFlight: Check = {
  id: 'migrations-in-flight',
  group: 'workloads',
  title: 'no migration is in flight',
  needs: ['migrations'],
  blocks: false,
  assess({ evidence }) {
    const names = itemsOf(evidence.migrations).map(nameOf)
    if (names.length === 0) return []
    return [
      {
        id: 'migrations-in-flight',
        level: 'warning',
        summary: `${counted(names.length, 'migration', ['is', 'are'])} not finished (${someOf(names)}): the upgrade waits for them first`,
        objects: names.slice(0, 100),
        remedy: ['kubectl get virtualmachineinstancemigrations -A'],
      },
    ]
  },
}

const nameOf = ({ metadata, spec }: VirtualMachineInstanceMigration): string =>
  `${metadata.namespace}/${spec?.vmiName ?? metadata.name}`
