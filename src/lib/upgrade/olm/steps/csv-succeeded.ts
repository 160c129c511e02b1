import type { ClusterServiceVersion } from '../../../cluster/kinds/operator-lifecycle.ts'
import { filled } from '../../../facts/filled.ts'
import { csvStanding } from '../../../facts/operator-lifecycle/csv-standing.ts'
import type { Step, StepState } from '../../../procedure/step.ts'
import { minutes, seconds } from '../../../system/units.ts'
import { labelOf, type OperatorHop } from '../operator-hop-types.ts'
import { csvOf, isPast, lookAtOperator, type OperatorScene, sceneFollows } from '../operator-scene.ts'

/** Waits for the CSV to be Succeeded. Recognises the hold by an OperatorCondition, which looks like a stuck update (ocp 2.5). */
export function csvSucceeded(hop: OperatorHop): Step {
  return {
    id: `csv-succeeded-${labelOf(hop)}`,
    title: `ClusterServiceVersion ${hop.version}`,
    patience: { every: 5 * seconds, atMost: 60 * minutes },
    estimate: 3 * minutes,
    follows: sceneFollows(hop),
    dependsOn: [`approve-${labelOf(hop)}`],
    risk: { undo: 'none: OLM knows no downgrade', safeToLeave: 'OLM goes on by itself' },
    async check({ reader, clock }): Promise<StepState> {
      const scene = await lookAtOperator(reader, hop)
      if (isPast(scene.subscription, hop.csv)) return { is: 'done', note: 'OLM has gone on to a later one' }
      return csvState(scene, hop, clock.now())
    },
  }
}

/** Where the CSV of a hop stands at this look. Pure; it falls back whenever its Deployments do (ocp 2.4), so that it is asked again later. */
export function csvState(scene: OperatorScene, hop: OperatorHop, now: Date): StepState {
  const csv = csvOf(scene, hop)
  return csv === undefined ? { is: 'waiting', on: `OLM to make ${hop.csv}` } : phaseState(csv, hop, now)
}

function phaseState(csv: ClusterServiceVersion, hop: OperatorHop, now: Date): StepState {
  const { name, phase, state, reason, message, since } = csvStanding(csv, now)
  if (state === 'succeeded') return { is: 'done' }
  const { namespace } = hop.subscription
  const on = `clusterserviceversions/${name} (${phase || 'new'})`
  const at = filled({ since })
  if (state === 'held') return { is: 'stalled', on, ...held(csv, message, namespace), ...at }
  const why = `${reason}: ${message}`
  const remedy = [`kubectl -n ${namespace} describe csv ${name}`, `kubectl -n ${namespace} get pods`]
  if (state === 'failed') return { is: 'stalled', on, why, remedy, ...at }
  const told = state === 'failing' || (phase === 'Pending' && message !== '')
  return { is: 'waiting', on, ...(told && { trouble: why, remedy }), ...at }
}

/** The condition belongs to what is replaced; its override is for whoever knows better. */
function held({ spec }: ClusterServiceVersion, message: string, namespace: string) {
  const name = spec?.replaces ?? 'NAME'
  return {
    why: `OLM holds the update, for the operator that is installed (${name}) says that it may not be replaced: ${message}`,
    remedy: [
      `kubectl -n ${namespace} get operatorconditions.operators.coreos.com ${name} -o yaml     says why`,
      `kubectl -n ${namespace} describe hyperconverged.hco.kubevirt.io     it goes on by itself once that is mended`,
    ],
  }
}
