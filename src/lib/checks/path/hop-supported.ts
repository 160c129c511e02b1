import { hopFindings } from '../../releases/hop-finding.ts'
import { newestMinorOf } from '../../releases/known-releases.ts'
import type { Releases } from '../../releases/releases.ts'
import { minorOf, type Version } from '../../releases/version.ts'
import type { Check, Question } from '../check.ts'
import type { Finding } from '../finding.ts'
import { hopOf } from '../hop-of.ts'
import { pathFromHere, wayTo } from './way.ts'

/** Facts 7: the version policy, which nothing in KubeVirt enforces. */
export const hopSupported: Check = {
  id: 'hop-supported',
  group: 'path',
  title: 'the hop to this version is supported',
  findings: [
    'never-settled',
    'from-unsupported',
    'downgrade',
    'minor-skipped',
    'major-step',
    'patch-skipped',
    'pre-release',
    'release-unknown',
  ],
  needs: ['kubevirts'],
  needsTarget: true,
  blocks: true,
  assess(question) {
    const hop = hopOf(question)
    if (hop === undefined) return [neverSettled]
    return [
      ...hopFindings(hop.from, hop.to, question.releases).map((found) => withWay(found, question)),
      ...unknown(hop.to, question.releases),
    ]
  },
}

/**
 * Several minors on, `kvup upgrade` goes minor by minor in one run, and judges each when its turn comes: that is said. Where Kubernetes has to be taken
 * along, or no way is known, it does not get there by itself.
 */
function withWay(found: Finding, question: Question): Finding {
  const { target } = question
  if (found.id !== 'minor-skipped' || target === undefined) return found
  const way = pathFromHere(target, question)
  const isOneRun = way?.is === 'path' && way.steps.every((step) => step.is === 'kubevirt')
  if (!isOneRun || question.method === 'olm')
    return { ...found, remedy: wayTo(target, question, found.remedy) }
  const inBetween = way.steps
    .slice(0, -1)
    .map(({ to }) => to)
    .join(', ')
  return {
    id: 'minor-skipped',
    level: 'info',
    summary: `to ${target.text} it goes minor by minor in one run, over ${inBetween}: each step is judged again when its turn comes`,
    remedy: [`kvup upgrade --to ${target.text}`],
  }
}

const neverSettled: Finding = {
  id: 'never-settled',
  level: 'warning',
  summary: 'no version was ever installed completely here, so there is none to come from',
  remedy: ['kvup status'],
}

/** A patch holds no surprises that its minor has not; a minor that is newer than all that are known may. */
function unknown(to: Version, releases: Releases): readonly Finding[] {
  const { asOf, minors } = releases
  if (minors[minorOf(to)]?.releases[to.text] !== undefined) return []
  return [
    {
      id: 'release-unknown',
      level: to.minor > (newestMinorOf(to.major, releases) ?? to.minor) ? 'warning' : 'info',
      summary: `${to.text} is not among the releases known as of ${asOf}: it is judged by rule`,
      remedy: [`kvup releases --since ${minorOf(to)}.0`],
    },
  ]
}
