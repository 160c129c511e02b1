import { seconds } from '../../system/units.ts'
import { endOf, isRepeated, type Migration } from './migration.ts'

const first = 20 * seconds
/** As many as KubeVirt still knows of: it keeps five finished ones, so it never waits longer than 20 s · 2⁴ (facts 3.3). */
const most = 5

/**
 * Until when KubeVirt holds the next migration of a VMI back that failed so often in a row, the newest first; ms since the epoch, 0 where it
 * does not. Only migrations that it makes itself are held back, and only those count (facts 3.3, pkg/virt-controller/watch/migration,
 * handleMigrationBackoff).
 */
export function backOffUntil(failures: readonly Migration[]): number {
  const counted = failures.filter(isRepeated).slice(0, most)
  const [last] = counted
  return last === undefined ? 0 : endOf(last) + first * 2 ** (counted.length - 1)
}
