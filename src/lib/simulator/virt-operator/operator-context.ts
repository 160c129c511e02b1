import type { KubeVirt } from '../../cluster/kinds/kubevirt.ts'
import type { ControllerContext } from '../machinery/controller.ts'
import type { Faults } from '../machinery/faults.ts'
import type { DeploymentConfig } from './deployment-config.ts'
import type { OperatorFaults } from './faults.ts'
import type { OperatorPod } from './operator-pod.ts'

/** A leading virt-operator. */
export interface OperatorContext extends ControllerContext {
  readonly self: OperatorPod
  readonly faults: Faults<OperatorFaults>
  /** Writes an error into the pod's log. */
  readonly say: (msg: string, reason: string) => void
}

/** One pass over the CR. */
export interface Pass {
  readonly kubevirt: KubeVirt
  readonly config: DeploymentConfig
  /** Of the CR: what managed objects are stamped with. */
  readonly generation: number
}

/** Something in a pass that the operator reports as DeploymentFailed and tries again. */
export class DeploymentFailure extends Error {
  override readonly name = 'DeploymentFailure'
}
