import type { Finding } from '../../checks/finding.ts'
import type { EusSight } from './sight.ts'

/** What stays in the way of a window that is open: nothing that its run does makes it go. */
export const standsInTheWay: ReadonlySet<string> = new Set([
  'not-ours-to-update',
  'window-too-long',
  'no-hyperconverged',
  'several-hyperconvergeds',
  'several-subscriptions',
  'olm-v1',
  'no-subscription',
  'pool-paused-already',
])

/** kvup has borrowed something for a window, and not given it back. */
export const isWindowOpen = ({ window }: Pick<EusSight, 'window'>): boolean => window?.by === 'loans'

/**
 * The findings judge a cluster that stands still, and in an open window everything moves: its steps judge anew and wait for what passes. So the
 * others are told, and stop nobody.
 */
export function inOpenWindow(findings: readonly Finding[]): readonly Finding[] {
  return findings.map((finding) => {
    const stops = finding.level === 'blocker' || finding.level === 'not-checked'
    return stops && !standsInTheWay.has(finding.id)
      ? Object.assign({}, finding, { level: 'warning' })
      : finding
  })
}
