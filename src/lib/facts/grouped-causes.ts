import type { Pod } from '../cluster/kinds/pods.ts'
import type { Cause } from './cause.ts'
import { earliest } from './elapsed.ts'
import { isOfHyperConverged } from './ownership.ts'
import type { PodTrouble } from './pod-trouble.ts'
import { type Scene, workloads } from './scene.ts'
import { troubleSentence } from './sentence.ts'
import { shorten } from '../system/shorten.ts'
import { identifierOf, strategyComponent } from './stamps.ts'

/** A pod of a component, and what holds it up. */
export interface TroubledPod {
  component: string
  pod: Pod
  trouble: PodTrouble
}

type Group = readonly [TroubledPod, ...TroubledPod[]]

/**
 * One cause for all pods with the same reason. ErrImagePull and ImagePullBackOff alternate: they are one, and so are the steps
 * of a crash loop; nodes that are lost are one for every component that has pods there.
 */
export function groupedCauses(found: readonly TroubledPod[], scene: Scene): Cause[] {
  const groups = new Map<string, [TroubledPod, ...TroubledPod[]]>()
  for (const one of found) {
    const key = keyOf(one)
    const group = groups.get(key)
    if (group) group.push(one)
    else groups.set(key, [one])
  }
  return [...groups.values()].map((group) => causeOf(group, scene))
}

function keyOf({ component, trouble }: TroubledPod): string {
  const { kind, image, message, reason } = trouble
  if (kind === 'node') return kind
  const told = kind === 'unschedulable' ? message : kind === 'not-ready' ? reason : ''
  return JSON.stringify([component, kind, image, told])
}

function causeOf(group: Group, scene: Scene): Cause {
  const [{ component, trouble, pod }] = group
  const cause = { ...whatIsKnown(group), ...lastWords(group, scene) }
  const { sentence, look } = troubleSentence(cause)
  const shows = trouble.kind === 'crash' ? [logCommand(pod, trouble)] : look
  return { ...cause, sentence, look: [...shows, ...wayBack(component, scene)] }
}

function whatIsKnown(group: Group): Omit<Cause, 'sentence' | 'look'> {
  const [{ component, pod, trouble }] = group
  const { kind, reason, terminal, container, image, message } = trouble
  const components = [...new Set(group.map((one) => one.component))]
  const from = earliest(group.map((one) => one.trouble.since))
  return {
    kind,
    component,
    ...(components.length > 1 && { components }),
    reason,
    terminal,
    namespace: pod.metadata.namespace ?? '',
    pods: group.map((one) => one.pod.metadata.name),
    nodes: [...new Set(group.flatMap((one) => one.pod.spec?.nodeName ?? []))].toSorted(),
    ...(container && { container }),
    ...(image && { image }),
    ...(message && { message: shorten(message) }),
    ...(from && { since: from }),
  }
}

function lastWords(group: Group, { lastLines = [] }: Scene): Pick<Cause, 'lastLog'> {
  const [{ trouble }] = group
  if (trouble.kind !== 'crash') return {}
  const said = lastLines.find(
    (line) => line.container === trouble.container && group.some(({ pod }) => pod.metadata.name === line.pod),
  )
  return said ? { lastLog: said.text } : {}
}

/** Of a container that was started again, what it said before; its name only where kubectl would show another one. */
function logCommand({ metadata, spec }: Pod, { container, again }: PodTrouble): string {
  const other = container !== undefined && container !== spec?.containers?.[0]?.name
  const flags = `${other ? ` -c ${container}` : ''}${again ? ' --previous' : ''}`
  return `kubectl -n ${metadata.namespace} logs ${metadata.name}${flags}`
}

/**
 * Nothing has rolled before the strategy is there: the former version is one command away. Not where another update was left for this one half-way:
 * its components are there, and its CRDs; and not where HyperConverged owns it, which takes nothing back.
 */
function wayBack(component: string, scene: Scene): string[] {
  const { status, spec } = scene.kubevirt
  const observed = status?.observedKubeVirtVersion
  if (component !== strategyComponent || !observed || isOfHyperConverged(scene.kubevirt)) return []
  if (workloads(scene).some(({ object }) => identifierOf(object) !== status.observedDeploymentID)) return []
  // Without a tag the version is the operator's own, which is new by now.
  const by = spec?.imageTag ? '' : ' --method image-tag'
  return [`kvup upgrade --to ${observed}${by}`]
}
