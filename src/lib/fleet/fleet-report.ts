import { exitCode, type KvupError } from '../kube/errors.ts'
import { counted } from '../kube/text.ts'

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

const words: Readonly<Record<FleetResult['outcome'], string>> = {
  failed: 'failed',
  unreachable: 'unreachable',
  'needs-person': 'needs a person',
  interrupted: 'interrupted',
  'not-begun': 'not begun',
  done: 'done',
  'nothing-to-do': 'nothing to do',
}

/** Each of them, the worst first. */
export const outcomes = Object.keys(words) as FleetResult['outcome'][]

/** What a person calls an outcome. Of one that is not known the text itself. */
export const resultWords = (outcome: string): string =>
  Object.hasOwn(words, outcome) ? words[outcome as FleetResult['outcome']] : outcome

/** `canary`, or the number of the wave. */
export const waveName = (wave: number | undefined): string =>
  wave === undefined ? '-' : wave === 0 ? 'canary' : String(wave)

/** `KubeVirt to v1.8.4 on 3 clusters: 1 failed, 2 done` */
export function fleetReportText({ to, items }: Pick<FleetReport, 'to' | 'items'>): string {
  const counts = outcomes.flatMap((outcome) => {
    const many = items.filter((one) => one.outcome === outcome).length
    return many === 0 ? [] : [`${many} ${words[outcome]}`]
  })
  return `KubeVirt to ${to} on ${counted(items.length, 'cluster')}: ${counts.join(', ')}`
}

/** How a command on one cluster ended that failed. */
export function endedBy(error: KvupError): Pick<FleetResult, 'outcome' | 'error'> {
  const { exitCode: code, reason, message, remedy } = error
  const told = { code, reason, message, ...(remedy.length > 0 && { remedy }) }
  if (code === exitCode.interrupted || code === exitCode.terminated)
    return { outcome: 'interrupted', error: told }
  if (code === exitCode.unreachable) return { outcome: 'unreachable', error: told }
  // A finding, an approval, a plan that no longer fits: only a person decides how it goes on.
  const isForPerson = code === exitCode.drifted || (code === exitCode.blocked && !isFault.has(reason))
  return { outcome: isForPerson ? 'needs-person' : 'failed', error: told }
}

/** Exit 3 where nobody has to decide: the cluster is not as it should be. */
const isFault: ReadonlySet<string> = new Set(['degraded', 'not-healthy', 'undone', 'refused'])
