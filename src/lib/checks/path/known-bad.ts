import type { KnownBad } from '../../releases/releases.ts'
import { issuesOf } from '../../releases/upgrade-path.ts'
import type { Check } from '../check.ts'
import type { Finding } from '../finding.ts'
import { hopOf } from '../hop-of.ts'

/** Facts 8. Each finding is named by the issue, so that one can be accepted without the others. */
export const knownBad: Check = {
  id: 'known-bad',
  group: 'path',
  title: 'no issue is known of this hop',
  findings: 'any',
  needs: ['kubevirts'],
  needsTarget: true,
  blocks: true,
  assess(question) {
    const hop = hopOf(question)
    if (hop === undefined) return []
    return issuesOf(hop, question.releases).map(finding)
  },
}

const finding = ({ id, level, summary, issue }: KnownBad): Finding => ({
  id,
  level,
  summary,
  remedy: [`read ${issue}`],
})
