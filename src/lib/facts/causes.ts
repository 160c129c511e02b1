import type { Event } from '../cluster/kinds/core.ts'
import type { Pod } from '../cluster/kinds/pods.ts'
import type { Cause } from './cause.ts'
import { workloads } from './components.ts'
import { unmetCondition } from './conditions.ts'
import { failureCause } from './failure-cause.ts'
import { earliest, since } from './elapsed.ts'
import { itemsOf } from './known.ts'
import { misscheduledPods } from './misscheduled.ts'
import { type PodTrouble, podTrouble } from './pod-trouble.ts'
import { refusedPods } from './refused-pods.ts'
import { operatorPods, podsOf, type Scene, strategyPods, targetId } from './scene.ts'
import { troubleSentence } from './sentence.ts'
import { identifierOf, operatorName, strategyComponent } from './stamps.ts'
import { shorten } from './shorten.ts'

/** How long a terminal container reason may last before the verdict is Stalled. */
const terminalPatience = 15_000

/** Everything that was found to be in the way, grouped by cause, the deepest first. Pure: the same look gives the same causes. */
export function causes(scene: Scene): Cause[] {
  const found = podGroups(scene).flatMap(({ component, pods }) =>
    pods.flatMap((pod) => {
      const trouble = podTrouble(pod, surroundings(scene, pod))
      return trouble ? [causeOf(component, pod, trouble)] : []
    }),
  )
  const failure = failureCause(scene)
  const all = [
    ...grouped(found, scene),
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

interface Single {
  component: string
  pod: Pod
  trouble: PodTrouble
}

function causeOf(component: string, pod: Pod, trouble: PodTrouble): Single {
  return { component, pod, trouble }
}

/** ErrImagePull and ImagePullBackOff alternate: they are one cause, and so are the steps of a crash loop. */
function grouped(found: readonly Single[], scene: Scene): Cause[] {
  const groups = new Map<string, [Single, ...Single[]]>()
  for (const single of found) {
    const key = keyOf(single)
    const group = groups.get(key)
    if (group) group.push(single)
    else groups.set(key, [single])
  }
  return [...groups.values()].map((group) => merged(group, scene))
}

function keyOf({ component, trouble }: Single): string {
  const { kind, image, message, reason } = trouble
  // A node that is lost takes every component with it.
  if (kind === 'node') return kind
  const told = kind === 'unschedulable' ? message : kind === 'not-ready' ? reason : ''
  return JSON.stringify([component, kind, image, told])
}

function merged(group: readonly [Single, ...Single[]], scene: Scene): Cause {
  const { component, trouble, pod } = group[0]
  const from = earliest(group.map((single) => single.trouble.since))
  const components = [...new Set(group.map((single) => single.component))]
  const pods = group.map((single) => single.pod.metadata.name)
  const logged = scene.lastLines?.find(
    (line) => pods.includes(line.pod) && line.container === trouble.container,
  )
  const cause = {
    kind: trouble.kind,
    component,
    ...(components.length > 1 && { components }),
    reason: trouble.reason,
    terminal: trouble.terminal,
    namespace: pod.metadata.namespace ?? '',
    pods,
    nodes: [...new Set(group.flatMap((single) => single.pod.spec?.nodeName ?? []))],
    ...(trouble.container && { container: trouble.container }),
    ...(trouble.image && { image: trouble.image }),
    ...(trouble.message && { message: shorten(trouble.message) }),
    ...(logged && trouble.kind === 'crash' && { lastLog: logged.text }),
    ...(from && { since: from }),
  }
  const { sentence, look } = troubleSentence(cause)
  return { ...cause, sentence, look: [...look, ...wayBack(component, scene)] }
}

/** Nothing has rolled before the strategy is there: the former version is one command away. */
function wayBack(component: string, { kubevirt }: Scene): string[] {
  const observed = kubevirt.status?.observedKubeVirtVersion
  // Without a tag the version is the operator's own, which is new by now.
  const by = kubevirt.spec?.imageTag ? '' : ' --method image-tag'
  return component === strategyComponent && observed ? [`kvup upgrade --to ${observed}${by}`] : []
}
