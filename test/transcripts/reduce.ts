import type { DaemonSet, Deployment, Job, Pod } from '../../src/lib/kube/kinds/workload-kinds.ts'
import type { KubeVirt } from '../../src/lib/kube/kinds/kubevirt-kinds.ts'
import type { KubeObject } from '../../src/lib/kube/object.ts'
import type { Line } from './read.ts'

/**
 * A transcript as the order of its condition, component and Job transitions, from the first change that a person made.
 * Left out on purpose, because they differ from run to run of the real operator as well:
 * - names, times, deployment IDs, and everything that happens twice in the same words without something between;
 * - when a Job that is through is deleted (0.3 to 5 s after: lab "Seen" 11), which the first or the next pass does;
 * - pods between the first updated one and the last (the operator looks only every 3 to 5 s: lab "Seen" 9);
 * - which virt-controller leads, before or after "done" (lab "Seen" 10), and the outdated count that follows from it;
 * - a second ErrImagePull: kwok pulls once, a kubelet again and again.
 */
export function reduce(lines: readonly Line[], from: RegExp): string[] {
  const start = lines.findIndex((line) => line.note !== undefined && from.test(line.note))
  const before = new Map<string, string>()
  for (const line of lines.slice(0, start))
    for (const said of line.object ? words(line) : []) before.set(subject(said), said)
  const story: string[] = []
  const once = new Set<string>()
  for (const line of lines.slice(start)) {
    for (const said of line.object ? words(line) : []) {
      if (before.get(subject(said)) === said || (said.startsWith('pod ') && once.has(said))) continue
      before.set(subject(said), said)
      once.add(said)
      story.push(said)
    }
  }
  return story
}

/** `KubeVirt conditions: …` → `KubeVirt conditions`. */
const subject = (said: string): string => said.slice(0, said.indexOf(':'))

function words({ type, object }: Line): string[] {
  if (object === undefined || type === 'DELETED') return []
  switch (object.kind) {
    case 'KubeVirt':
      return kubeVirt(object)
    case 'DaemonSet':
      return daemonSet(object)
    case 'Deployment':
      return deployment(object)
    case 'Job':
      return job(object)
    case 'Pod':
      return pod(object)
    default:
      return []
  }
}

const version = ({ metadata }: KubeObject): string =>
  metadata.annotations?.['kubevirt.io/install-strategy-version'] ?? ''

function kubeVirt({ metadata, status = {} }: KubeVirt): string[] {
  const conditions = status.conditions ?? []
  if (conditions.length === 0) return []
  const letters = ['Available', 'Progressing', 'Degraded', 'Created', 'Synchronized'].map((type) => {
    const found = conditions.find((c) => c.type === type)
    return `${type[0]}=${found?.status[0] ?? '-'}`
  })
  const { reason } = conditions.find((c) => c.type === 'Available') ?? {}
  const observed = (status.observedGeneration ?? 0) >= (metadata.generation ?? 0) ? 'seen' : 'not seen'
  return [
    `KubeVirt edit: ${metadata.generation} ${observed}`,
    `KubeVirt conditions: ${reason} ${letters.join(' ')}`,
    `KubeVirt versions: operator ${status.operatorVersion} target ${status.targetKubeVirtVersion} observed ${status.observedKubeVirtVersion}`,
  ]
}

function daemonSet(set: DaemonSet): string[] {
  const { name } = set.metadata
  const limit = set.spec?.updateStrategy?.rollingUpdate?.maxUnavailable
  return [`${name} written: ${version(set)}`, `${name} maxUnavailable: ${limit}`]
}

function deployment(object: Deployment): string[] {
  const { metadata, spec, status = {} } = object
  const { replicas = 0 } = spec ?? {}
  const image = spec?.template?.spec?.containers?.[0]?.image ?? ''
  const tag = image.slice(image.lastIndexOf(':') + 1)
  const through =
    status.observedGeneration === metadata.generation &&
    [status.replicas, status.updatedReplicas, status.readyReplicas].every((count) => count === replicas)
  return [
    `${metadata.name} written: ${tag} generation ${metadata.generation}`,
    ...(through ? [`${metadata.name} through: ${tag}`] : []),
  ]
}

function job(object: Job): string[] {
  const { succeeded = 0 } = object.status ?? {}
  return [`Job ${version(object)}: ${succeeded > 0 ? 'succeeded' : 'created'}`]
}

/** What keeps the strategy's pod from running, and the first pod of a new virt-handler that serves. */
function pod({ metadata, status, spec }: Pod): string[] {
  const [container] = status?.containerStatuses ?? []
  const reason = container?.state?.waiting?.reason
  const component = metadata.labels?.['kubevirt.io']
  if (
    component === 'virt-operator-strategy-dumper' &&
    reason !== undefined &&
    reason !== 'ContainerCreating'
  ) {
    return [`pod of the Job: ${reason}`]
  }
  const image = spec?.containers?.[0]?.image ?? ''
  return component === 'virt-handler' && container?.ready === true
    ? [`pod of virt-handler ${image.slice(image.lastIndexOf(':') + 1)}: ready`]
    : []
}
