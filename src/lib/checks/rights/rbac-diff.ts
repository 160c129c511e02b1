import { holds } from '../../cluster/rights-in.ts'
import type { Check, Question } from '../check.ts'
import type { Finding } from '../finding.ts'
import { enters, hopOf } from '../hop-of.ts'
import { operatorLoses, operatorMay, operatorWould } from './operator-roles.ts'

/** Night C3, facts 2.7: roles are the target's before any pod is, and nobody keeps the old rights meanwhile. */
export const rbacDiff: Check = {
  id: 'rbac-diff',
  group: 'rights',
  title: 'no running component loses a right before it is replaced',
  needs: ['operatorRoles'],
  needsTarget: true,
  blocks: false,
  assess: (question) => [...lostByComponents(question), ...lostByOperator(question)],
}

function lostByComponents(question: Question): readonly Finding[] {
  const hop = hopOf(question)
  const lost = question.releases.lostRights?.filter((one) => hop && enters(hop, one.in)) ?? []
  return lost.map(({ component, what }) => ({
    id: 'rbac-diff',
    level: 'info',
    summary: `${component} of ${hop?.from.text} loses "${what}" when the roles of ${hop?.to.text} come, before it is replaced: expect "forbidden" in its log until then`,
    objects: [`${component}: ${what}`],
    remedy: [
      `kubectl -n ${question.installation.namespace} logs -l kubevirt.io=${component} --prefix --tail=20`,
    ],
  }))
}

/** The operator holds what its components hold: what it loses, one of them may lose too. */
function lostByOperator(question: Question): readonly Finding[] {
  const { manifest, target } = question
  if (manifest === undefined) return []
  const would = operatorWould(manifest)
  const may = operatorMay(question)
  const lost = operatorLoses(manifest, question)
  const gained = [...would].filter((right) => !holds(may, right))
  if (lost.length === 0) return []
  return [
    {
      id: 'rbac-diff',
      level: 'info',
      summary: `the manifest of ${target?.text} takes ${lost.length} rights from virt-operator and gives it ${gained.length}: ${lost.slice(0, 3).join(', ')} ${lost.length === 1 ? 'goes' : 'go'}`,
      objects: [...lost.map((right) => `lost: ${right}`), ...gained.map((right) => `gained: ${right}`)],
      remedy: ['kubectl get clusterrole kubevirt-operator -o yaml'],
    },
  ]
}
