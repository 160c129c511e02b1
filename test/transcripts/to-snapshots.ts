import type { DaemonSet, Deployment, Job, Pod, ReplicaSet } from '../../src/lib/kube/kinds/workload-kinds.ts'
import type { Event, Lease } from '../../src/lib/kube/kinds/core-kinds.ts'
import type { KubeVirt } from '../../src/lib/kube/kinds/kubevirt-kinds.ts'
import type { KubeObject } from '../../src/lib/kube/object.ts'
import { type Known, notAsked } from '../../src/lib/kube/known.ts'
import type { Snapshot } from '../../src/lib/kubevirt/snapshot.ts'
import { isOperand, isOperator } from '../../src/lib/kubevirt/installed-components.ts'
import { type Line as Recorded, readTranscript } from './read.ts'

/** With the wall-clock time of the recording, RFC 3339. */
export interface Line extends Recorded {
  at: string
}

/** The cluster as it was right after a line. */
export interface Moment {
  line: Line
  snapshot: Snapshot
}

export interface Replay {
  /** Without Leases, as the recording is, or with those that its LeaderElection events tell of. */
  leases: 'unknown' | 'from events'
}

export function transcript(name: string): Line[] {
  return timed(readTranscript(name))
}

/** Throws an Error where a line says nothing of the wall-clock time. */
export function timed(lines: readonly Recorded[]): Line[] {
  return lines.map((line, index) => {
    if (line.at === undefined || Number.isNaN(Date.parse(line.at)))
      throw new Error(`line ${index + 1} has no wall-clock time (at)`)
    return { ...line, at: line.at }
  })
}

/** Rebuilds a Snapshot at every line, from the first KubeVirt CR on. */
export function* moments(lines: readonly Line[], { leases }: Replay): Generator<Moment> {
  const world = new Map<string, KubeObject>()
  const led = new Map<string, Lease>()
  for (const line of lines) {
    const { object, type } = line
    if (object?.kind === 'Event') elect(led, object)
    else if (object && type === 'DELETED') world.delete(key(object))
    else if (object) world.set(key(object), object)
    const snapshot = snapshotOf(
      [...world.values()],
      line.at,
      leases === 'unknown' ? undefined : [...led.values()],
    )
    if (snapshot.kubevirts.known && snapshot.kubevirts.items.length > 0) yield { line, snapshot }
  }
}

function snapshotOf(objects: readonly KubeObject[], takenAt: string, leases: Lease[] | undefined): Snapshot {
  const home = objects.find(({ kind }) => kind === 'KubeVirt')?.metadata.namespace
  const of = <T extends KubeObject>(
    kind: string,
    fits: (object: KubeObject) => boolean = () => true,
  ): Known<T> => ({
    known: true,
    items: objects.filter(
      (object) =>
        object.kind === kind && (kind === 'KubeVirt' || object.metadata.namespace === home) && fits(object),
    ) as T[],
  })
  return {
    takenAt,
    kubevirts: of<KubeVirt>('KubeVirt'),
    operators: of<Deployment>('Deployment', isOperator),
    deployments: of<Deployment>('Deployment', isOperand),
    daemonsets: of<DaemonSet>('DaemonSet', isOperand),
    // Those of VMs are left out by a label, and no other is.
    pods: of<Pod>('Pod', ({ metadata }) => !ofVms.has(metadata.labels?.['kubevirt.io'] ?? '')),
    jobs: of<Job>('Job'),
    leases: leases ? { known: true, items: leases } : { known: false, why: 'not recorded' },
    // Recordings of before November 2026 have none: the owner is told by its name then.
    replicaSets: of<ReplicaSet>('ReplicaSet'),
    nodes: notAsked,
    events: notAsked,
    migrations: notAsked,
    workloads: notAsked,
  }
}

const ofVms: ReadonlySet<string> = new Set(['virt-launcher', 'hotplug-disk'])

function elect(led: Map<string, Lease>, { involvedObject, reason, message = '' }: Event): void {
  if (reason !== 'LeaderElection' || involvedObject?.kind !== 'Lease') return
  const { name = '', namespace = '' } = involvedObject
  led.set(name, {
    apiVersion: 'coordination.k8s.io/v1',
    kind: 'Lease',
    metadata: { name, namespace },
    spec: { holderIdentity: message.replace(/ became leader$/, '') },
  })
}

const key = ({ kind, metadata }: KubeObject): string => `${kind}/${metadata.namespace ?? ''}/${metadata.name}`
