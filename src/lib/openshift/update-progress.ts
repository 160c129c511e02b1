import type { ClusterOperator, ClusterVersion, UpdateHistory } from '../kube/kinds/openshift-kinds.ts'
import { hours, minutes } from '../kube/clock.ts'
import { spanText } from '../kube/duration.ts'
import type { Known } from '../kube/known.ts'
import { filled } from '../kube/known.ts'
import { someOf } from '../kube/text.ts'
import { latest, since } from '../kube/timestamps.ts'
import { assessClusterOperators, type PlatformStatus } from './platform-status.ts'

/** How far an update of the platform is, in numbers; also while it fails. */
export interface UpdateProgress {
  /** Of the operators of the platform; absent where they are not known, or their versions do not tell, as of a change of architecture. */
  operators?: OperatorCounts
  /** Of the manifests that the cluster version operator applies, 0 to 100, where it says so. */
  manifestsPercent?: number
  /** RFC 3339. */
  started?: string
  elapsedSeconds?: number
  /** `slow`: past what its own updates took. `stalled`: far past it, or past it with nothing that moves. */
  pace: 'as-usual' | 'slow' | 'stalled' | 'unknown'
  /** At least. Absent where it is not known, and in an update that fails or stalls. */
  leftSeconds?: number
  overdueSeconds?: number
  /** What an update of this cluster takes: the longer of its last one and the median. */
  usual: {
    seconds: number
    by: 'own-updates' | 'guess'
    updates: number
    lastSeconds?: number
    medianSeconds?: number
  }
}

interface OperatorCounts {
  total: number
  updated: number
  /** Names of those that are at it. */
  updating: readonly string[]
  /** How many have not begun. */
  waiting: number
  /** Those that are of another version still, and which. */
  outdated: readonly { name: string; version?: string }[]
  /** Updated ones of all, 0 to 100. */
  percent: number
}

/** An update of a platform that nothing is known of (ocp 4.2). */
const guess = hours
/** A shorter one was none between releases that differ much. */
const least = 10 * minutes
/** So much later than usual an update may be before it is slow. */
const tolerance = 1.2
/** Slow and without any change for so long, or so many times the usual: it does not get on. */
const quietFor = 30 * minutes
const farBeyond = 4

/** What the updates of a cluster took, ms, from its history: the last, and the median of all. The oldest entry is the installation. Undefined without any. */
export function ownUpdates(
  history: readonly UpdateHistory[],
): { last: number; median: number; count: number } | undefined {
  const spans = history.slice(0, -1).flatMap(spanOf)
  const [last] = spans
  if (last === undefined) return undefined
  const sorted = spans.toSorted((a, b) => a - b)
  const middle = Math.floor(sorted.length / 2)
  const upper = sorted[middle] ?? last
  const median = sorted.length % 2 === 1 ? upper : (upper + (sorted[middle - 1] ?? upper)) / 2
  return { last, median, count: spans.length }
}

function spanOf({ state, startedTime, completionTime }: UpdateHistory): number[] {
  if (state !== 'Completed' || !startedTime || !completionTime) return []
  const span = Date.parse(completionTime) - Date.parse(startedTime)
  return span >= least ? [span] : []
}

interface Inputs {
  cv: ClusterVersion
  platformStatus: PlatformStatus
  operators: Known<ClusterOperator>
  at: Date
}

/** Undefined where no update is under way. Pure. */
export function updateProgress({ cv, platformStatus, operators, at }: Inputs): UpdateProgress | undefined {
  const { state, since: started, percent, failing, sameVersion } = platformStatus
  if (state === 'idle') return undefined
  const counts =
    operators.known && sameVersion === undefined
      ? operatorCounts(operators.items, platformStatus.target)
      : undefined
  const usual = usualTime(cv)
  const elapsed = since(started, at)
  const overdue = elapsed === undefined ? 0 : elapsed - usual.ms * tolerance
  const pace = paceOf({ elapsed, overdue, usual: usual.ms, quiet: quietTime(cv, operators, at) })
  // Of an installation, or a change of the architecture alone, no update before it tells anything.
  const isTold = failing !== 'True' && state !== 'partial' && pace !== 'stalled' && isUsual(platformStatus)
  const left = isTold ? leftOf(usual.least, elapsed, counts) : undefined
  return {
    ...filled({ operators: counts, manifestsPercent: percent, started }),
    ...(elapsed !== undefined && { elapsedSeconds: inSeconds(elapsed) }),
    pace,
    ...(left !== undefined && { leftSeconds: inSeconds(left) }),
    ...(overdue > 0 && { overdueSeconds: inSeconds(overdue) }),
    usual: usual.told,
  }
}

const isUsual = ({ sameVersion, installing }: PlatformStatus): boolean =>
  sameVersion === undefined && !installing

const inSeconds = (ms: number): number => Math.round(ms / 1000)

function operatorCounts(operators: readonly ClusterOperator[], target = ''): OperatorCounts | undefined {
  if (operators.length === 0) return undefined
  const all = assessClusterOperators(operators)
  const outdated = all.filter(({ version }) => version !== target)
  const updating = outdated.filter(({ progressing }) => progressing !== undefined).map(({ name }) => name)
  const updated = all.length - outdated.length
  return {
    total: all.length,
    updated,
    updating,
    waiting: outdated.length - updating.length,
    outdated: outdated.map(
      ({ name, version }) => filled({ name, version }) as { name: string; version?: string },
    ),
    percent: updated === all.length ? 100 : Math.min(99, Math.round((100 * updated) / all.length)),
  }
}

/** What an update takes, ms: when it is late, and what it takes at least, for one of many may have taken days. */
interface UsualTime {
  ms: number
  least: number
  told: UpdateProgress['usual']
}

function usualTime({ status }: ClusterVersion): UsualTime {
  const own = ownUpdates(status?.history ?? [])
  if (own === undefined)
    return { ms: guess, least: guess, told: { seconds: inSeconds(guess), by: 'guess', updates: 0 } }
  const ms = Math.max(own.last, own.median)
  return {
    ms,
    least: Math.min(own.last, own.median),
    told: {
      seconds: inSeconds(ms),
      by: 'own-updates',
      updates: own.count,
      lastSeconds: inSeconds(own.last),
      medianSeconds: inSeconds(own.median),
    },
  }
}

/** Since the last change of any condition that tells of the update. */
function quietTime(
  { status }: ClusterVersion,
  operators: Known<ClusterOperator>,
  at: Date,
): number | undefined {
  const all = [
    ...(status?.conditions ?? []).filter(({ type }) => type === 'Progressing' || type === 'Failing'),
    ...(operators.known ? operators.items.flatMap((operator) => operator.status?.conditions ?? []) : []),
  ]
  return since(latest(all.map(({ lastTransitionTime }) => lastTransitionTime)), at)
}

interface Times {
  elapsed: number | undefined
  overdue: number
  usual: number
  quiet: number | undefined
}

function paceOf({ elapsed, overdue, usual, quiet }: Times): UpdateProgress['pace'] {
  if (elapsed === undefined) return 'unknown'
  if (overdue <= 0) return 'as-usual'
  return elapsed >= farBeyond * usual || (quiet ?? 0) >= quietFor ? 'stalled' : 'slow'
}

/** The last few operators, with the reboots of the control plane, take a third of the time (ocp 4.2): by the operators where they are known, else by the clock. */
function leftOf(
  usual: number,
  elapsed: number | undefined,
  counts: OperatorCounts | undefined,
): number | undefined {
  if (counts === undefined) return elapsed === undefined ? undefined : Math.max(0, usual - elapsed)
  const done = counts.updated / counts.total
  const ofTime = done < 0.97 ? done * (0.67 / 0.97) : 0.67 + ((done - 0.97) / 0.03) * 0.33
  return usual * (1 - ofTime)
}

/** To the minute: an estimate is no better than that. */
const span = (seconds: number): string => spanText(Math.max(1, Math.round(seconds / 60)) * minutes)

/** `operators: 12 of 33 updated (36%), etcd is updating, 20 wait`, and what is left of the time. */
export function progressLines({
  operators,
  pace,
  elapsedSeconds,
  leftSeconds,
  usual,
}: UpdateProgress): readonly string[] {
  const took =
    usual.by === 'guess'
      ? `an update takes ${span(usual.seconds)} usually`
      : `its last update took ${span(usual.lastSeconds ?? 0)}${usual.updates > 1 ? `, the median of ${usual.updates} ${span(usual.medianSeconds ?? 0)}` : ''}`
  const late = pace === 'slow' || pace === 'stalled'
  const time = [
    ...(late && elapsedSeconds !== undefined ? [`${pace}: running for ${span(elapsedSeconds)}`] : []),
    ...(leftSeconds !== undefined && leftSeconds > 0 ? [`at least ${span(leftSeconds)} left`] : []),
  ]
  return [
    ...(operators ? [operatorsLine(operators)] : []),
    ...(time.length > 0 ? [`${time.join(', ')} (${took})`] : []),
  ]
}

function operatorsLine({ total, updated, percent, updating, waiting }: OperatorCounts): string {
  const now = updating.length > 0 ? [`updating now: ${someOf(updating)}`] : []
  return [`operators: ${updated} of ${total} updated (${percent}%)`, ...now, `${waiting} waiting`].join(', ')
}
