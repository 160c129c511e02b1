import type { HopFinding } from '../../releases/finding.ts'
import type { UpgradePlan } from '../../upgrade/plan.ts'
import { brief } from '../brief.ts'
import { hopText } from './hop-words.ts'

/** What is said before the question: what will happen, what is borrowed, what nobody can undo (night U5). */
export function announcement(
  { from, to, method, owner, holds, said, tag, request, isRest, olm, path }: UpgradePlan,
  { findings, giveBack }: { findings: readonly HopFinding[]; giveBack: string },
): readonly string[] {
  if (isRest)
    return [
      `${olm ? `HyperConverged is at ${olm.to}` : `KubeVirt runs ${to.text}`} already: what is left is to settle${givenBack(holds, request)}`,
      ...said,
      ...findings.map(findingText),
    ]
  const how = {
    'image-tag': `patch imageTag of kubevirts/${owner.ref.name} in namespace ${owner.ref.namespace}`,
    'operator-manifest': 'apply the operator manifest; the new operator brings its own version',
    olm: 'OLM carries it out; kvup approves exactly the InstallPlan of each hop',
  }[method]
  return [
    `${hopText({ from, to: to.text, operator: olm })}: ${how}`,
    ...(holds.length > 0
      ? [`workload updates are held meanwhile and ${after(request, giveBack)} (${holds.join(', ')})`]
      : []),
    ...(tag.is === 'lift' && path
      ? ['each step takes imageTag out and puts it in again as its release: one roll each']
      : []),
    ...(tag.is === 'lift' && !path
      ? [`imageTag ${tag.tag} is taken out and put in again as ${to.text}: one roll`]
      : []),
    ...(tag.is === 'pin'
      ? [`imageTag stays ${tag.tag} until the new operator has settled, then becomes ${to.text}: two rolls`]
      : []),
    ...said,
    ...findings.map(findingText),
  ]
}

const findingText = ({ level, summary, id }: HopFinding) =>
  `${level === 'info' ? 'note' : level}: ${brief(summary)} (${id})`

const givenBack = (holds: readonly string[], { leaveHeld }: UpgradePlan['request']) =>
  holds.length > 0 && !leaveHeld ? `, and to give workload updates back (${holds.join(', ')})` : ''

const after = ({ leaveHeld }: UpgradePlan['request'], giveBack: string) =>
  leaveHeld ? `stay so at the end, until ${giveBack}` : 'given back at the end'
