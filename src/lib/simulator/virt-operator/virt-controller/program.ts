import type { Pod } from '../../../cluster/kinds/pods.ts'
import type { ControllerContext } from '../../machinery/controller.ts'
import { lead } from '../../machinery/leader.ts'
import { runEvacuations } from './evacuations.ts'
import { runInstances } from './instances.ts'
import { runMigrations } from './migrations.ts'
import { runVirtualMachines } from './virtual-machines.ts'
import { runWorkloadUpdater } from './workload-updater.ts'

/** The program of a virt-controller pod: waits for the Lease, then runs VMs, their migrations and their updates. */
export async function runVirtController(cx: ControllerContext, pod: Pod): Promise<void> {
  const { name, namespace = '' } = pod.metadata
  const args = pod.spec?.containers?.[0]?.args ?? []
  const launcherImage = args[args.indexOf('--launcher-image') + 1] ?? ''
  await lead(cx, { lease: 'virt-controller', namespace, identity: name }, async (signal) => {
    const own = { ...cx, signal, namespace, launcherImage }
    await Promise.all([
      runVirtualMachines(own),
      runInstances(own),
      runMigrations(own),
      runEvacuations(own),
      runWorkloadUpdater(own),
    ])
  })
}
