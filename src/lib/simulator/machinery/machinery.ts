import type { Pod } from '../../cluster/kinds/pods.ts'
import type { ControllerContext } from './controller.ts'
import { runApiServices } from './api-services.ts'
import { runDaemonSets } from './daemon-sets.ts'
import { runDeployments } from './deployments.ts'
import { runEndpointSlices } from './endpoint-slices.ts'
import type { Faults, MachineryFaults } from './faults.ts'
import { runJobs } from './jobs.ts'
import { runKubelet } from './kubelet.ts'
import { runNodes } from './nodes.ts'
import type { Program } from './program.ts'
import { runReplicaSets } from './replica-sets.ts'
import { runScheduler } from './scheduler.ts'

export interface Machinery {
  readonly faults: Faults<MachineryFaults>
  readonly programOf: (pod: Pod) => Program | undefined
  readonly broken: (error: unknown) => void
}

/** What a cluster does by itself: the controller manager, the scheduler and the kubelets, until the signal ends it. */
export async function runMachinery(cx: ControllerContext, machinery: Machinery): Promise<void> {
  await Promise.all([
    runDeployments(cx),
    runReplicaSets(cx),
    runDaemonSets(cx),
    runJobs(cx),
    runEndpointSlices(cx),
    runApiServices(cx, machinery.faults),
    runScheduler(cx, machinery.faults),
    runNodes(cx, machinery.faults),
    runKubelet({ ...cx, ...machinery }),
  ])
}
