import { rollCounts, updatedPods, waitsFor } from './component-standing.ts'
import type { ComponentStanding } from './component-standing.ts'
import type { Parts } from './gaps.ts'
import { limitLeft, rollToCome } from './handler-rolls.ts'
import { saysDone } from './kubevirt-word.ts'
import { isFresh, type OperatorStanding, versionDiffers } from './operator-standing.ts'
import { podsOf, type Scene, targetId, unlistedWorkloads, type Workload, workloads } from './scene.ts'
import { componentLabel, identifierOf, operatorName, stampedVersion } from './stamps.ts'

/** What a doubt can be about: also the ids of the warnings that are left of them. */
export const doubtIds = [
  'operator-silent',
  'operator-lease',
  'controller-lease',
  'vms-not-labelled',
  'component-missing',
  'component-not-stamped',
  'component-not-listed',
  'component-runs-nowhere',
  'replicas-missing',
  'old-pods',
  'pods-not-seen',
  'handler-roll-to-come',
  'max-unavailable',
] as const

/**
 * Something that kvup expects beyond what KubeVirt and Kubernetes say, and does not see. It is told and looked at for a while, and it
 * never keeps anything from being done: such rules were read from sources, and another release may have others.
 */
export interface Doubt {
  id: (typeof doubtIds)[number]
  /** What is not as expected, in words that can be read alone. */
  sentence: string
  /** Commands that show it. */
  look: readonly string[]
}

/** Every doubt over a KubeVirt that says it is done; none while it is at work, for then it is no news. */
export function doubts(scene: Scene, { components, operator }: Omit<Parts, 'strategyJob'>): readonly Doubt[] {
  if (!saysDone(scene.kubevirt)) return []
  return [
    ...(operator?.rolled === true ? operatorDoubts(scene, operator) : []),
    ...components.filter(({ state }) => state === 'absent').map((component) => missing(scene, component)),
    ...workloads(scene).flatMap((workload) => componentDoubts(scene, workload)),
    ...unlistedWorkloads(scene).flatMap((workload) => unlisted(scene, workload)),
  ]
}

function operatorDoubts(scene: Scene, operator: OperatorStanding): readonly Doubt[] {
  const { leads, ready, desired, version, leader } = operator
  const late = !isFresh(scene)
  const found: Doubt[] = []
  if (late && versionDiffers(scene, operator))
    found.push({
      id: 'operator-silent',
      sentence: `virt-operator runs ${version}, and the KubeVirt resource still says ${scene.kubevirt.status?.operatorVersion}`,
      look: [kubectl(scene, `logs -l kubevirt.io=${operatorName} --tail=20`)],
    })
  if (late && leads === false)
    found.push({
      id: 'operator-lease',
      sentence: `the Lease of virt-operator is held by ${leader ?? 'nobody'}, which is no pod of its Deployment as it is now`,
      look: [kubectl(scene, `get lease ${operatorName} -o yaml`)],
    })
  if (ready > 0 && ready < desired)
    found.push({
      id: 'replicas-missing',
      sentence: `${operatorName}: ${ready} of ${desired} pods are ready`,
      look: [kubectl(scene, `get pods -l kubevirt.io=${operatorName} -o wide`)],
    })
  return found
}

function missing(scene: Scene, { name, kind }: ComponentStanding): Doubt {
  return {
    id: 'component-missing',
    sentence: `there is no ${kind} ${name}, which every release so far had`,
    look: [kubectl(scene, 'get daemonsets,deployments')],
  }
}

/** Nothing of one that is rolling: that is no doubt. */
function componentDoubts(scene: Scene, workload: Workload): readonly Doubt[] {
  const { kind, object } = workload
  const { name } = object.metadata
  const { desired, ready, updated, total, observed, enough } = rollCounts(workload)
  if (!observed || total > updated || updated < enough || (kind === 'DaemonSet' && ready < desired)) return []
  const shows = kubectl(scene, `get ${kind.toLowerCase()} ${name} -o yaml`)
  const pods = kubectl(scene, 'get pods -o wide')
  const found: Doubt[] = []
  if (identifierOf(object) !== targetId(scene))
    found.push({
      id: 'component-not-stamped',
      sentence: stampSentence(scene, workload),
      look: [shows],
    })
  if (desired === 0)
    found.push({
      id: 'component-runs-nowhere',
      sentence: `${name} is wanted on no node, so it has no pod`,
      look: [shows],
    })
  if (kind === 'Deployment' && ready > 0 && ready < desired)
    found.push({
      id: 'replicas-missing',
      sentence: `${name}: ${ready} of ${desired} pods are ready; waiting for ${waitsFor(podsOf(scene, workload), undefined, scene)}`,
      look: [pods],
    })
  return [...found, ...podDoubts(scene, workload, pods), ...handlerDoubts(scene, workload)]
}

function stampSentence({ kubevirt }: Scene, { object }: Workload): string {
  const { name } = object.metadata
  const [bears, runs] = [stampedVersion(object), kubevirt.status?.observedKubeVirtVersion]
  return bears !== undefined && bears !== runs
    ? `${name} was made for ${bears}, and KubeVirt says that it is done with ${runs}`
    : `${name} does not bear the deployment ID that KubeVirt is done with`
}

function podDoubts(scene: Scene, workload: Workload, shows: string): readonly Doubt[] {
  const { name } = workload.object.metadata
  const { updated, desired } = rollCounts(workload)
  const old = oldPods(scene, workload)
  if (old.length > 0)
    return [
      {
        id: 'old-pods',
        sentence: `${name}: pods of another version are left: ${old.join(', ')}`,
        look: [shows],
      },
    ]
  const seen = updatedPods(scene, workload)
  if (!scene.snapshot.pods.known || seen >= Math.min(updated, desired)) return []
  return [
    {
      id: 'pods-not-seen',
      sentence: `${name}: Kubernetes counts ${updated} updated pods, and ${seen} that belong to it bear the new deployment ID`,
      look: [shows],
    },
  ]
}

/** Alive, by their stamp of another deployment. */
function oldPods(scene: Scene, workload: Workload): readonly string[] {
  return podsOf(scene, workload)
    .filter((pod) => identifierOf(pod) !== undefined && identifierOf(pod) !== targetId(scene))
    .map(({ metadata }) => metadata.name)
}

function handlerDoubts(scene: Scene, { kind, object }: Workload): readonly Doubt[] {
  if (kind !== 'DaemonSet' || componentLabel(object) !== 'virt-handler') return []
  const { name } = object.metadata
  const look = [kubectl(scene, `get daemonset ${name} -o yaml`)]
  const roll = rollToCome(object)
  const limit = limitLeft(object, scene.kubevirt)
  const found: Doubt[] = []
  if (roll !== undefined)
    found.push({
      id: 'handler-roll-to-come',
      sentence: `virt-operator may roll ${name} once more (${roll}), now or in a later release; it has not begun`,
      look,
    })
  if (limit !== undefined) found.push({ id: 'max-unavailable', sentence: `${name} waits for ${limit}`, look })
  return found
}

/** It bears the stamps, and virt-operator does not name it: it is told only where it is not as it wants to be. */
function unlisted(scene: Scene, workload: Workload): readonly Doubt[] {
  const { desired, ready, updated, total, observed } = rollCounts(workload)
  if (observed && total <= updated && ready >= desired) return []
  const { name } = workload.object.metadata
  return [
    {
      id: 'component-not-listed',
      sentence: `${name} bears the stamps of virt-operator, which does not list it as its own; ${ready} of ${desired} pods are ready`,
      look: [kubectl(scene, `get ${workload.kind.toLowerCase()} ${name} -o yaml`)],
    },
  ]
}

const kubectl = ({ kubevirt }: Scene, words: string): string =>
  `kubectl -n ${kubevirt.metadata.namespace ?? ''} ${words}`
