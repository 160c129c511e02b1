import type { Event } from '../cluster/kinds/core.ts'
import type { Pod } from '../cluster/kinds/pods.ts'
import type { Cause } from './cause.ts'
import { unmetCondition } from './conditions.ts'
import { failureCause } from './failure-cause.ts'
import { since } from './elapsed.ts'
import { groupedCauses } from './grouped-causes.ts'
import { itemsOf } from './known.ts'
import { misscheduledPods } from './misscheduled.ts'
import { podTrouble } from './pod-trouble.ts'
import { refusedPods } from './refused-pods.ts'
import { operatorPods, podsOf, type Scene, strategyPods, targetId, workloads } from './scene.ts'
import { identifierOf, operatorName, strategyComponent } from './stamps.ts'

/** How long a terminal container reason may last before the verdict is Stalled. */
const terminalPatience = 15_000

/** Everything that was found to be in the way, grouped by cause, the deepest first. Pure: the same look gives the same causes. */
export function causes(scene: Scene): Cause[] {
  const found = podGroups(scene).flatMap(({ component, pods }) =>
    pods.flatMap((pod) => {
      const trouble = podTrouble(pod, surroundings(scene, pod))
      return trouble ? [{ component, pod, trouble }] : []
    }),
  )
  const failure = failureCause(scene)
  const all = [
    ...groupedCauses(found, scene),
    ...refusedPods(scene),
    ...misscheduledPods(scene),
    ...(failure ? [failure] : []),
  ]
  const condition = unmetCondition(scene.kubevirt)
  return condition === undefined ? all : all.map((cause) => Object.assign(cause, { condition }))
}

/** A terminal reason that has lasted its 15 s. */
export function isTerminal(cause: Cause, at: Date): boolean {
  return cause.terminal && (since(cause.since, at) ?? 0) >= terminalPatience
}

function podGroups(scene: Scene): { component: string; pods: readonly Pod[] }[] {
  return [
    { component: operatorName, pods: operatorPods(scene) },
    { component: strategyComponent, pods: jobPods(scene) },
    ...workloads(scene).map((workload) => ({
      component: workload.object.metadata.name,
      pods: podsOf(scene, workload),
    })),
  ]
}

/** Of the target's Job only: that of a wrong tag stays behind after the way back, and means nothing then (lab 5). */
function jobPods(scene: Scene): readonly Pod[] {
  const { observedDeploymentID: observed } = scene.kubevirt.status ?? {}
  if (observed === targetId(scene)) return []
  const ofTarget = itemsOf(scene.snapshot.jobs).filter((job) => identifierOf(job) === targetId(scene))
  const jobs = new Set(ofTarget.map((job) => job.metadata.uid))
  return strategyPods(scene).filter((pod) => {
    if (pod.status?.phase === 'Succeeded') return false
    const owner = pod.metadata.ownerReferences?.find((reference) => reference.kind === 'Job')
    return owner !== undefined && jobs.has(owner.uid)
  })
}

function surroundings({ snapshot, at }: Scene, pod: Pod) {
  return {
    node: itemsOf(snapshot.nodes).find((node) => node.metadata.name === pod.spec?.nodeName),
    events: itemsOf(snapshot.events).filter((event) => isAbout(event, pod)),
    at,
  }
}

function isAbout(event: Event, pod: Pod): boolean {
  const { kind, name, uid } = event.involvedObject ?? {}
  return kind === 'Pod' && name === pod.metadata.name && (uid === undefined || uid === pod.metadata.uid)
}
