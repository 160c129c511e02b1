import type {
  VirtualMachineInstance,
  VirtualMachineInstanceMigration,
} from '../../../cluster/kinds/virtual-machines.ts'
import { condition } from '../../../cluster/object.ts'
import { asksForMigration } from './asked-changes.ts'
import { isFinal, isRunning } from './migration-plan.ts'

export interface UpdateQuestion {
  instances: readonly VirtualMachineInstance[]
  migrations: readonly VirtualMachineInstanceMigration[]
  methods: readonly string[]
  launcherImage: string
  /** parallelMigrationsPerCluster. */
  limit: number
  random: () => number
}

export interface UpdatePlan {
  /** What status.outdatedVirtualMachineInstanceWorkloads says. */
  outdated: number
  migrate: VirtualMachineInstance[]
  /** All that may be evicted, in random order. */
  evict: VirtualMachineInstance[]
  /** Something is left that a method could do later. */
  waiting: boolean
}

/** What the updater does now: facts 3.2, getUpdateData. Pure but for the order of equals. */
export function planUpdate(question: UpdateQuestion): UpdatePlan {
  const { instances, migrations, methods, launcherImage, limit, random } = question
  const running = instances.filter(
    ({ metadata, status }) => status?.phase === 'Running' && metadata.deletionTimestamp === undefined,
  )
  const due = running.filter((vmi) => isOutdated(vmi, launcherImage) || asksForMigration(vmi))
  const idle = due.filter((vmi) => !migrations.some((m) => !isFinal(m) && isOf(m, vmi)))
  const migratable = idle.filter(
    (vmi) => methods.includes('LiveMigrate') && condition(vmi, 'LiveMigratable')?.status === 'True',
  )
  const evictable = methods.includes('Evict') ? idle.filter((vmi) => !migratable.includes(vmi)) : []
  const room = Math.max(0, limit - migrations.filter(isRunning).length)
  return {
    outdated: due.length,
    migrate: shuffled(migratable, random).slice(0, room),
    evict: shuffled(evictable, random),
    waiting:
      methods.includes('LiveMigrate') &&
      due.some((vmi) => condition(vmi, 'LiveMigratable')?.status === 'True'),
  }
}

/** An empty field means "not outdated". */
function isOutdated({ status }: VirtualMachineInstance, launcherImage: string): boolean {
  const { launcherContainerImageVersion: image = '' } = status ?? {}
  return image !== '' && image !== launcherImage
}

const isOf = ({ spec, metadata }: VirtualMachineInstanceMigration, vmi: VirtualMachineInstance): boolean =>
  spec?.vmiName === vmi.metadata.name && metadata.namespace === vmi.metadata.namespace

function shuffled<T>(items: readonly T[], random: () => number): T[] {
  return items
    .map((item) => ({ item, place: random() }))
    .sort((a, b) => a.place - b.place)
    .map(({ item }) => item)
}
