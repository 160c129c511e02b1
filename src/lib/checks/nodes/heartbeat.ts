import type { Node } from '../../cluster/kinds/core.ts'
import { since } from '../../facts/elapsed.ts'
import { formatDuration } from '../../system/duration.ts'
import type { Check, Question } from '../check.ts'
import { counted } from '../../system/counted.ts'
import { someOf } from '../../system/some-of.ts'
import { nodesWithHandler } from './handler-places.ts'

const annotation = 'kubevirt.io/heartbeat'
/** After that long virt-controller takes the node for dead, and its VMs with it (facts 8, #2397). */
const patience = 5 * 60_000

/** A node that never had one is virt-handler's not being ready yet, which the state of the installation says. */
export const heartbeat: Check = {
  id: 'heartbeat',
  group: 'nodes',
  title: 'no virt-handler has been silent for five minutes',
  needs: ['nodes', 'pods'],
  blocks: false,
  assess(question) {
    const silent = nodesWithHandler(question.evidence).filter((node) => silence(node, question) > patience)
    const [first] = silent
    if (!first) return []
    const { namespace } = question.installation
    const said = silent.map((node) => `${node.metadata.name} for ${formatDuration(silence(node, question))}`)
    return [
      {
        id: 'heartbeat',
        level: 'warning',
        summary: `virt-handler is silent on ${counted(silent.length, 'node')}: ${someOf(said)}; VMs there may be given up`,
        objects: silent.map(({ metadata }) => `node/${metadata.name}`),
        remedy: [
          `kubectl -n ${namespace} get pods -l kubevirt.io=virt-handler --field-selector spec.nodeName=${first.metadata.name}`,
        ],
      },
    ]
  },
}

function silence({ metadata }: Node, { at }: Question): number {
  return since(metadata.annotations?.[annotation], at) ?? 0
}
