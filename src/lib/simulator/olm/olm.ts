import type { ControllerContext } from '../machinery/controller.ts'
import type { Faults } from '../machinery/faults.ts'
import { runCatalog } from './catalog.ts'
import { runClusterOperator } from './cluster-operator.ts'
import { runCopies } from './copied-service-versions.ts'
import type { OlmFaults } from './faults.ts'
import { runInstallPlans } from './install-plans.ts'
import { runOperatorConditions } from './operator-conditions.ts'
import { runServiceVersions } from './service-versions.ts'
import type { OlmShape } from './shape.ts'
import { runSubscriptions } from './subscriptions.ts'

/**
 * OLM, generation 0, with its catalog: resolves, plans, installs and replaces operators until the signal ends it (ocp 2). A client like any
 * other: the kinds of `olmKinds` have to be served, those of OpenShift may be, and somebody has to run Deployments and pods.
 */
export async function runOlm(
  cx: ControllerContext,
  shape: OlmShape,
  faults: Pick<Faults<OlmFaults>, 'on' | 'onChange'>,
): Promise<void> {
  const wakes = (ring: () => void): void => faults.onChange(ring, cx.signal)
  const own = { ...cx, wakes, shape, faults }
  await Promise.all([
    runCatalog(own),
    runSubscriptions(own),
    runInstallPlans(own),
    runServiceVersions(own),
    runOperatorConditions(own),
    runCopies(own),
    runClusterOperator(own),
  ])
}
