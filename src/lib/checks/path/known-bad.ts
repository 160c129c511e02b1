import type { KnownBad } from '../../releases/releases.ts'
import { minorOf, type Version } from '../../releases/version.ts'
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
    return question.releases.knownBad.filter((bad) => applies(bad, hop)).map(finding)
  },
}

/** A list of minors means that they are entered; a step between patches of one does not. */
function applies({ from, to, toMinor }: KnownBad, hop: { from: Version; to: Version }): boolean {
  const crosses = minorOf(hop.from) !== minorOf(hop.to)
  if (toMinor !== undefined && !(crosses && toMinor.includes(minorOf(hop.to)))) return false
  return is(hop.from, from) && is(hop.to, to)
}

/** A minor or a release. */
function is(version: Version, text: string | undefined): boolean {
  return text === undefined || text === version.text || text === minorOf(version)
}

const finding = ({ id, level, summary, issue }: KnownBad): Finding => ({
  id,
  level,
  summary,
  remedy: [`read ${issue}`],
})
