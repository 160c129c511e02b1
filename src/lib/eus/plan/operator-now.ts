import type { HyperConverged } from '../../cluster/kinds/hyperconverged.ts'
import { hyperConvergedStanding } from '../../facts/hyperconverged/hyperconverged-standing.ts'
import { itemsOf } from '../../facts/known.ts'
import {
  type SubscriptionStanding,
  subscriptionStanding,
} from '../../facts/operator-lifecycle/subscription-standing.ts'
import { platformOfOperator } from '../../releases/bundled.ts'
import { operatorVersionOf, versionOfCsv } from '../../releases/operator-version.ts'
import type { Releases } from '../../releases/releases.ts'
import type { ObjectRef, OperatorNow } from '../eus-plan.ts'
import type { EusEvidence } from './evidence.ts'

/** The one Subscription of the package, if it is one. */
export function subscriptionOf({ lifecycle }: EusEvidence): SubscriptionStanding | undefined {
  const [one, second] = itemsOf(lifecycle.subscriptions)
  return one && !second ? subscriptionStanding(one) : undefined
}

/** Undefined without a Subscription, or with several. */
export function operatorNow(evidence: EusEvidence): OperatorNow | undefined {
  const standing = subscriptionOf(evidence)
  const [object] = itemsOf(evidence.lifecycle.subscriptions)
  if (standing === undefined || object === undefined) return undefined
  const { namespace, name, channel, approval, installed } = standing
  const version = operatorVersion(evidence)
  return {
    package: standing.package,
    subscription: { namespace, name, uid: object.metadata.uid ?? '' },
    ...(channel !== undefined && { channel }),
    approval,
    ...(version !== undefined && { version }),
    ...(installed !== undefined && { csv: installed }),
  }
}

/** By the HyperConverged, which says it when all is through; else by the CSV that is there (ocp 9.7). */
function operatorVersion(evidence: EusEvidence): string | undefined {
  const [hco] = itemsOf(evidence.hyperconverged)
  const said = hco && hyperConvergedStanding(hco).operatorVersion
  return said ?? versionOfCsv(subscriptionOf(evidence)?.installed)?.text
}

/** The platform's minor that the operator belongs to (night E8); undefined where no version or no row of the table tells. */
export function operatorMinorNow(
  evidence: EusEvidence,
  releases: Pick<Releases, 'hyperconverged'>,
): string | undefined {
  const version = operatorVersionOf(operatorVersion(evidence))
  return version && platformOfOperator(version, releases)
}

/** Which HyperConverged and KubeVirt a plan is about; several are a finding. */
export function objectsOf({ hyperconverged, kubevirts }: EusEvidence): {
  hyperconverged?: ObjectRef
  kubevirt?: ObjectRef
} {
  const [hco] = itemsOf(hyperconverged)
  const [kubevirt] = itemsOf(kubevirts)
  return {
    ...(hco && { hyperconverged: refOf('hyperconvergeds', hco) }),
    ...(kubevirt && { kubevirt: refOf('kubevirts', kubevirt) }),
  }
}

function refOf(resource: string, { metadata }: Pick<HyperConverged, 'metadata'>): ObjectRef {
  return { resource, namespace: metadata.namespace ?? '', name: metadata.name, uid: metadata.uid ?? '' }
}
