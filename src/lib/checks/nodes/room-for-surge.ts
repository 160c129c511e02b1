import type { Node } from '../../cluster/kinds/core.ts'
import type { Evidence } from '../../facts/evidence.ts'
import { itemsOf } from '../../facts/known.ts'
import type { Check, Question } from '../check.ts'
import { isControlPlane, operandsNeedControlPlane } from './control-plane.ts'
import { isNodeReady } from './handler-places.ts'

/**
 * Deployments are rolled with one pod more than they have. Pods of others are not read, so a pass says only that
 * KubeVirt's own pods leave room.
 */
export const roomForSurge: Check = {
  id: 'room-for-surge',
  group: 'nodes',
  title: "a ready node may take one more of KubeVirt's pods, as far as KubeVirt's own tell",
  needs: ['nodes', 'pods'],
  blocks: false,
  assess(question) {
    const places = placesOf(question)
    if (places.nodes.some((node) => mayTakeOne(node, question.evidence))) return []
    const what = places.controlPlane ? 'control-plane node' : 'node'
    return [
      {
        id: 'room-for-surge',
        level: 'warning',
        summary: `no ${what} is ready, not cordoned and below its limit of pods: a new virt-api or virt-controller would stay Pending`,
        objects: places.nodes.map(({ metadata }) => `node/${metadata.name}`),
        remedy: [
          'kubectl get nodes -o custom-columns=NODE:.metadata.name,CORDONED:.spec.unschedulable,PODS:.status.allocatable.pods',
        ],
      },
    ]
  },
}

function placesOf(question: Question): { controlPlane: boolean; nodes: readonly Node[] } {
  const nodes = itemsOf(question.evidence.nodes)
  const { target } = question
  const controlPlane = target !== undefined && operandsNeedControlPlane(question, target)
  return { controlPlane, nodes: controlPlane ? nodes.filter(isControlPlane) : nodes }
}

function mayTakeOne(node: Node, { pods }: Evidence): boolean {
  if (!isNodeReady(node) || node.spec?.unschedulable) return false
  const there = itemsOf(pods).filter(({ spec }) => spec?.nodeName === node.metadata.name).length
  const limit = Number(node.status?.allocatable?.['pods'] ?? Number.POSITIVE_INFINITY)
  return there < limit
}
