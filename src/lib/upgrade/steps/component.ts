import type { ComponentStanding } from '../../facts/component-standing.ts'
import type { Standing } from '../../facts/standing.ts'
import type { Step, StepState } from '../../procedure/step.ts'
import type { Owner } from '../../workloads/update-methods.ts'
import { look, lookFollows } from '../look.ts'
import { aimedAt } from './install-strategy.ts'
import { stalledOr } from './stalled.ts'
import { minutes, seconds } from '../../system/units.ts'

/** Waits for one DaemonSet or Deployment of KubeVirt to run the target everywhere. `expectedMs` is only an estimate. */
export function componentRolled(
  owner: Owner,
  { name, version, undo, expectedMs }: { name: string; version: string; undo: string; expectedMs: number },
): Step {
  return {
    id: name,
    title: name,
    patience: { every: 10 * seconds, atMost: 12 * 60 * minutes },
    estimate: expectedMs,
    follows: lookFollows(owner),
    risk: { undo, safeToLeave: 'the operator goes on by itself' },
    async check(cx): Promise<StepState> {
      const { standing } = await look(cx, owner)
      if (!aimedAt(standing, version))
        return { is: 'waiting', on: `virt-operator to take ${version} as its target` }
      const component = standing.components.find((c) => c.name === name)
      if (!component || component.state === 'absent') return { is: 'done', note: 'not part of this version' }
      const progress = { done: Math.min(component.updated, component.desired), total: component.desired }
      if (component.state === 'current')
        return { is: 'done', note: `${component.updated}/${component.desired}` }
      return stalledOr(standing, name, { is: 'waiting', on: waitedFor(standing, component), progress })
    },
  }
}

/** Without the component's name and count, which are said beside it. */
function waitedFor({ waitingFor }: Standing, { name, state, detail }: ComponentStanding): string {
  if (waitingFor === undefined) return name
  if (!waitingFor.startsWith(`${name}: `)) return waitingFor
  return state === 'waiting' ? 'its turn' : detail || 'its pods to be ready'
}
