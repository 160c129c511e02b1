import type { Node } from '../../cluster/kinds/core.ts'
import type { Check } from '../check.ts'
import { counted } from '../../system/counted.ts'
import type { Finding } from '../finding.ts'
import { someOf } from '../../system/some-of.ts'
import { untolerated } from '../../facts/placement.ts'
import { handlerSet, nameOfNode, nodesWithHandler } from './handler-places.ts'

/** Facts 2.8, 2.9, 8 (PR 10254): a virt-handler that its DaemonSet would not put there any more makes the counts disagree. */
export const nodeSchedulable: Check = {
  id: 'node-schedulable',
  group: 'nodes',
  title: 'every node with a virt-handler takes new pods',
  needs: ['nodes', 'pods', 'daemonsets'],
  blocks: false,
  assess({ evidence }) {
    const set = handlerSet(evidence)
    const held = nodesWithHandler(evidence)
    const tainted = held.filter((node) => untolerated(node, set).length > 0)
    const cordoned = held.filter((node) => node.spec?.unschedulable === true)
    return [...taintFinding(tainted), ...cordonFinding(cordoned)]
  },
}

function taintFinding(nodes: readonly Node[]): Finding[] {
  const [first] = nodes
  if (!first) return []
  const names = nodes.map(nameOfNode)
  return [
    {
      id: 'node-schedulable',
      level: 'warning',
      summary: `virt-handler runs on ${counted(nodes.length, 'node')} with a taint that it does not tolerate (${someOf(names)}): once it is replaced it does not come back there`,
      objects: names.map((name) => `node/${name}`),
      remedy: [`kubectl get node ${first.metadata.name} -o jsonpath='{.spec.taints}'`],
    },
  ]
}

function cordonFinding(nodes: readonly Node[]): Finding[] {
  const [first] = nodes
  if (!first) return []
  const names = nodes.map(nameOfNode)
  return [
    {
      id: 'node-schedulable',
      level: 'warning',
      summary: `${counted(nodes.length, 'node', ['is', 'are'])} cordoned (${someOf(names)}): virt-handler rolls there, but no VM can migrate to it`,
      objects: names.map((name) => `node/${name}`),
      remedy: [`kubectl uncordon ${first.metadata.name}`],
    },
  ]
}
