import type { Reader } from '../../cluster/cluster.ts'
import { type Node, Nodes } from '../../cluster/kinds/core.ts'
import { condition } from '../../cluster/object.ts'
import { filled } from '../filled.ts'

const kept = /^machineconfiguration\.openshift\.io\/(?:currentConfig|desiredConfig|state|reason)$/u

/** Of each node what says to which pool it belongs and how far it is. Page by page, so that images and the like are not kept. Throws ApiError. */
export async function platformNodes(reader: Reader): Promise<Node[]> {
  const all: Node[] = []
  for await (const { items } of reader.pages(Nodes)) all.push(...items.map(trimmed))
  return all
}

function trimmed({ apiVersion, kind, metadata, spec, status = {} }: Node): Node {
  const { name, uid, labels, annotations = {} } = metadata
  const ready = condition({ status }, 'Ready')
  return {
    apiVersion,
    kind,
    metadata: {
      name,
      ...filled({ uid, labels }),
      annotations: Object.fromEntries(Object.entries(annotations).filter(([key]) => kept.test(key))),
    },
    spec: filled({ unschedulable: spec?.unschedulable }),
    status: {
      conditions: ready ? [ready] : [],
      nodeInfo: filled({ kubeletVersion: status.nodeInfo?.kubeletVersion }),
    },
  }
}
