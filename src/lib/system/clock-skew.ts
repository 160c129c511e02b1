import { formatDuration } from './duration.ts'
import { minutes, seconds } from './units.ts'

/** In words, for the ms by which this machine's clock is ahead of the cluster's; negative is behind. */
export function clockSkew(ahead: number): string {
  const by = Math.abs(ahead)
  // It is known to a second at best.
  const unit = by < 10 * minutes ? 1 * seconds : 1 * minutes
  const rounded = Math.round(by / unit) * unit
  return `this machine's clock is ${formatDuration(rounded)} ${ahead > 0 ? 'ahead of' : 'behind'} the cluster's: times are the cluster's`
}
