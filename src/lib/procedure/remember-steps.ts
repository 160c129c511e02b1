import type { Step } from './step.ts'

/**
 * A step keeps what it saw (since when it is settled), so of those with one id the first is kept, however often they are listed; but those in `anew`, whose
 * object may be found elsewhere the next time.
 */
export function rememberSteps(
  anew: ReadonlySet<string> = new Set(),
): (steps: readonly Step[]) => readonly Step[] {
  const known = new Map<string, Step>()
  return (steps) =>
    steps.map((step) => {
      if (anew.has(step.id)) return step
      const before = known.get(step.id) ?? step
      known.set(step.id, before)
      return before
    })
}
