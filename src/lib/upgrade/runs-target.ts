import type { Standing } from '../facts/standing.ts'
import type { UpgradePlan } from './plan.ts'

type Goal = Pick<UpgradePlan, 'to' | 'method' | 'request'>

/** The operator says that it finished the target: its version, from the registry asked for, and by the manifest method its own too. */
export function isInstalled(
  { to, method, request }: Goal,
  { observed, operator }: Pick<Standing, 'observed' | 'operator'>,
): boolean {
  const operatorThere = method === 'image-tag' || operator?.version === to.text
  const registry = request.imageRegistry ?? observed.registry
  return observed.version === to.text && operatorThere && observed.registry === registry
}

/** Every component runs it as well, and nothing else is aimed at: of the upgrade only its end is left. Not so on the way back. */
export function runsTarget(
  goal: Goal,
  standing: Pick<Standing, 'observed' | 'operator' | 'target' | 'components'>,
): boolean {
  const { target, components } = standing
  const rolled = components.every(({ state }) => state === 'current' || state === 'absent')
  return isInstalled(goal, standing) && target.version === goal.to.text && rolled
}
