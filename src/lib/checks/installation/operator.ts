import { operatorRule, pinnedTagRule } from '../../releases/operator-rule.ts'
import { versionOf } from '../../releases/version.ts'
import type { Check, Question } from '../check.ts'
import type { Finding } from '../finding.ts'

/** Facts 2.2, night U2: which operator may install which version by which method. */
export const operatorNotOlder: Check = {
  id: 'operator-not-older',
  group: 'installation',
  title: 'virt-operator can install this version by this method',
  findings: ['operator-unknown', 'operator-runs-own-strategy', 'operator-goes-back', 'pinned-tag'],
  needs: ['operators'],
  needsTarget: true,
  blocks: true,
  assess(question) {
    const { installation, target, method = 'operator-manifest' } = question
    const runs = versionOf(installation.operator?.version)
    if (target === undefined) return []
    if (runs === undefined) return [unknown(installation.namespace)]
    return [...operatorRule(runs, target, method), ...pinnedTag(question)]
  },
}

const unknown = (namespace: string): Finding => ({
  id: 'operator-unknown',
  level: 'blocker',
  summary:
    'the version of virt-operator cannot be told from its Deployment, so nothing can be said of what it may do',
  remedy: [`kubectl -n ${namespace} get deployment virt-operator -o yaml`],
})

/** By these kvup replaces no operator while a tag is set. */
const leavesOperator: ReadonlySet<Question['method']> = new Set(['image-tag', 'olm'])

/** A tag that says what the operator would do anyway is taken out for the roll, and matters no more. */
function pinnedTag({ installation, method, target }: Question): readonly Finding[] {
  const { imageTag, imageRegistry, operator } = installation
  const asOperator =
    imageTag === operator?.version && (imageRegistry ?? operator?.registry) === operator?.registry
  const pinned = versionOf(imageTag)
  if (leavesOperator.has(method) || asOperator || pinned === undefined || target === undefined) return []
  return pinnedTagRule(pinned, target)
}
