import type { Finding } from '../../../lib/checks/finding.ts'
import { standsInTheWay } from '../../../lib/eus/plan/open-window.ts'

/**
 * The findings that a run is refused for. In a window that is open steps judge anew what moves with it, and wait for what passes: findings
 * about it would keep a run that was cut off from going on.
 */
export function gatingFindings(
  findings: readonly Finding[],
  { isOpen }: { isOpen: boolean },
): readonly Finding[] {
  return isOpen ? findings.filter(({ id }) => standsInTheWay.has(id)) : findings
}
