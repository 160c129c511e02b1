import type { ClusterOperator } from '../kube/kinds/openshift-kinds.ts'
import { hours, minutes } from '../kube/clock.ts'
import { since } from '../kube/timestamps.ts'
import {
  assessClusterOperators,
  type ClusterOperatorStatus,
  type PlatformStatus,
  type Trouble,
} from './platform-status.ts'

/** How bad a part of the platform is that is not available or degraded. */
type OperatorSeverity = 'info' | 'warning' | 'error'

/** How long a part of the platform may be degraded while it updates, and not available at any time: then a warning, then an error (ocp 4.2). */
const patience = {
  degraded: { warning: 5 * minutes, error: 40 * minutes },
  unavailable: { warning: 5 * minutes, error: 20 * minutes },
}

/** So long nothing of a platform that is being installed has to be there: installers wait for an hour at most, and it takes half of that. */
const installation = hours

/** Its operators come one after the other, and it says of itself that it fails until the last is there. */
export const isComingUp = ({ installing, since: from }: PlatformStatus, at: Date): boolean =>
  installing === true && (since(from, at) ?? installation) < installation

/** An operator that is not as it should be, its worst condition first. Of one that does not say since when nothing is overlooked. */
export interface BadOperator {
  operator: ClusterOperatorStatus
  /** What is told of it. */
  told: Trouble
  is: 'unavailable' | 'degraded'
  severity: OperatorSeverity
}

const weight: Record<OperatorSeverity, number> = { error: 0, warning: 1, info: 2 }

/** Those that are not available or degraded, the worst first. A platform at rest has no excuse for one that is degraded. */
export function badOperators(
  operators: readonly ClusterOperator[],
  { platformStatus, at }: { platformStatus: PlatformStatus | undefined; at: Date },
): readonly BadOperator[] {
  const updating = platformStatus !== undefined && platformStatus.state !== 'idle'
  const comesUp = platformStatus !== undefined && isComingUp(platformStatus, at)
  const severityOf = (is: BadOperator['is'], told: Trouble): OperatorSeverity => {
    if (comesUp) return 'info'
    return is === 'degraded' && !updating ? 'error' : grade(is, told, at)
  }
  return assessClusterOperators(operators)
    .flatMap((operator) => {
      const { available, degraded, unavailable = { message: 'its availability is unknown' } } = operator
      const found: BadOperator[] = [
        ...(available
          ? []
          : [
              {
                operator,
                told: unavailable,
                is: 'unavailable',
                severity: severityOf('unavailable', unavailable),
              } as const,
            ]),
        ...(degraded
          ? [
              {
                operator,
                told: degraded,
                is: 'degraded',
                severity: severityOf('degraded', degraded),
              } as const,
            ]
          : []),
      ]
      return found.toSorted((a, b) => weight[a.severity] - weight[b.severity]).slice(0, 1)
    })
    .toSorted((a, b) => weight[a.severity] - weight[b.severity])
}

function grade(is: BadOperator['is'], { since: from }: Trouble, at: Date): OperatorSeverity {
  const age = since(from, at)
  if (age === undefined || age >= patience[is].error) return 'error'
  return age >= patience[is].warning ? 'warning' : 'info'
}
