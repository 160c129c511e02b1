import { seconds } from '../kube/clock.ts'
import { type FleetResult, isDone } from './fleet-report.ts'
import { stopLimit } from './fleet-waves.ts'

/** What ends a fleet run, and the cluster that it is about. */
interface Stop {
  what: string
  worst: FleetResult
}

/** Those that count against the rules: begun or not reachable, and not as the plan wants them. Pure. */
export const failuresOf = (results: readonly FleetResult[]): readonly FleetResult[] =>
  results.filter((one) => !isDone(one) && one.outcome !== 'not-begun')

/** Those that a run has to bring to their goal before it is a success: all, or the one that it is about. Pure. */
export const leftOf = (results: readonly FleetResult[], only?: string): readonly FleetResult[] =>
  results.filter((one) => !isDone(one) && (only === undefined || one.name === only))

/**
 * The rule that ends the run here: any failure of the canary, a person who is needed, an alert, or as many failures as end it. Of all clusters of the plan, whether
 * their turn has come or not. Absent: it may go on, and begin further clusters. Throws `usage` where the plan has no such rule. Pure.
 */
export function stopOf(results: readonly FleetResult[], stopAfter: string): Stop | undefined {
  const failures = failuresOf(results)
  const limit = stopLimit(stopAfter, results.length)
  const rules: readonly (readonly [what: string, worst: FleetResult | undefined])[] = [
    ['the canary failed', failures.find(({ wave }) => wave === 0)],
    ['a person is needed', failures.find(({ outcome }) => outcome === 'needs-person')],
    ['--stop-on-alert', failures.find(({ error }) => alarms.has(error?.reason ?? ''))],
    [
      `${failures.length} failed (--stop-after ${stopAfter})`,
      failures.length >= limit ? failures[0] : undefined,
    ],
  ]
  for (const [what, worst] of rules) if (worst !== undefined) return { what, worst }
  return undefined
}

/** A failure for one of these ends the run, however many failures it may have. */
const alarms: ReadonlySet<string> = new Set(['alert-firing', 'alerts-not-read'])

/**
 * How long a cluster that was done at `doneAt` has still to soak, ms; not above 0: no longer. Of a time that lies in the future, or is none, another clock or somebody else
 * is the author: then all of it is waited for. Pure.
 */
export function soakLeft(doneAt: number, { now, soakSeconds }: { now: number; soakSeconds: number }): number {
  const since = now - doneAt
  return soakSeconds * seconds - (since > 0 ? since : 0)
}
