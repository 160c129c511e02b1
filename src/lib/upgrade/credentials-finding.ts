import type { HopFinding } from '../releases/finding.ts'
import { formatDuration } from '../system/duration.ts'

/** Night U9: a login that ends before the run is expected to is said at the start. `estimateMs`: of all steps together. */
export function credentialsFinding(
  end: Date | undefined,
  now: Date,
  estimateMs: number,
): readonly HopFinding[] {
  if (end === undefined || end.getTime() > now.getTime() + estimateMs) return []
  const left = formatDuration(Math.max(0, end.getTime() - now.getTime()))
  return [
    {
      id: 'credentials-end',
      level: 'warning',
      summary: `your credentials end at ${end.toISOString()}, in ${left}; the upgrade is expected to take ${formatDuration(estimateMs)}`,
      remedy: [
        'log in again before you start; if they end in the middle, log in elsewhere and run the same line again',
      ],
    },
  ]
}
