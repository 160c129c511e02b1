import { ClusterOperators } from '../../cluster/kinds/openshift.ts'
import { clusterOperatorStandings } from '../../facts/openshift/operator-standings.ts'
import type { PlatformStanding } from '../../facts/openshift/platform-standing.ts'
import type { Step, StepState } from '../../procedure/step.ts'
import { hours, minutes, seconds } from '../../system/units.ts'
import { platformFollows, readPlatform } from './read-platform.ts'
import { isReached, type Stop } from './at-stop.ts'

/**
 * Done once the history has the release as Completed and every ClusterOperator, whose versions that tells, is there: Available, neither Degraded nor Progressing. Degraded
 * and Failing=Unknown on the way are how an update looks (ocp 3.1).
 */
export function platformUpdated({ id, stop }: { id: string; stop: Stop }): Step {
  return {
    id,
    title: `platform ${stop.version ?? stop.minor}`,
    patience: { every: 15 * seconds, atMost: 12 * hours },
    estimate: 75 * minutes,
    follows: [...platformFollows, { kind: ClusterOperators, where: {} }],
    risk: {
      undo: 'none: a platform does not go back to an older minor',
      safeToLeave: 'always: it goes on by itself',
    },
    async check({ reader }): Promise<StepState> {
      const { standing } = await readPlatform(reader)
      if (!isReached(standing, stop)) return onItsWay(standing)
      if (standing.state !== 'idle') return { is: 'done', note: `at ${standing.target}` }
      const left = clusterOperatorStandings(await reader.list(ClusterOperators)).filter(
        ({ available, degraded, progressing }) => !available || degraded || progressing,
      )
      const [first] = left
      if (first === undefined) return { is: 'done', note: standing.version ?? '' }
      const words = first.degraded ?? first.progressing
      return {
        is: 'waiting',
        on: `${left.length} cluster operators, such as ${first.name}`,
        ...(words && words.message !== '' && { trouble: words.message }),
        remedy: ['oc get clusteroperators'],
      }
    },
  }
}

function onItsWay({ target, message, failing, since, slow, percent }: PlatformStanding): StepState {
  const on = `the platform to reach ${target ?? 'its release'}`
  const from = {
    ...(since !== undefined && { since }),
    ...(percent !== undefined && { progress: { done: percent, total: 100, share: true } as const }),
  }
  const remedy = ['oc adm upgrade', 'oc get clusteroperators']
  if (failing === 'True') return { is: 'stalled', on, why: message || 'Failing=True', remedy, ...from }
  const trouble = slow ?? message
  return { is: 'waiting', on, ...from, ...(trouble !== '' && { trouble, remedy }) }
}
