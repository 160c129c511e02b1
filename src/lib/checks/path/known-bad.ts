import { latestPatch } from '../../releases/known-releases.ts'
import type { KnownBad, Releases } from '../../releases/releases.ts'
import { issuesOf } from '../../releases/upgrade-path.ts'
import { compareVersions, minorOf, type Version } from '../../releases/version.ts'
import type { Check } from '../check.ts'
import type { Finding } from '../finding.ts'
import { hopOf } from '../hop-of.ts'

interface Hop {
  from: Version
  to: Version
}

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
    return issuesOf(hop, question.releases).map((bad) => finding(bad, hop, question.releases))
  },
}

function finding(bad: KnownBad, hop: Hop, releases: Releases): Finding {
  const { id, level, summary, issue } = bad
  const patch = level === 'blocker' ? patchWithout(bad, hop, releases) : undefined
  return {
    id,
    level,
    summary: patch === undefined ? summary : `${summary}: ${patch.text} does not`,
    remedy: [...(patch === undefined ? [] : [`kvup upgrade --to ${patch.text}`]), `read ${issue}`],
  }
}

/** The newest patch of the same minor, where the issue is not in it. */
function patchWithout(bad: KnownBad, { from, to }: Hop, releases: Releases): Version | undefined {
  const patch = latestPatch(minorOf(to), releases)
  if (patch === undefined || compareVersions(patch, to) <= 0) return undefined
  return issuesOf({ from, to: patch }, releases).some(({ id }) => id === bad.id) ? undefined : patch
}
