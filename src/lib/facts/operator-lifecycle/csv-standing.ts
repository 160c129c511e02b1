import type { ClusterServiceVersion } from '../../cluster/kinds/operator-lifecycle.ts'
import { filled } from '../filled.ts'
import { since } from '../elapsed.ts'

/** Where a ClusterServiceVersion stands (ocp 2.4). */
export interface CsvStanding {
  name: string
  version?: string
  phase: string
  /**
   * `held`: OLM waits for the OperatorCondition of the one before. `failing`: Failed, which mends itself more often than not;
   * `failed`: Failed for longer than that, or for a reason that nothing mends. `leaving`: replaced, or being removed.
   */
  state: 'succeeded' | 'going' | 'held' | 'failing' | 'failed' | 'leaving'
  reason: string
  message: string
  /** RFC 3339: since when it is in this phase. */
  since?: string
  /** RFC 3339: since when it has not been Succeeded; a CSV flips between Failed, Pending and Installing. */
  unsettledSince?: string
}

/** How long it may be without success and still be about to have it (ocp 5.1: ten minutes are usual). */
const failurePatience = 10 * 60_000

const lasting = new Set([
  'NoOperatorGroup',
  'TooManyOperatorGroups',
  'UnsupportedOperatorGroup',
  'InvalidInstallModes',
  'InvalidStrategy',
  'InvalidWebhookDescription',
  'OwnerConflict',
  'InterOperatorGroupOwnerConflict',
  'CannotModifyStaticOperatorGroupProvidedAPIs',
])

export const heldReason = 'OperatorConditionNotUpgradeable'

/** Pure; `at` is the time of the look. */
export function csvStanding(csv: ClusterServiceVersion, at: Date): CsvStanding {
  const { phase = '', reason = '', message = '', lastTransitionTime } = csv.status ?? {}
  const unsettledSince = unsettled(csv)
  return {
    name: csv.metadata.name,
    phase,
    state: stateOf(csv, since(unsettledSince, at) ?? 0),
    reason,
    message,
    ...filled({ version: csv.spec?.version, since: lastTransitionTime, unsettledSince }),
  }
}

function stateOf({ status = {} }: ClusterServiceVersion, unsettledFor: number): CsvStanding['state'] {
  const { phase, reason = '' } = status
  if (phase === 'Succeeded') return 'succeeded'
  if (phase === 'Replacing' || phase === 'Deleting') return 'leaving'
  if (reason === heldReason) return 'held'
  if (phase !== 'Failed') return 'going'
  return lasting.has(reason) || unsettledFor >= failurePatience ? 'failed' : 'failing'
}

/** The oldest of the entries since the last Succeeded: its conditions are a history, the newest last. */
function unsettled({ status = {}, metadata }: ClusterServiceVersion): string | undefined {
  if (status.phase === 'Succeeded') return undefined
  const { conditions = [] } = status
  const last = conditions.findLastIndex(({ phase }) => phase === 'Succeeded')
  return conditions[last + 1]?.lastTransitionTime ?? status.lastTransitionTime ?? metadata.creationTimestamp
}
