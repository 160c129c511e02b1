import { itemsOf } from '../../facts/known.ts'
import type { Version } from '../../releases/version.ts'
import type { Check, Question } from '../check.ts'
import { isControlPlane, operandsNeedControlPlane, operatorNeedsControlPlane } from './control-plane.ts'

/** Facts 2.1, 8 (#12390): without such a node the strategy Job, virt-api and virt-controller stay Pending, without a word. */
export const controlPlaneLabel: Check = {
  id: 'control-plane-label',
  group: 'nodes',
  title: 'a node is labelled as control plane where the target needs one',
  needs: ['nodes'],
  needsTarget: true,
  blocks: true,
  assess(question) {
    const { target, evidence } = question
    if (!target || itemsOf(evidence.nodes).some(isControlPlane)) return []
    const who = affected(question, target)
    if (who.length === 0) return []
    return [
      {
        id: 'control-plane-label',
        level: 'blocker',
        summary: `no node has the label node-role.kubernetes.io/control-plane, and ${who.join(' and ')} of ${target.text} run nowhere else`,
        remedy: ['kubectl get nodes --show-labels', ...relief(question, target)],
      },
    ]
  },
}

function affected(question: Question, target: Version): string[] {
  return [
    ...(operatorNeedsControlPlane(question, target) ? ['virt-operator'] : []),
    ...(operandsNeedControlPlane(question, target) ? ['virt-api, virt-controller and the strategy Job'] : []),
  ]
}

/** What helps the operands does not help the operator: there only the label does. */
function relief(question: Question, target: Version): string[] {
  const { namespace, name } = question.installation
  const [node] = itemsOf(question.evidence.nodes)
  if (operatorNeedsControlPlane(question, target))
    return node ? [`kubectl label node ${node.metadata.name} node-role.kubernetes.io/control-plane=`] : []
  return [
    `kubectl -n ${namespace} patch kubevirt ${name} --type merge -p '{"spec":{"infra":{"nodePlacement":{}}}}'`,
  ]
}
