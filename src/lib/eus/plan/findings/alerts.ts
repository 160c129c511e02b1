import type { Finding } from '../../../checks/finding.ts'
import { askAlerts } from '../../../facts/openshift/firing-alerts.ts'
import { itemsOf } from '../../../facts/known.ts'
import { allWords, isExpected, isGrave } from '../../../facts/openshift/alerts-in-words.ts'
import type { Judged } from '../judged.ts'
import { isWindowOpen } from '../open-window.ts'
import { someOf } from '../../../system/some-of.ts'

/** What fires already and does not go well with a drain. Not a blocker: platform and operator say themselves what they refuse. */
export function alertFindings({ sight, hops }: Judged): readonly Finding[] {
  const grave = allWords(itemsOf(sight.evidence.alerts).filter(isGrave))
  if (grave.length === 0 || hops.length === 0) return []
  return [
    {
      id: 'alerts-firing',
      level: 'warning',
      summary: `${grave.length === 1 ? 'a grave alert fires' : `${grave.length} grave alerts fire`}: ${someOf(grave)}`,
      objects: grave,
      remedy: [askAlerts],
    },
  ]
}

/** What fires and is as it should be. */
export function expectedAlertNotes({ sight }: Judged): readonly string[] {
  if (!isWindowOpen(sight)) return []
  return allWords(itemsOf(sight.evidence.alerts).filter(({ name }) => isExpected(name))).map(
    (words) => `the alert ${words} fires: that is expected in a window`,
  )
}
