import { type KubeVirt, KubeVirts } from '../../../cluster/kinds/kubevirt.ts'
import { Pods } from '../../../cluster/kinds/pods.ts'
import {
  type VirtualMachineInstance,
  type VirtualMachineInstanceMigration,
  VirtualMachineInstanceMigrations,
  VirtualMachineInstances,
} from '../../../cluster/kinds/virtual-machines.ts'
import { control, ownedBy } from '../../machinery/controller.ts'
import { isReady } from '../../machinery/pods.ts'
import type { VirtControllerContext } from './controller-context.ts'
import { collectOld, removeDeleted } from './migration-cleanup.ts'
import { fail } from './migration-phase.ts'
import { isFinal, limitsOf, type MigrationLimits } from './migration-plan.ts'
import { advance } from './migration-steps.ts'

/** What a pass over the migrations knows. */
export interface MigrationView {
  migrations: readonly VirtualMachineInstanceMigration[]
  instances: readonly VirtualMachineInstance[]
  limits: MigrationLimits
  /** Nodes whose virt-handler is there: without it a migration fails (facts 2.8). */
  handled: ReadonlySet<string>
  /** Started in this pass. */
  started: Set<VirtualMachineInstanceMigration>
  /** Migrations whose back-off was announced, by uid. */
  told: Set<string>
}

/** The migration controller, and what virt-handler does for it: facts 3.3 and 3.7. */
export function runMigrations(cx: VirtControllerContext): Promise<void> {
  const watched = [
    { kind: VirtualMachineInstanceMigrations },
    { kind: Pods, concerns: ownedBy('VirtualMachineInstance') },
    { kind: Pods, where: { namespace: cx.namespace, labels: 'kubevirt.io=virt-handler' } },
  ]
  const told = new Set<string>()
  return control(cx, watched, async () => {
    const view = { ...(await look(cx)), told }
    let again: number | undefined
    for (const migration of view.migrations) {
      const later = await tend(cx, view, migration)
      if (later !== undefined) again = Math.min(later, again ?? later)
    }
    return again
  })
}

async function look(cx: VirtControllerContext): Promise<Omit<MigrationView, 'told'>> {
  const [kubevirt]: KubeVirt[] = await cx.reader.list(KubeVirts, { namespace: cx.namespace })
  const handlers = await cx.reader.list(Pods, { namespace: cx.namespace, labels: 'kubevirt.io=virt-handler' })
  const serving = handlers.filter((pod) => isReady(pod) && pod.metadata.deletionTimestamp === undefined)
  return {
    migrations: await cx.reader.list(VirtualMachineInstanceMigrations),
    instances: await cx.reader.list(VirtualMachineInstances),
    limits: limitsOf(kubevirt?.spec?.configuration),
    started: new Set(),
    handled: new Set(serving.map((pod) => pod.spec?.nodeName ?? '')),
  }
}

async function tend(
  cx: VirtControllerContext,
  view: MigrationView,
  migration: VirtualMachineInstanceMigration,
): Promise<number | undefined> {
  const { name = '', namespace } = { name: migration.spec?.vmiName, namespace: migration.metadata.namespace }
  const vmi = view.instances.find(({ metadata: m }) => m.name === name && m.namespace === namespace)
  if (migration.metadata.deletionTimestamp !== undefined) {
    await removeDeleted(cx, migration, vmi)
    return undefined
  }
  if (isFinal(migration)) {
    await collectOld(cx, view.migrations, migration)
    return undefined
  }
  return vmi ? advance(cx, { migration, vmi }, view) : fail(cx, migration, 'VMI does not exist')
}
