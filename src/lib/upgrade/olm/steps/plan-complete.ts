import type { InstallPlan } from '../../../cluster/kinds/operator-lifecycle.ts'
import { filled } from '../../../facts/filled.ts'
import { installPlanStanding } from '../../../facts/operator-lifecycle/install-plan-standing.ts'
import type { Step, StepState } from '../../../procedure/step.ts'
import { minutes, seconds } from '../../../system/units.ts'
import { labelOf, type OperatorHop } from '../operator-hop-types.ts'
import { isEntered, lookAtOperator, type OperatorScene, sceneFollows } from '../operator-scene.ts'

/** Waits until OLM has applied what the InstallPlan holds. Complete means no more than that (ocp 2.2). */
export function planComplete(hop: OperatorHop): Step {
  return {
    id: `plan-complete-${labelOf(hop)}`,
    title: `InstallPlan of ${hop.version} is carried out`,
    patience: { every: 5 * seconds, atMost: 20 * minutes },
    estimate: 30 * seconds,
    follows: sceneFollows(hop),
    dependsOn: [`approve-${labelOf(hop)}`],
    risk: { undo: 'none: OLM knows no downgrade', safeToLeave: 'OLM goes on by itself' },
    async check({ reader }): Promise<StepState> {
      return completion(await lookAtOperator(reader, hop), hop)
    },
  }
}

function completion(scene: OperatorScene, hop: OperatorHop): StepState {
  const { plan } = scene
  if (plan === undefined || !isOurs(plan, hop) || plan.status?.phase === 'Complete')
    return isEntered(scene, hop) ? { is: 'done' } : { is: 'waiting', on: `OLM to make ${hop.csv}` }
  const { name, phase, message, startedAt, state } = installPlanStanding(plan)
  const { namespace } = hop.subscription
  const remedy = [`kubectl -n ${namespace} get installplan ${name} -o yaml`]
  if (state === 'failed') return failed(name, message, { namespace, remedy })
  const trouble = message === '' ? {} : { trouble: message, remedy }
  return {
    is: 'waiting',
    on: `installplans/${name} (${phase || 'no phase'})`,
    ...trouble,
    ...filled({ since: startedAt }),
  }
}

const isOurs = ({ spec }: InstallPlan, { csv }: OperatorHop): boolean =>
  spec?.clusterServiceVersionNames?.includes(csv) === true

/** Final (ocp 2.2). */
function failed(
  name: string,
  message: string,
  { namespace, remedy }: { namespace: string; remedy: readonly string[] },
): StepState {
  const drop = `kubectl -n ${namespace} delete installplan ${name}     lets OLM make a new one, once its cause is mended`
  return {
    is: 'blocked',
    reason: 'plan-failed',
    by: `installplans/${name} in namespace ${namespace} has failed, and OLM never tries it again: ${message || 'no message'}`,
    remedy: [...remedy, drop],
  }
}
