import type { Pod } from '../../../cluster/kinds/pods.ts'
import type { ControllerContext } from '../../machinery/controller.ts'
import { lead } from '../../machinery/leader.ts'
import { runLauncherStub } from './stub.ts'

/** The program of a virt-controller pod: waits for the Lease, then runs VMs, their migrations and their updates. */
export async function runVirtController(cx: ControllerContext, pod: Pod): Promise<void> {
  const candidate = {
    lease: 'virt-controller',
    namespace: pod.metadata.namespace ?? '',
    identity: pod.metadata.name,
  }
  await lead(cx, candidate, (signal) => runLauncherStub({ ...cx, signal }))
}
