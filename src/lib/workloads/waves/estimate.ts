import { minutes, seconds } from '../../system/units.ts'
import type { Candidate } from './candidate.ts'
import type { Pacing } from './pacing.ts'

const oneMigration = 30 * seconds
/** Without the time that its guest may take to shut down. */
const oneRestart = 1 * minutes

/** How long a wave takes, ms, grace periods and soaks included: those that are kept apart follow each other (night W4). Pure. */
export function estimateOf(
  vms: readonly Candidate[],
  { parallel, soak }: Pick<Pacing, 'parallel' | 'soak'>,
): number {
  if (vms.length === 0) return 0
  const spread = sum(vms.map(costOf)) / Math.max(1, Math.min(parallel, vms.length))
  const apart = [...Map.groupBy(vms, (one) => one.apart)].map(([value, group]) =>
    value === undefined ? 0 : sum(group.map(costOf)) + soak * (group.length - 1),
  )
  return [spread, ...apart, ...vms.map(costOf)].reduce((most, one) => Math.max(most, one))
}

const costOf = ({ by, grace = 0 }: Candidate): number =>
  by === 'restart' ? oneRestart + grace : oneMigration
const sum = (all: readonly number[]): number => all.reduce((total, one) => total + one, 0)
