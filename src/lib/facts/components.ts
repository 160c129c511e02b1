import { type ComponentStanding, componentStanding } from './component-standing.ts'
import { itemsOf } from './known.ts'
import { alwaysThere, inRolloutOrder, rolloutPath } from './rollout-order.ts'
import type { Scene, Workload } from './scene.ts'
import { identifierOf, isOperand } from './stamps.ts'

/** Everything the install strategy rolls, known or not to kvup. */
export function workloads({ snapshot }: Scene): readonly Workload[] {
  return [
    ...itemsOf(snapshot.daemonsets)
      .filter((object) => isOperand(object))
      .map((object) => ({ kind: 'DaemonSet', object }) as const),
    ...itemsOf(snapshot.deployments)
      .filter((object) => isOperand(object) && identifierOf(object) !== undefined)
      .map((object) => ({ kind: 'Deployment', object }) as const),
  ]
}

/** All components, in the order in which virt-operator rolls them; those that must be there and are not as `absent`. */
export function components(scene: Scene): ComponentStanding[] {
  const found = workloads(scene).map((workload) => componentStanding(scene, workload))
  const missing = alwaysThere.filter((name) => readable(scene, name) && !found.some((c) => c.name === name))
  const { observedKubeVirtVersion: observed, targetKubeVirtVersion: target } = scene.kubevirt.status ?? {}
  const path = observed === target && observed ? 'update' : rolloutPath(observed, target)
  return inRolloutOrder([...found, ...missing.map(absent)], path)
}

function readable({ snapshot }: Scene, name: string): boolean {
  return name === 'virt-handler' ? snapshot.daemonsets.known : snapshot.deployments.known
}

function absent(name: string): ComponentStanding {
  return {
    name,
    kind: name === 'virt-handler' ? 'DaemonSet' : 'Deployment',
    applied: false,
    rolled: false,
    updated: 0,
    ready: 0,
    desired: 0,
    state: 'absent',
    detail: 'not created yet',
  }
}
