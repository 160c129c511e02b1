import type { ControllerContext } from '../machinery/controller.ts'
import type { Faults } from '../machinery/faults.ts'
import { runClusterOperators } from './cluster-version/cluster-operators.ts'
import { runClusterVersion } from './cluster-version/cluster-version.ts'
import type { OpenShiftFaults } from './faults.ts'
import { runHealthChecks } from './health-checks.ts'
import { installPlatform } from './install.ts'
import { runInterference } from './interference.ts'
import { runKubeletSkew } from './kubelet-skew.ts'
import { runNodeUpdates } from './machine-config/node-updates.ts'
import { runMachineConfigStatus } from './machine-config/operator-status.ts'
import { runPools } from './machine-config/pools.ts'
import { runRender } from './machine-config/render.ts'
import type { PlatformContext } from './platform-context.ts'
import type { OpenShiftShape } from './shape.ts'

/**
 * Runs the platform's operators on the objects of `openShiftObjects`, until the signal ends them: cluster-version, the operators that
 * it updates, machine-config, kube-apiserver's look at the kubelets, and health checks. A client like any other.
 */
export async function runOpenShift(
  cx: ControllerContext,
  shape: OpenShiftShape,
  faults: Faults<OpenShiftFaults>,
): Promise<void> {
  const platform: PlatformContext = { ...cx, shape, faults }
  await installPlatform(platform)
  const machines =
    shape.topology === 'External' ? [] : [runRender, runPools, runNodeUpdates, runMachineConfigStatus]
  const all = [
    runClusterVersion,
    runClusterOperators,
    runKubeletSkew,
    runHealthChecks,
    runInterference,
    ...machines,
  ]
  await Promise.all(all.map((run) => run(platform)))
}
