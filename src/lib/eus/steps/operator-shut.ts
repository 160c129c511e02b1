import type { Reader } from '../../cluster/cluster.ts'
import type { HyperConverged } from '../../cluster/kinds/hyperconverged.ts'
import { condition } from '../../cluster/object.ts'
import { OperatorConditions } from '../../cluster/kinds/operator-lifecycle.ts'
import { findHyperConverged } from '../../facts/hyperconverged/find-hyperconverged.ts'
import { hyperConvergedStanding } from '../../facts/hyperconverged/hyperconverged-standing.ts'
import { itemsOf } from '../../facts/known.ts'
import { operatorConditionGate } from '../../facts/operator-lifecycle/operator-condition-gate.ts'
import { lookAtOperator } from '../../upgrade/olm/operator-scene.ts'
import { installedUnsettled } from './installed-unsettled.ts'
import { saidNo, type Shut, unread } from './shut.ts'

export interface SubscriptionRef {
  namespace: string
  name: string
  uid: string
}

/**
 * Why the operator holds the platform up; undefined where it does not. Every condition of HyperConverged is asked, for Upgradeable=True alone is said of one that is not
 * Available too (ocp 9.5). Where OLM keeps it there has to be one: none that is served is not the same as none.
 */
export async function operatorShut(
  reader: Reader,
  subscription: SubscriptionRef | undefined,
): Promise<Shut | undefined> {
  const found = await findHyperConverged(reader)
  const unseen = unread(found, 'HyperConverged lets the platform go on')
  if (unseen) return unseen
  const hcos = itemsOf(found)
  if (subscription !== undefined && hcos.length === 0) return missing(subscription)
  const unfit = hcos.map(notGood).find((shut) => shut !== undefined)
  return unfit ?? (subscription && heldByOperator(reader, subscription))
}

function notGood(hco: HyperConverged): Shut | undefined {
  const { good, why, name, namespace, current } = hyperConvergedStanding(hco)
  if (good) return undefined
  const on = `HyperConverged ${name} to be good in every condition`
  const remedy = [`oc -n ${namespace} get hyperconvergeds.hco.kubevirt.io ${name} -o yaml`]
  if (!current || isAtWork(hco)) return { is: 'waiting', on, trouble: why.join('; '), remedy }
  return { is: 'stalled', on, why: why.join('; '), remedy }
}

/** It reconciles, what kvup has just borrowed as well: that passes by itself, and is nobody's trouble yet. */
const isAtWork = (hco: HyperConverged): boolean =>
  condition(hco, 'Progressing')?.status === 'True' && condition(hco, 'Degraded')?.status !== 'True'

const missing = ({ namespace, name }: SubscriptionRef): Shut => ({
  is: 'blocked',
  reason: 'hyperconverged-missing',
  by: `subscriptions/${name} in namespace ${namespace} keeps the operator, but no HyperConverged is served in a version that kvup reads`,
  remedy: ['oc get hyperconvergeds.hco.kubevirt.io -A', 'oc api-resources --api-group=hco.kubevirt.io'],
})

/** The OperatorCondition bears the name of the CSV that is installed (ocp 1.8), which has to be Succeeded still. */
async function heldByOperator(reader: Reader, subscription: SubscriptionRef): Promise<Shut | undefined> {
  const { namespace } = subscription
  const scene = await lookAtOperator(reader, { subscription })
  const unsettled = installedUnsettled(scene)
  if (unsettled) return unsettled
  const name = scene.subscription.status?.installedCSV ?? ''
  const found = await reader.find(OperatorConditions, { name, namespace })
  // None lets everything through (ocp 2.5).
  if (found.is !== 'object') return undefined
  const show = `oc -n ${namespace} get operatorconditions.operators.coreos.com ${name} -o yaml`
  return saidNo(operatorConditionGate(found.object), 'the operator to be Upgradeable for OLM', show)
}
