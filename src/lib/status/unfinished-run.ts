import type { Entry, Override, StepPlace } from '../engine/journal.ts'
import { stoppedBefore } from '../engine/journal-runs.ts'
import { spanText } from '../kube/duration.ts'
import { since } from '../kube/timestamps.ts'
import type { ShownHolder } from '../kubevirt/lease-holders.ts'
import { operatorVersionOf, versionOf } from '../releases/release-versions.ts'
import type { StatusReport } from './status-report.ts'

/** What a run is judged by: the journal claims, the cluster confirms. */
interface RunInputs {
  report: Pick<StatusReport, 'observed' | 'target' | 'generation'> & { installation?: { imageTag?: string } }
  entries?: readonly Entry[] | undefined
  overrides?: readonly Override[] | undefined
  running?: ShownHolder | undefined
}

/** A VM update that its canary stopped. */
export interface FailedCanary {
  /** `namespace/name` each. */
  vms: readonly string[]
  by: string
  /** RFC 3339. */
  at: string
  /** Why the first of them failed. */
  why: string
}

/**
 * The canary that failed in the last run, by its journal, which others can write: undefined unless the last migration of each VM that it names failed in the cluster as well (`failing`,
 * `namespace/name` each, outdated still).
 */
export function failedCanary(
  entries: readonly Entry[],
  failing: ReadonlySet<string>,
): FailedCanary | undefined {
  const run = lastRun(entries)
  if (run?.end !== 'failed' || run.procedure !== 'update workloads') return undefined
  const { by, at } = run
  const { text = '' } = entries.findLast(({ what }) => what === 'failed') ?? {}
  const { names = '', why = '' } =
    /^(?:canary: )?the canary failed: (?<names>[^\s,:/]+\/[^\s,:/]+(?:, [^\s,:/]+\/[^\s,:/]+)*): (?<why>.+)/u.exec(
      text,
    )?.groups ?? {}
  const vms = names.split(', ')
  return vms.every((vm) => failing.has(vm)) ? { vms, by, at, why } : undefined
}

/** A run of kvup that has begun, as the journal tells it. */
export interface BegunRun {
  procedure: string
  by: string
  /** RFC 3339: of its last entry. */
  at: string
  place?: StepPlace
  /** Absent of one that was killed, or is at work. */
  end?: 'finished' | 'failed' | 'interrupted'
  /** It was told to stop there. */
  isOnPurpose: boolean
  /** Its operator manifest was not the public one, which kvup finds by itself. */
  hasOwnManifest?: true
}

/** The last run that the journal tells of; undefined where it tells of none. */
export function lastRun(entries: readonly Entry[]): BegunRun | undefined {
  const began = entries.findLastIndex(({ what }) => what === 'started')
  const [first] = entries.slice(began)
  if (began < 0 || first === undefined) return undefined
  const own = entries.slice(began).filter(({ procedure }) => procedure === first.procedure)
  const last = own.findLast(({ what }) => what !== 'restored' && what !== 'closed') ?? first
  const place = own.findLast((entry) => entry.place !== undefined)?.place
  const { what } = last
  const isEnd = what === 'finished' || what === 'failed' || what === 'interrupted'
  // A change that the API server refused is no end of the run: what ends it comes after all others.
  return {
    procedure: first.procedure,
    by: last.by,
    at: last.at,
    ...(place && { place }),
    ...(isEnd && { end: what }),
    isOnPurpose: what === 'interrupted' && last.text.startsWith(stoppedBefore),
    // An earlier run may have applied it, and this one found it applied.
    ...(entries.some(({ procedure, text }) => procedure === first.procedure && ownManifest.test(text)) && {
      hasOwnManifest: true,
    }),
  }
}

/** `apply FILE-OR-URL (sha256 …)`: no more than whether it is public is taken from the journal, for others can write it. */
const ownManifest = /^apply (?!https:\/\/github\.com\/kubevirt\/kubevirt\/releases\/)\S.* \(sha256 /u

/** A run that ended early and left something to finish: the cluster says so as well. */
export interface Unfinished extends BegunRun {
  /** The release that an upgrade leads to. */
  to: string
}

/**
 * An upgrade that did not come to its end: KubeVirt is on its way to that release, or the settings that the run changed are noted on their objects. The journal alone is believed nothing, for
 * others can write it; where it was deleted the note on the object says who began, and when.
 */
export function interruptedRun(inputs: RunInputs): Unfinished | undefined {
  const { entries = [], running: holder } = inputs
  if (holder !== undefined && !holder.gone) return undefined
  const run = lastRun(entries)
  if (run?.end === 'finished') return undefined
  return (run && confirmedRun(run, inputs)) ?? notedRun(inputs)
}

/** The cluster says what the journal says: settings are noted for that run, or KubeVirt is on its way there. */
function confirmedRun(run: BegunRun, { report, overrides = [] }: RunInputs): Unfinished | undefined {
  const { observed } = report
  const to = targetOf(run.procedure)
  if (to === undefined) return undefined
  const isNoted = overrides.some(({ procedure }) => procedure === run.procedure)
  const isUnderWay = goalOf(report) === to && observed?.version !== to
  return isNoted || isUnderWay ? { ...run, to } : undefined
}

/** Where KubeVirt is to go: what its spec asks for, as long as virt-operator has not taken that as its target. */
export function goalOf({
  observed,
  target,
  generation,
  installation,
}: RunInputs['report']): string | undefined {
  const isTaken = generation === undefined || generation.spec === generation.observed
  if (isTaken || (target?.version !== undefined && target.version !== observed?.version))
    return target?.version
  return versionOf(installation?.imageTag)?.text ?? target?.version
}

/** Settings are noted for an upgrade to what is not installed; no journal tells of it. */
function notedRun({ report: { observed }, overrides = [] }: RunInputs): Unfinished | undefined {
  for (const { procedure, by, at } of overrides) {
    const to = targetOf(procedure)
    if (to !== undefined && versionOf(to) !== undefined && to !== observed?.version)
      return { procedure, by, at, isOnPurpose: false, to }
  }
  return undefined
}

/** The release in the name of an upgrade; undefined of any other procedure, and of what is no version. */
function targetOf(procedure: string): string | undefined {
  const { olm, to } = /^upgrade (?<olm>HyperConverged )?to (?<to>\S+)$/u.exec(procedure)?.groups ?? {}
  return (olm === undefined ? versionOf(to) : operatorVersionOf(to))?.text
}

/** `interrupted by root@jump 57s ago, at step 3 of 5`. */
export function endText({ end, by, at, place, isOnPurpose }: BegunRun, takenAt: string): string {
  const word = isOnPurpose ? 'stopped as asked' : 'interrupted'
  const before = isOnPurpose ? 'before' : end === undefined ? 'after it began' : 'at'
  const where = place === undefined ? '' : `, ${before} step ${place.step} of ${place.of}`
  return end === 'failed'
    ? `given up ${agoText(at, takenAt)}${where} (run by ${by})`
    : `${word} by ${by} ${agoText(at, takenAt)}${where}`
}

/** Below so many ms nobody counts. */
const justNow = 5000

const agoText = (from: string, at: string): string =>
  (since(from, new Date(at)) ?? 0) < justNow ? 'just now' : `${spanOf(from, at)} ago`

/** Between two times: `57s`, `2d3h`. */
export const spanOf = (from: string, at: string): string => spanText(since(from, new Date(at)) ?? 0)
