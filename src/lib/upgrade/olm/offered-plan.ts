import type { Reader } from '../../cluster/cluster.ts'
import type { InstallPlan } from '../../cluster/kinds/operator-lifecycle.ts'
import type { StepState } from '../../procedure/step.ts'
import { judgedPlan } from './judged-plan.ts'
import type { HopTools, OperatorHop } from './operator-hop-types.ts'
import { isBetween, type OperatorScene } from './operator-scene.ts'

/** What the InstallPlan that OLM offers is to a hop. `not-yet`: it may become right; `first`: another release, on the way to it. */
type OfferedPlan =
  | { is: 'right' }
  | { is: 'first'; csv: string }
  | { is: 'not-yet'; why: string }
  | { is: 'wrong'; blocked: Extract<StepState, { is: 'blocked' }> }

interface Question {
  scene: OperatorScene
  plan: InstallPlan
  hop: OperatorHop
  tools: HopTools
}

/** Holds it to night E4; one that is approved already is right. */
export async function offeredPlan(reader: Reader, question: Question): Promise<OfferedPlan> {
  const { verdict, blocked } = await judgedPlan(reader, question)
  const first = verdict.is === 'wrong' ? onTheWay(question, verdict.offers) : undefined
  if (first !== undefined) return { is: 'first', csv: first }
  if (blocked !== undefined) return { is: 'wrong', blocked }
  return verdict.is === 'not-yet' ? verdict : { is: 'right' }
}

/** A release between what is installed and this hop, where that was not known beforehand. */
function onTheWay({ scene, hop }: Question, offers: string | undefined): string | undefined {
  const { installedCSV } = scene.subscription.status ?? {}
  return hop.mayPassOthers === true && isBetween(offers, installedCSV, hop.csv) ? offers : undefined
}
