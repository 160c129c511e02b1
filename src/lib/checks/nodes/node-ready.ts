import type { Node } from '../../cluster/kinds/core.ts'
import { condition } from '../../cluster/object.ts'
import { since } from '../../facts/elapsed.ts'
import { itemsOf } from '../../facts/known.ts'
import { formatDuration } from '../../system/duration.ts'
import type { Check, Question } from '../check.ts'
import { counted } from '../../system/counted.ts'
import { someOf } from '../../system/some-of.ts'
import { handlerSet, isNodeReady, nameOfNode, nodesWithHandler, wantsHandler } from './handler-places.ts'

/** Facts 2.9: one such node keeps virt-handler short for ever, and no condition says why. */
export const nodeReady: Check = {
  id: 'node-ready',
  group: 'nodes',
  title: 'no virt-handler sits on a node that is not ready',
  needs: ['nodes', 'pods', 'daemonsets'],
  runbook: 'VirtHandlerDaemonSetRolloutFailing',
  blocks: true,
  assess(question) {
    const names = waitedFor(question)
    const [first] = names
    if (first === undefined) return []
    const said = waitedForNodes(question).map((node) => described(node, question.at))
    return [
      {
        id: 'node-ready',
        level: 'blocker',
        summary: `${counted(names.length, 'node', ['is', 'are'])} not ready and part of virt-handler's roll: ${someOf(said)}; the update would wait for ever`,
        objects: names.map((name) => `node/${name}`),
        remedy: [`kubectl describe node ${first}`, `kubectl delete node ${first}`],
      },
    ]
  },
}

const waitedFor = (question: Question): readonly string[] => waitedForNodes(question).map(nameOfNode)

function waitedForNodes({ evidence }: Question): readonly Node[] {
  const held = new Set(nodesWithHandler(evidence))
  const set = handlerSet(evidence)
  return itemsOf(evidence.nodes).filter(
    (node) => !isNodeReady(node) && (held.has(node) || wantsHandler(node, set)),
  )
}

function described(node: Node, at: Date): string {
  const age = since(condition(node, 'Ready')?.lastTransitionTime, at)
  return age === undefined ? node.metadata.name : `${node.metadata.name} for ${formatDuration(age)}`
}
