import { exitCode, type KvupError } from '../kube/errors.ts'

/** What became of a cluster in a fleet run. */
export interface FleetResult {
  name: string
  context: string
  uid: string
  /** 0 is the canary. */
  wave: number
  outcome: 'done' | 'nothing-to-do' | 'failed' | 'unreachable' | 'needs-person' | 'interrupted' | 'not-begun'
  /** What it ran when the plan was made. */
  from?: string
  /** RFC 3339, by the clock of the cluster. Absent where nothing was begun. */
  began?: string
  /** The same; of one that ended in this process, or in another one before. */
  ended?: string
  /** Of this process. */
  seconds?: number
  error?: { code: number; reason: string; message: string; remedy?: readonly string[] }
}

/** The end of `kvup fleet upgrade`. */
export interface FleetReport {
  apiVersion: 'kvup.io/v1alpha1'
  kind: 'FleetReport'
  /** Of the sealed fleet plan: what journals name the run by. */
  fleet: string
  to: string
  items: readonly FleetResult[]
}

/** Whether this cluster is as the plan wants it. */
export const isDone = ({ outcome }: Pick<FleetResult, 'outcome'>): boolean =>
  outcome === 'done' || outcome === 'nothing-to-do'

/** How a command on one cluster ended that failed. */
export function endedBy(error: KvupError): Pick<FleetResult, 'outcome' | 'error'> {
  const { exitCode: code, reason, message, remedy } = error
  const told = { code, reason, message, ...(remedy.length > 0 && { remedy }) }
  if (code === exitCode.interrupted || code === exitCode.terminated)
    return { outcome: 'interrupted', error: told }
  if (code === exitCode.unreachable) return { outcome: 'unreachable', error: told }
  // A finding, an approval, a plan that no longer fits: only a person decides how it goes on.
  // So is what another run is about to do: it is neither done nor failed.
  const isForPerson =
    code === exitCode.drifted ||
    code === exitCode.locked ||
    (code === exitCode.blocked && !isFault.has(reason))
  return { outcome: isForPerson ? 'needs-person' : 'failed', error: told }
}

/** Exit 3 where nobody has to decide: the cluster is not as it should be. What is not named here stops the run, which is the safe side. */
const isFault: ReadonlySet<string> = new Set(['degraded', 'not-healthy', 'undone', 'refused'])
