import type { ReadContext, Step, StepState } from '../../procedure/step.ts'
import { minutes, seconds } from '../../system/units.ts'
import { ourRequest } from './kept-request.ts'
import { platformFollows, readPlatform } from './read-platform.ts'
import { isAccepted } from './at-stop.ts'
import { type GateOf, platformShut } from './platform-shut.ts'

/**
 * What has to be so before the platform goes to another minor (night E1): ClusterVersion and kubelet skew not False, HyperConverged good in every condition,
 * OperatorCondition not False. A patch release asks for the operator's part alone. Passed once the hop was accepted, and once it was asked for: then the platform
 * judges, and what it refuses is taken back behind the request.
 */
export function platformGate({ id, name, ...of }: GateOf & { id: string; name: string }): Step {
  return {
    id,
    title: `may the platform go to ${of.stop.version ?? of.stop.minor}`,
    patience: { every: 15 * seconds, atMost: 30 * minutes },
    estimate: 30 * seconds,
    follows: platformFollows,
    risk: { undo: 'none', safeToLeave: 'always' },
    async check({ reader, journal }: ReadContext): Promise<StepState> {
      const seen = await readPlatform(reader)
      if (isAccepted(seen.standing, of.stop)) return { is: 'done' }
      if (await ourRequest(journal, name, seen)) return { is: 'done', note: 'asked for already' }
      return (await platformShut(reader, of)) ?? { is: 'done' }
    },
  }
}
