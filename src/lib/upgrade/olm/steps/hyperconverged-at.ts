import { type HyperConverged, HyperConvergeds } from '../../../cluster/kinds/hyperconverged.ts'
import { condition } from '../../../cluster/object.ts'
import { filled } from '../../../facts/filled.ts'
import { hyperConvergedStanding } from '../../../facts/hyperconverged/hyperconverged-standing.ts'
import type { Step, StepState } from '../../../procedure/step.ts'
import { operatorVersionOf } from '../../../releases/operator-version.ts'
import { minutes, seconds } from '../../../system/units.ts'
import { hyperConvergedIn } from '../hyperconverged-in.ts'
import { labelOf, type OperatorHop } from '../operator-hop-types.ts'
import { isPast, lookAtOperator, sceneFollows } from '../operator-scene.ts'

/** A Degraded that lasts longer is none of those that come with an update. */
const degradedPatience = 10 * minutes

/**
 * Waits until HyperConverged says that every operand is of its release: status.versions, and all conditions as they must be, of the present
 * spec. A Succeeded CSV proves nothing of it (ocp 1.5, 9.7).
 */
export function hyperConvergedAt(hop: OperatorHop): Step {
  const { namespace } = hop.subscription
  return {
    id: `hyperconverged-at-${labelOf(hop)}`,
    title: `HyperConverged at ${hop.version}`,
    patience: { every: 10 * seconds, atMost: 3 * 60 * minutes },
    estimate: 8 * minutes,
    follows: [...sceneFollows(hop), { kind: HyperConvergeds, where: { namespace } }],
    dependsOn: [`approve-${labelOf(hop)}`],
    risk: { undo: 'none: OLM knows no downgrade', safeToLeave: 'its operator goes on by itself' },
    async check({ reader, clock }): Promise<StepState> {
      const { subscription } = await lookAtOperator(reader, hop)
      if (isPast(subscription, hop.csv)) return { is: 'done', note: 'OLM has gone on to a later one' }
      return standingState(await hyperConvergedIn(reader, namespace), hop, clock.now())
    },
  }
}

function standingState(hco: HyperConverged, { version }: OperatorHop, now: Date): StepState {
  const { good, why, operatorVersion = 'none', name, namespace } = hyperConvergedStanding(hco)
  const isAt = (operatorVersionOf(operatorVersion)?.text ?? operatorVersion) === version
  if (isAt && good) return { is: 'done', note: 'all conditions are as they must be' }
  const on = isAt
    ? `HyperConverged ${name} to settle`
    : `HyperConverged ${name} to take all operands to ${version} (at ${operatorVersion})`
  const remedy = [`kubectl -n ${namespace} describe hyperconverged.hco.kubevirt.io ${name}`, 'kvup status']
  const since = degradedSince(hco)
  if (since !== undefined && now.getTime() - Date.parse(since) >= degradedPatience)
    return { is: 'stalled', on, why: why.join('; '), remedy, since }
  return { is: 'waiting', on, ...filled({ trouble: why.join('; ') }), remedy }
}

function degradedSince(hco: HyperConverged): string | undefined {
  const degraded = condition(hco, 'Degraded')
  return degraded?.status === 'True' ? degraded.lastTransitionTime : undefined
}
