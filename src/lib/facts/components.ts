import { type ComponentStanding, componentStanding } from './component-standing.ts'
import { alwaysThere, inRolloutOrder, rolloutPath } from './rollout-order.ts'
import { type Scene, workloads } from './scene.ts'

/** All components, in the order in which virt-operator rolls them; those that every release so far had and that are not there as `absent`. */
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
