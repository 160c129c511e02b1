import type { ClusterServiceVersion, Subscription } from '../kube/kinds/operator-kinds.ts'
import type { Known } from '../kube/known.ts'
import { condition } from '../kube/object.ts'
import { minutes } from '../kube/clock.ts'
import { since } from '../kube/timestamps.ts'
import { assessCsv } from './olm-status.ts'

/**
 * What a condition ResolutionFailed means. In every update OLM sets it on each Subscription of the namespace, because the CSV that is replaced exists and no
 * Subscription refers to it, and takes it back when it looks again after that CSV is gone.
 * `passing`: `by` replaces `csv` and gets on. `stale`: `csv` is gone, and OLM has not looked again: it does so at the next event of a Subscription, an
 * InstallPlan or a catalog, or after 15 minutes. `failed`: any other; `stuck` is a CSV that replaces the named one and does not get on.
 */
export type ResolutionStatus =
  | { is: 'passing'; csv: string; by: string }
  | { is: 'stale'; csv: string }
  | { is: 'failed'; stuck?: string }

const unreferenced =
  /clusterserviceversion (?<csv>[a-z0-9][a-z0-9.-]{0,252}) exists and is not referenced by a subscription/gu

/**
 * Pure; `csvs` are those of the Subscription's namespace, `at` is the time of the look. Undefined where the Subscription has no such condition. Where the CSVs are
 * not known, every such condition is a failure. The condition has no lastTransitionTime.
 */
export function assessResolution(
  subscription: Subscription,
  csvs: Known<ClusterServiceVersion>,
  at: Date,
): ResolutionStatus | undefined {
  const said = condition(subscription, 'ResolutionFailed')
  if (said?.status !== 'True') return undefined
  const names = said.reason === 'ConstraintsNotSatisfiable' ? namedIn(said.message) : []
  const [first] = names
  if (first === undefined || !csvs.known) return { is: 'failed' }
  const left = names.filter((name) => csvs.items.some(({ metadata }) => metadata.name === name))
  if (left.length === 0) return { is: 'stale', csv: first }
  const replaced = left.map((csv) => replacementOf(csv, csvs.items, at))
  return replaced.find(({ is }) => is === 'failed') ?? replaced[0] ?? { is: 'failed' }
}

const namedIn = (message = ''): string[] => [
  ...new Set([...message.matchAll(unreferenced)].map(({ groups }) => groups?.['csv'] ?? '')),
]

/** Until OLM has written the new CSV into the Subscription, it names that one instead of the one that is replaced. */
function replacementOf(csv: string, csvs: readonly ClusterServiceVersion[], at: Date): ResolutionStatus {
  const by = csvs.find(({ spec }) => spec?.replaces === csv) ?? csvs.find((one) => isNew(one, csv, csvs))
  if (by === undefined) return { is: 'failed' }
  const { name } = by.metadata
  const replaced = by.spec?.replaces ?? csv
  return getsOn(by, at) ? { is: 'passing', csv: replaced, by: name } : { is: 'failed', stuck: name }
}

const isNew = (
  { metadata, spec }: ClusterServiceVersion,
  csv: string,
  csvs: readonly ClusterServiceVersion[],
): boolean => metadata.name === csv && csvs.some((one) => one.metadata.name === spec?.replaces)

/** Requirements are there within a minute of the CSV; where nothing is found for so long, somebody has to look. */
const requirementsWithin = 10 * minutes

/**
 * OLM gives a CSV five minutes to install, and then tries again from the start for ever: such a CSV keeps out even the release that mends it. One that its
 * OperatorCondition holds back gets on by itself.
 */
function getsOn(csv: ClusterServiceVersion, at: Date): boolean {
  const { state, phase, since: from } = assessCsv(csv, at)
  if (state === 'failed' || hasTimedOut(csv)) return false
  return phase !== 'Pending' || state === 'held' || (since(from, at) ?? 0) < requirementsWithin
}

/** Since it was Succeeded: its conditions are a history, the newest last. */
function hasTimedOut({ status = {} }: ClusterServiceVersion): boolean {
  const { conditions = [], phase } = status
  if (phase === 'Succeeded') return false
  const last = conditions.findLastIndex((one) => one.phase === 'Succeeded')
  return conditions.slice(last + 1).some(({ reason }) => reason === 'InstallCheckFailed')
}

/** What is to be told of it where it is no fault. */
export function resolutionNote(resolution: ResolutionStatus | undefined): string | undefined {
  if (resolution === undefined || resolution.is === 'failed') return undefined
  return resolution.is === 'stale'
    ? `ResolutionFailed is stale: OLM has not resolved again since ${resolution.csv} went`
    : `OLM resolves nothing while ${resolution.by} replaces ${resolution.csv}: this is normal in every update`
}
