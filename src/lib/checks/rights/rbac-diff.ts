import type { Check, Question } from '../check.ts'
import type { Finding } from '../finding.ts'
import { enters, hopOf } from '../hop-of.ts'
import { operatorChange } from './operator-roles.ts'

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
  const { gained, lost, narrowed } = operatorChange(manifest, question)
  if (lost.length + narrowed.length === 0) return []
  return [
    {
      id: 'rbac-diff',
      level: 'info',
      summary: `the manifest of ${target?.text} gives virt-operator ${rights(gained)} and takes ${lost.length}${goneText(lost, narrowed)}`,
      objects: [
        ...lost.map((right) => `lost: ${right}`),
        ...narrowed.map((right) => `only in its namespace: ${right}`),
        ...gained.map((right) => `gained: ${right}`),
      ],
      remedy: ['kubectl get clusterrole kubevirt-operator -o yaml'],
    },
  ]
}

const rights = ({ length }: readonly string[]) => `${length} ${length === 1 ? 'right' : 'rights'}`

const first = (all: readonly string[]) => all.slice(0, 3).join(', ')

/** What goes and what is narrowed, the first of them by name. */
function goneText(lost: readonly string[], narrowed: readonly string[]): string {
  const gone = lost.length > 0 ? `: ${first(lost)}` : ''
  return narrowed.length > 0 ? `${gone}; in its own namespace only: ${first(narrowed)}` : gone
}
