import type { Deployment, Pod, ReplicaSet } from '../kube/kinds/workload-kinds.ts'
import { itemsOf, listServed } from '../kube/known.ts'
import { isUpdated, operatorPods, type UpgradeSnapshot } from './installed-components.ts'
import type { Snapshot } from './snapshot.ts'
import type { Reader } from '../kube/cluster.ts'
import { type Lease, Leases } from '../kube/kinds/core-kinds.ts'
import { type Clock, ownTicks } from '../kube/clock.ts'
import { isObserved } from '../kube/object.ts'
import { since } from '../kube/timestamps.ts'
import type { Cause } from './diagnosis/pod-trouble.ts'

/** Who holds a Lease of KubeVirt's own: `virt-operator`, `virt-controller`. Undefined when nobody does or it is not known. */
export function holderOf(
  snapshot: Snapshot,
  lease: string,
  namespace: string | undefined,
): string | undefined {
  const found = itemsOf(snapshot.leases).find(
    (l) => l.metadata.name === lease && l.metadata.namespace === namespace,
  )
  return found?.spec?.holderIdentity || undefined
}

/**
 * True when a pod of the current template leads virt-operator, false when another one, a dead one or none does.
 * Undefined when it cannot be told: the Leases or pods may not be read, or the holder does not look like a pod.
 */
export function operatorLeads(observed: UpgradeSnapshot): boolean | undefined {
  const { snapshot, operator, kubevirt } = observed
  if (!snapshot.leases.known || !snapshot.pods.known || !operator) return undefined
  const holder = holderOf(snapshot, operator.metadata.name, kubevirt.metadata.namespace)
  if (holder === undefined) return false
  const pod = operatorPods(observed).find((p) => holds(p, holder))
  if (pod) return !pod.metadata.deletionTimestamp && isOfTemplate(pod, operator, snapshot)
  // Outside of a cluster network a process is known by its machine's name, which tells nothing about a template.
  return holder.startsWith(`${operator.metadata.name}-`) ? false : undefined
}

/** client-go's identities are the pod's name, some with a random end behind an underscore. */
export function holds(pod: Pod, holder: string): boolean {
  return holder === pod.metadata.name || holder.startsWith(`${pod.metadata.name}_`)
}

/** By the hash of the newest ReplicaSet where it is known, else by what the containers run. */
function isOfTemplate(pod: Pod, operator: Deployment, snapshot: Snapshot): boolean {
  const hash = currentHash(operator, snapshot)
  if (hash !== undefined) return pod.metadata.labels?.['pod-template-hash'] === hash
  return (operator.spec?.template?.spec?.containers ?? []).every((wanted) => {
    const runs = pod.spec?.containers?.find((container) => container.name === wanted.name)
    return runs?.image === wanted.image && JSON.stringify(runs?.args) === JSON.stringify(wanted.args)
  })
}

function currentHash(operator: Deployment, snapshot: Snapshot): string | undefined {
  const key = 'deployment.kubernetes.io/revision'
  const revision = operator.metadata.annotations?.[key]
  if (!isObserved(operator) || revision === undefined) return undefined
  return itemsOf(snapshot.replicaSets).find(
    (set) =>
      set.metadata.annotations?.[key] === revision &&
      set.metadata.ownerReferences?.some((owner) => owner.uid === operator.metadata.uid),
  )?.metadata.labels?.['pod-template-hash']
}

const flag = '--launcher-image'

/** The image that every VMI's launcher is compared with: virt-controller's own argument (facts 2.10). Undefined: not seen. */
export function launcherImage(snapshot: Snapshot): string | undefined {
  const controller = itemsOf(snapshot.deployments).find((d) => d.metadata.name === 'virt-controller')
  return controller && launcherArgument(controller)
}

/** The same of one Deployment or ReplicaSet. */
export function launcherArgument({ spec }: Deployment | ReplicaSet): string | undefined {
  const args =
    spec?.template?.spec?.containers?.flatMap((c) => [...(c.command ?? []), ...(c.args ?? [])]) ?? []
  const place = args.findIndex((arg) => arg === flag || arg.startsWith(`${flag}=`))
  if (place < 0) return undefined
  return args[place] === flag ? args[place + 1] : args[place]?.slice(flag.length + 1)
}

/**
 * The virt-controller that leads was made for the target; only then outdated labels and counts are true (lab 10, 15).
 * Undefined when it cannot be told: Leases or pods may not be read, or the holder does not look like a pod.
 */
export function newControllerLeads(snapshot: Snapshot): boolean | undefined {
  if (!snapshot.leases.known || !snapshot.pods.known) return undefined
  const [kubevirt] = itemsOf(snapshot.kubevirts)
  const holder = holderOf(snapshot, 'virt-controller', kubevirt?.metadata.namespace)
  if (holder === undefined) return false
  const pod = snapshot.pods.items.find((p) => holds(p, holder))
  if (pod) return isUpdated(pod, kubevirt?.status?.targetDeploymentID)
  return holder.startsWith('virt-controller-') ? false : undefined
}

/** The Leases of KubeVirt's own leaders: without the first nothing is rolled, without the second no VM starts or migrates. */
const leaders: readonly string[] = ['virt-operator', 'virt-controller']

/** Term of a Lease that does not say its own, s: what KubeVirt writes (facts 10.2). */
const usualTerm = 15
/** Whoever writes the Lease names its term: a longer one would keep everybody waiting, s. */
const longestTerm = 60
/** Its leader has failed to renew it at least six times, for it tries every 2 s (facts 10.2). */
const terms = 2
/**
 * At most so much of the time between two looks counts as watched, ms: while the API server is away, or this machine sleeps, nobody can be
 * seen to renew.
 */
const gapCounts = 10_000
/** What was seen before so long says nothing of now, ms. */
const forgotten = 30_000
const readEvery = 1000

/** A Lease that was watched for twice its term and did not change. */
export interface SilentLease {
  /** `virt-operator`: the Lease and the component have one name. */
  name: string
  namespace: string
  holder: string
  /** When it was renewed last, by the clock of the node of its holder. RFC 3339. */
  renewed?: string
  /** For how long it was watched at least, in s. */
  watchedFor: number
}

/** A Lease of a leader, as far as it was watched. */
interface WatchedLease {
  lease: Lease
  /** Changes whenever somebody renews or takes it. */
  mark: string
  /** Our own time of the last look, ms. */
  at: number
  /** For how long this mark was watched, ms. */
  watched: number
  /** The cluster itself was asked, and said the same. */
  confirmed: boolean
  /** It was seen to change, so that somebody renewed it while we looked. */
  moved: boolean
}

/**
 * Tells a leader that is gone from one whose node has a wrong clock: by whether its Lease changes while it is watched. Keeps what earlier looks
 * saw, so that whoever looks again and again need not wait.
 */
export class LeaseWatch {
  readonly #observed = new Map<string, WatchedLease>()

  /** A Lease is older than its term still, and was not watched for long enough: where time stands still, and in the middle of a watch. */
  isUndecided(clock: Clock): boolean {
    return this.#suspects(clock).length > 0
  }

  /** Those that do not change, after a look at all Leases of KubeVirt's namespace; pure but for what is kept. */
  read(leases: readonly Lease[], namespace: string, clock: Clock): readonly SilentLease[] {
    const at = ownTicks(clock)
    for (const name of leaders) {
      const lease = leases.find(({ metadata: m }) => m.name === name && m.namespace === namespace)
      const key = `${namespace}/${name}`
      if (lease?.spec?.holderIdentity) this.#note(key, lease, { at, speed: clock.speed ?? 1 })
      else this.#observed.delete(key)
    }
    return this.#silent()
  }

  /**
   * The same, and where a Lease is older than its term by the cluster's time, it is watched until it changes or is silent: for twice its term
   * at most. `told` hears of that before the wait. Throws what the Reader throws, and the signal's reason.
   */
  async settle(
    leases: readonly Lease[],
    { namespace, reader, clock, signal, told }: Watching,
  ): Promise<readonly SilentLease[]> {
    this.read(leases, namespace, clock)
    const suspects = this.#suspects(clock)
    const [first] = suspects
    if (first === undefined) return this.#silent()
    const most = Math.max(...suspects.map(({ lease }) => terms * termOf(lease)))
    told?.(suspicion(first.lease, most / 1000))
    for (let waited = 0; waited < 2 * most && this.#suspects(clock).length > 0; waited += readEvery) {
      await clock.sleep(readEvery, signal)
      this.read(await leasesNow(reader, namespace), namespace, clock)
    }
    return this.#silent()
  }

  /**
   * Those that the cluster itself was asked about as well since they seem silent: `leases` may come from a watch, which may have stopped to tell
   * without a word. Throws what the Reader throws.
   */
  async confirmed(
    leases: readonly Lease[],
    { namespace, reader, clock }: Pick<Watching, 'reader' | 'namespace' | 'clock'>,
  ): Promise<readonly SilentLease[]> {
    const silent = this.read(leases, namespace, clock)
    const doubted = [...this.#observed.values()].some((one) => isSilent(one) && !one.confirmed)
    if (!doubted) return silent
    const lists = await Promise.all(leaders.map((name) => listServed(reader, Leases, { namespace, name })))
    this.read(lists.flat(), namespace, clock)
    for (const one of this.#observed.values()) one.confirmed = isSilent(one)
    return this.#silent()
  }

  #note(key: string, lease: Lease, { at, speed }: { at: number; speed: number }): void {
    const mark = JSON.stringify([lease.metadata.uid, lease.spec?.holderIdentity, lease.spec?.renewTime])
    const before = this.#observed.get(key)
    const passed = before ? Math.max(0, (at - before.at) * speed) : 0
    const same = before?.mark === mark
    this.#observed.set(key, {
      lease,
      mark,
      at,
      watched: same ? before.watched + Math.min(passed, gapCounts) : 0,
      confirmed: same && before.confirmed,
      moved: before !== undefined && passed <= forgotten && (before.moved || !same),
    })
  }

  #silent(): readonly SilentLease[] {
    return [...this.#observed.values()].filter(isSilent).map(silentOf)
  }

  /** Older than its term by the cluster's time, and neither known to be silent nor seen to change meanwhile. */
  #suspects(clock: Clock): readonly WatchedLease[] {
    return [...this.#observed.values()].filter((one) => {
      const { lease, moved, watched } = one
      const age = since(lease.spec?.renewTime, clock.now()) ?? Infinity
      return age > termOf(lease) && !isSilent(one) && !(moved && watched < termOf(lease))
    })
  }
}

const watches = new WeakMap<Clock, LeaseWatch>()

/** The watch that all looks of a process share, so that a Lease is waited for once: its clock is the process's. */
export function leaseWatchOf(clock: Clock): LeaseWatch {
  const key = clock.base ?? clock
  const watch = watches.get(key) ?? new LeaseWatch()
  watches.set(key, watch)
  return watch
}

const silentOf = ({ lease: { metadata, spec }, lease }: WatchedLease): SilentLease => ({
  name: metadata.name,
  namespace: metadata.namespace ?? '',
  holder: spec?.holderIdentity ?? '',
  ...(spec?.renewTime && { renewed: spec.renewTime }),
  watchedFor: (terms * termOf(lease)) / 1000,
})

interface Watching {
  namespace: string
  reader: Reader
  clock: Clock
  signal?: AbortSignal | undefined
  told?: ((line: string) => void) | undefined
}

const isSilent = ({ lease, watched }: WatchedLease): boolean => watched >= terms * termOf(lease)

/** ms. */
function termOf({ spec }: Lease): number {
  return Math.min(spec?.leaseDurationSeconds ?? usualTerm, longestTerm) * 1000
}

async function leasesNow(reader: Reader, namespace: string): Promise<Lease[]> {
  const found = await Promise.all(leaders.map((name) => reader.get(Leases, { name, namespace })))
  return found.flatMap((one) => (one.is === 'object' ? [one.object] : []))
}

function suspicion({ metadata: { name } }: Lease, seconds: number): string {
  return `the Lease of ${name} has expired: waiting up to ${seconds} s for ${name} to renew it`
}

/** What it means, and what shows more. It lasts since the last renewal. */
export function silentLeaseCause({ name, namespace, holder, renewed, watchedFor }: SilentLease): Cause {
  const message = `its leader ${holder} did not renew its Lease within ${watchedFor} s`
  return {
    kind: 'lease',
    component: name,
    reason: 'LeaseNotRenewed',
    terminal: true,
    namespace,
    pods: [],
    nodes: [],
    message,
    ...(renewed !== undefined && { since: renewed }),
    sentence: `${name} is gone or stuck: ${message}`,
    commands: [
      `kubectl -n ${namespace} get pods -l kubevirt.io=${name} -o wide`,
      `kubectl -n ${namespace} logs -l kubevirt.io=${name} --tail=20`,
    ],
  }
}

/** Who holds kvup's lock, as its Lease says. */
export interface LockHolder {
  /** `user@host/pid/nonce`: what `--take-over` takes. */
  holder: string
  /** RFC 3339: when it was taken. */
  since?: string
  /** RFC 3339: when it was renewed last. */
  renewed?: string
}

const term = 15

/** Undefined where nobody holds it: a Lease that was not renewed for its term is a dead run's; a clock that is a bit off does no harm here. */
export function lockHolder(lease: Lease | undefined, at: Date): LockHolder | undefined {
  const { holderIdentity: holder, renewTime: renewed, acquireTime, leaseDurationSeconds } = lease?.spec ?? {}
  const age = since(renewed, at)
  if (!holder || !renewed || age === undefined || age > (leaseDurationSeconds ?? term) * 1000)
    return undefined
  return { holder, ...(acquireTime && { since: acquireTime }), renewed }
}

/** Who holds kvup's lock; `gone` where its process was on this machine and has ended. */
export interface ShownHolder extends LockHolder {
  gone?: { user: string; host: string; pid: number }
}
