import { condition } from '../../../cluster/object.ts'
import type { HyperConverged } from '../../../cluster/kinds/hyperconverged.ts'
import { HyperConvergeds } from '../../../cluster/kinds/hyperconverged.ts'
import { OperatorConditions } from '../../../cluster/kinds/operator-lifecycle.ts'
import { hyperConvergedStanding } from '../../../facts/hyperconverged/hyperconverged-standing.ts'
import { operatorConditionGate } from '../../../facts/operator-lifecycle/operator-condition-gate.ts'
import type { ReadContext, Step, StepState } from '../../../procedure/step.ts'
import { operatorMinor, operatorVersionOf, versionOfCsv } from '../../../releases/operator-version.ts'
import { minutes, seconds } from '../../../system/units.ts'
import { hyperConvergedIn } from '../hyperconverged-in.ts'
import { type HopTools, labelOf, type OperatorHop } from '../operator-hop-types.ts'
import { isEntered, lookAtOperator, type OperatorScene, sceneFollows } from '../operator-scene.ts'
import { platformNow } from '../platform-now.ts'

/**
 * Night E1 for an operator hop: the platform stands still, HyperConverged is good in every condition, and the OperatorCondition of what is
 * installed does not forbid it. OLM itself looks at the last alone, and only when it is too late (ocp 1.8). What the platform says of its
 * own next minor is not waited for: it may wait for this very hop.
 */
export function gate(hop: OperatorHop, tools: HopTools): Step {
  const { namespace } = hop.subscription
  return {
    id: `gate-${labelOf(hop)}`,
    title: `gate to ${hop.version}`,
    patience: { every: 10 * seconds, atMost: 60 * minutes },
    estimate: 5 * seconds,
    follows: [...sceneFollows(hop), { kind: HyperConvergeds, where: { namespace } }],
    risk: { undo: 'none', safeToLeave: 'always' },
    async check(cx): Promise<StepState> {
      const scene = await lookAtOperator(cx.reader, hop)
      if (isEntered(scene, hop) || isApproved(scene, hop)) return { is: 'done' }
      return (await gateShut(cx, scene, { hop, tools })) ?? { is: 'done' }
    },
  }
}

function isApproved({ plan }: OperatorScene, { csv }: OperatorHop): boolean {
  return plan?.spec?.approved === true && plan.spec.clusterServiceVersionNames?.includes(csv) === true
}

type Waiting = Extract<StepState, { is: 'waiting' }>

interface Going {
  hop: OperatorHop
  tools: HopTools
}

/** The first thing that is in the way; undefined where nothing is. Asked for at the gate, and once more right before the approval. */
export async function gateShut(
  cx: Pick<ReadContext, 'reader'>,
  scene: OperatorScene,
  going: Going,
): Promise<Waiting | undefined> {
  const { busy } = await platformNow(cx.reader)
  if (busy !== undefined)
    return {
      is: 'waiting',
      on: 'the platform to stand still',
      trouble: busy,
      remedy: ['oc get clusterversion,clusteroperators,machineconfigpools'],
    }
  const { namespace } = going.hop.subscription
  const hco = await hyperConvergedIn(cx.reader, namespace)
  return unfit(hco, scene, going) ?? (await forbiddenByOperator(cx, scene, namespace))
}

function unfit(
  hco: HyperConverged,
  { subscription }: OperatorScene,
  { hop, tools }: Going,
): Waiting | undefined {
  const { good, why } = hyperConvergedStanding(hco)
  if (good) return undefined
  const { name, namespace = '' } = hco.metadata
  const show = `kubectl -n ${namespace} describe hyperconverged.hco.kubevirt.io ${name}`
  const isRepair = isDegraded(hco) && isPatch(subscription.status?.installedCSV, hop.version)
  if (isRepair && tools.accepted.includes('hyperconverged-degraded')) return undefined
  const repair = `${tools.command} --accept hyperconverged-degraded     where this release is what repairs it`
  return {
    is: 'waiting',
    on: `HyperConverged ${name} to be good in every condition`,
    trouble: why.join('; '),
    remedy: isRepair ? [show, repair] : [show],
  }
}

const isDegraded = (hco: HyperConverged): boolean => condition(hco, 'Degraded')?.status === 'True'

/** Another release of the minor that is installed. */
function isPatch(installedCsv: string | undefined, to: string): boolean {
  const [installed, wanted] = [versionOfCsv(installedCsv), operatorVersionOf(to)]
  return installed !== undefined && wanted !== undefined && operatorMinor(installed) === operatorMinor(wanted)
}

/** It bears the name of the CSV that is installed; where there is none, OLM lets everything through (ocp 2.5). */
async function forbiddenByOperator(
  { reader }: Pick<ReadContext, 'reader'>,
  { subscription }: OperatorScene,
  namespace: string,
): Promise<Waiting | undefined> {
  const name = subscription.status?.installedCSV
  if (name === undefined) return undefined
  const found = await reader.find(OperatorConditions, { name, namespace })
  if (found.is !== 'object') return undefined
  const said = operatorConditionGate(found.object)
  if (said.is === 'yes') return undefined
  return {
    is: 'waiting',
    on: `operatorconditions/${name} to let it be replaced`,
    trouble: `${said.reason}: ${said.message}`,
    remedy: [`kubectl -n ${namespace} get operatorconditions.operators.coreos.com ${name} -o yaml`],
  }
}
