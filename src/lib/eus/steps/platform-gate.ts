import type { ReadContext, Step, StepState } from '../../procedure/step.ts'
import type { Reader } from '../../cluster/cluster.ts'
import { OperatorConditions } from '../../cluster/kinds/operator-lifecycle.ts'
import type { Gate } from '../../facts/gate.ts'
import { findHyperConverged } from '../../facts/hyperconverged/find-hyperconverged.ts'
import { hyperConvergedStanding } from '../../facts/hyperconverged/hyperconverged-standing.ts'
import { itemsOf } from '../../facts/known.ts'
import { openGates } from '../../facts/openshift/admin-gates.ts'
import { kubeletSkew } from '../../facts/openshift/kubelet-skew.ts'
import { takePlatform } from '../../facts/openshift/take-platform.ts'
import { operatorConditionGate } from '../../facts/operator-lifecycle/operator-condition-gate.ts'
import { lookAtOperator } from '../../upgrade/olm/operator-scene.ts'
import { minutes, seconds } from '../../system/units.ts'
import { isAccepted, minorOf, platformFollows, readPlatform, type Stop } from './platform-now.ts'

export interface GateOf {
  id: string
  stop: Stop
  /** Of the operator; none where OLM does not keep it. */
  subscription: { namespace: string; name: string; uid: string } | undefined
}

type Shut = Extract<StepState, { is: 'blocked' | 'stalled' | 'waiting' }>

/**
 * What has to be so before the platform goes to another minor (night E1): ClusterVersion and kubelet skew not False, HyperConverged
 * Upgradeable == True, OperatorCondition not False. A patch release asks for the operator's part alone. Passed once the hop was accepted.
 */
export function platformGate(of: GateOf): Step {
  return {
    id: of.id,
    title: `may the platform go to ${of.stop.version ?? of.stop.minor}`,
    patience: { every: 15 * seconds, atMost: 30 * minutes },
    estimate: 30 * seconds,
    follows: platformFollows,
    risk: { undo: 'none', safeToLeave: 'always' },
    async check({ reader }: ReadContext): Promise<StepState> {
      const { standing } = await readPlatform(reader)
      if (isAccepted(standing, of.stop)) return { is: 'done' }
      const isMinor = minorOf(standing.target) !== of.stop.minor
      const shut = (isMinor ? await platformShut(reader) : undefined) ?? (await operatorShut(reader, of))
      return shut ?? { is: 'done' }
    },
  }
}

/** It says "no" as well while what was updated just now settles: so that is waited for, but an open admin gate is not. */
async function platformShut(reader: Reader): Promise<Shut | undefined> {
  const { clusterOperators, adminGates, adminAcks } = await takePlatform(reader, {
    parts: ['clusterOperators', 'adminGates', 'adminAcks'],
  })
  const { standing } = await readPlatform(reader)
  const [gate] = openGates(itemsOf(adminGates)[0], itemsOf(adminAcks)[0], minorOf(standing.target))
  if (gate)
    return {
      is: 'blocked',
      reason: 'admin-gate',
      by: `the gate ${gate.name} is open: ${gate.text}`,
      remedy: [
        `oc -n openshift-config patch configmap admin-acks --type=merge -p '{"data":{"${gate.name}":"true"}}'     once you have done what it says; kvup never acknowledges`,
      ],
    }
  return (
    no(standing.upgradeable, 'the ClusterVersion to be Upgradeable', 'oc adm upgrade') ??
    no(
      kubeletSkew(clusterOperators),
      'kube-apiserver to tolerate its kubelets',
      'oc get clusteroperator kube-apiserver -o yaml',
    )
  )
}

async function operatorShut(reader: Reader, { subscription }: GateOf): Promise<Shut | undefined> {
  const [hco] = itemsOf(await findHyperConverged(reader))
  if (hco === undefined) return undefined
  const { upgradeable, why, name, namespace } = hyperConvergedStanding(hco)
  if (upgradeable.is !== 'yes')
    return {
      is: 'stalled',
      on: 'HyperConverged to be Upgradeable',
      why: why[0] ?? upgradeable.message,
      remedy: [`oc -n ${namespace} get hyperconvergeds.hco.kubevirt.io ${name} -o yaml`],
    }
  return subscription && heldByOperator(reader, subscription)
}

/** The OperatorCondition bears the name of the CSV that is installed (ocp 1.8). */
async function heldByOperator(
  reader: Reader,
  subscription: NonNullable<GateOf['subscription']>,
): Promise<Shut | undefined> {
  const { namespace } = subscription
  const name = (await lookAtOperator(reader, { subscription })).subscription.status?.installedCSV
  if (name === undefined) return undefined
  const found = await reader.find(OperatorConditions, { name, namespace })
  if (found.is !== 'object') return undefined
  const show = `oc -n ${namespace} get operatorconditions.operators.coreos.com ${name} -o yaml`
  return no(operatorConditionGate(found.object), 'the operator to be Upgradeable for OLM', show)
}

function no(gate: Gate, on: string, show: string): Shut | undefined {
  if (gate.is !== 'no') return undefined
  return { is: 'stalled', on, why: gate.message || gate.reason, remedy: [show] }
}
