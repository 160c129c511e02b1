import { findHyperConverged } from '../../facts/hyperconverged/find-hyperconverged.ts'
import { hyperConvergedStanding } from '../../facts/hyperconverged/hyperconverged-standing.ts'
import { itemsOf } from '../../facts/known.ts'
import type { Reader } from '../../cluster/cluster.ts'
import { platformOfOperator } from '../../releases/bundled.ts'
import { operatorVersionOf } from '../../releases/operator-version.ts'
import type { Releases } from '../../releases/releases.ts'
import type { Step, StepState } from '../../procedure/step.ts'
import { minutes, seconds } from '../../system/units.ts'
import { lookAtOperator } from '../../upgrade/olm/operator-scene.ts'
import { installedUnsettled } from './installed-unsettled.ts'
import type { OperatorPart } from './operator-part.ts'

type Rows = Pick<Releases, 'hyperconverged'>

/** After each hop the operator's minor is that of the platform (night E8), its CSV is Succeeded, and every condition of HyperConverged is as it must be. */
export function operatorInStep({ minor, operator }: OperatorPart, releases: Rows): Step {
  const { namespace } = operator.subscription
  return {
    id: `operator-${minor}`,
    title: `virtualization ${minor}`,
    patience: { every: 15 * seconds, atMost: 60 * minutes },
    estimate: 15 * minutes,
    follows: [],
    risk: { undo: 'none: OLM knows no way back', safeToLeave: 'always' },
    async check({ reader }): Promise<StepState> {
      const now = await operatorMinorIn(reader, releases)
      const remedy = [`oc -n ${namespace} get hyperconvergeds.hco.kubevirt.io -o yaml`]
      if (now.minor !== minor)
        return {
          is: 'waiting',
          on: `HyperConverged to be of ${minor}, it is ${now.version ?? 'unknown'}`,
          remedy,
        }
      const unsettled = installedUnsettled(await lookAtOperator(reader, operator))
      if (unsettled) return unsettled
      const [why] = now.why
      return why === undefined
        ? { is: 'done', note: now.version ?? '' }
        : { is: 'waiting', on: 'HyperConverged to be well', trouble: why, remedy }
    },
  }
}

/** By the version whose operands are all there, not by the CSV (ocp 9.7). */
export async function operatorMinorIn(
  reader: Reader,
  releases: Rows,
): Promise<{ version?: string; minor?: string; why: readonly string[] }> {
  const found = await findHyperConverged(reader)
  const [hco] = itemsOf(found)
  if (hco === undefined) return { why: [found.known ? 'there is no HyperConverged' : found.why] }
  const { operatorVersion, why } = hyperConvergedStanding(hco)
  const version = operatorVersionOf(operatorVersion)
  const minor = version && platformOfOperator(version, releases)
  return {
    why,
    ...(operatorVersion !== undefined && { version: operatorVersion }),
    ...(minor !== undefined && { minor }),
  }
}
