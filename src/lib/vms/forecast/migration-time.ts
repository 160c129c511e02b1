import {
  type KubeVirt,
  MigrationPolicies,
  type MigrationPolicy,
  type VirtualMachineInstance,
} from '../../kube/kinds/kubevirt-kinds.ts'
import { guestMemory } from '../../kubevirt/snapshot.ts'
import { versionOf } from '../../releases/release-versions.ts'
import { quantity } from '../../kube/quantity.ts'
import { workloadSettings } from '../strategy/workload-settings.ts'
import type { Reader } from '../../kube/cluster.ts'
import { Namespaces } from '../../kube/kinds/core-kinds.ts'
import { isNotFound } from '../../kube/errors.ts'
import { goDuration } from '../../kube/duration.ts'
import { seconds } from '../../kube/clock.ts'
import { type MigrationLimits, migrationLimits } from '../migrations/migration.ts'

/** From … to, in seconds. */
export interface Span {
  low: number
  high: number
}

/** What bounds one migration. */
export interface MigrationSpeed {
  /** Bytes per second; 0: no limit. */
  bandwidth: number
  completionTimeoutPerGiB: number
}

/** The cluster's, from the KubeVirt CR, else KubeVirt's default for its version (facts 1.3). */
export function speedOf({ spec, status }: KubeVirt): MigrationSpeed {
  const set = (spec?.configuration?.['migrations'] ?? {}) as Record<string, unknown>
  const version = versionOf(status?.observedKubeVirtVersion)
  const value = (name: string) =>
    set[name] ?? workloadSettings.find((one) => one.name === name)?.byDefault(version)
  return {
    bandwidth: quantity(value('bandwidthPerMigration')) ?? 0,
    completionTimeoutPerGiB: Number(value('completionTimeoutPerGiB')),
  }
}

/** What a policy says holds for its VMIs, the rest is the cluster's. */
export function speedBy(policy: MigrationPolicy | undefined, cluster: MigrationSpeed): MigrationSpeed {
  const { bandwidthPerMigration, completionTimeoutPerGiB } = policy?.spec ?? {}
  return {
    bandwidth: quantity(bandwidthPerMigration) ?? cluster.bandwidth,
    completionTimeoutPerGiB: completionTimeoutPerGiB ?? cluster.completionTimeoutPerGiB,
  }
}

const gibi = 2 ** 30
/** The target pod has to start as well. */
const starting: Span = { low: 3, high: 30 }
/** Where no limit is set: bytes per second of a link of 25 Gbit/s, and of one of 1 Gbit/s. */
const links = { fast: 3.125e9, slow: 0.125e9 }
/** Pages that the guest never wrote to are not sent; those that it goes on writing to are sent again. */
const sent: Span = { low: 0.25, high: 3 }

/** By this VMI's last migration where that succeeded; else by its memory, at most what KubeVirt gives it time for. Pure. */
export function migrationSpan(vmi: VirtualMachineInstance, speed: MigrationSpeed): Span {
  const last = lastMigration(vmi)
  if (last !== undefined) return { low: last / 2 + starting.low, high: last * 2 + starting.high }
  const memory = guestMemory(vmi)
  const { fast, slow } = speed.bandwidth > 0 ? { fast: speed.bandwidth, slow: speed.bandwidth } : links
  const patience = speed.completionTimeoutPerGiB * Math.max(1, memory / gibi)
  return {
    low: starting.low + (memory * sent.low) / fast,
    high: starting.high + Math.min((memory * sent.high) / slow, patience),
  }
}

/** How long this VMI's last migration took, in seconds; undefined where there was none, and where it failed. */
export function lastMigration({ status }: VirtualMachineInstance): number | undefined {
  const { startTimestamp = '', endTimestamp = '', completed, failed } = status?.migrationState ?? {}
  const took = (Date.parse(endTimestamp) - Date.parse(startTimestamp)) / 1000
  return completed === true && failed !== true && took > 0 ? took : undefined
}

type Labels = Readonly<Record<string, string>>

/** The MigrationPolicies, and the labels of namespaces where one asks for them. */
export interface Policies {
  all: readonly MigrationPolicy[]
  namespaces: ReadonlyMap<string, Labels>
}

/** None where the kind is not served. Throws ApiError but 404. */
export async function readPolicies(reader: Reader): Promise<Policies> {
  const all = await reader.list(MigrationPolicies).catch((error: unknown) => {
    if (!isNotFound(error)) throw error
    return []
  })
  const namespaces = new Map<string, Labels>()
  if (all.some(({ spec }) => spec?.selectors?.namespaceSelector))
    for (const { metadata } of await reader.list(Namespaces))
      namespaces.set(metadata.name, metadata.labels ?? {})
  return { all, namespaces }
}

/**
 * The one that selects it by most labels, of equals by most of the VM's own, then the first by name. Empty selectors select every VM,
 * none at all select none (KV:pkg/virt-controller/watch/migration/migrationpolicy.go, matchPolicy). Pure.
 */
export function policyFor(
  { metadata: { namespace = '', labels = {} } }: VirtualMachineInstance,
  { all, namespaces }: Policies,
): MigrationPolicy | undefined {
  const matching = all.flatMap((policy) => {
    const { selectors } = policy.spec ?? {}
    if (!selectors) return []
    const { namespaceSelector = {}, virtualMachineInstanceSelector = {} } = selectors
    const own = Object.keys(virtualMachineInstanceSelector).length
    const weight = Object.keys(namespaceSelector).length + own
    const selected =
      has(namespaces.get(namespace) ?? {}, namespaceSelector) && has(labels, virtualMachineInstanceSelector)
    return selected ? [{ policy, weight, own }] : []
  })
  const [best] = matching.toSorted(
    (a, b) => b.weight - a.weight || b.own - a.own || byName(a.policy, b.policy),
  )
  return best?.policy
}

const has = (labels: Labels, wanted: Labels): boolean =>
  Object.entries(wanted).every(([key, value]) => labels[key] === value)

const byName = (a: MigrationPolicy, b: MigrationPolicy) => (a.metadata.name < b.metadata.name ? -1 : 1)

/** Adds up how long the whole update takes, in seconds: little is kept but a number or two per node. */
export class WholeTime {
  readonly #limits: MigrationLimits
  readonly #batch: { size: number; interval: number }
  readonly #byNode = new Map<string, Span>()
  readonly #all: Span = { low: 0, high: 0 }
  #longest: Span = { low: 0, high: 0 }
  #evictions = 0

  constructor(kubevirt: KubeVirt) {
    const { batchEvictionSize = 10, batchEvictionInterval = '1m0s' } =
      kubevirt.spec?.workloadUpdateStrategy ?? {}
    this.#limits = migrationLimits(kubevirt)
    this.#batch = { size: batchEvictionSize, interval: (goDuration(batchEvictionInterval) ?? 0) / seconds }
  }

  addMigration(node: string, { low, high }: Span): void {
    const there = this.#byNode.get(node) ?? { low: 0, high: 0 }
    this.#byNode.set(node, { low: there.low + low, high: there.high + high })
    this.#all.low += low
    this.#all.high += high
    this.#longest = { low: Math.max(this.#longest.low, low), high: Math.max(this.#longest.high, high) }
  }

  addEviction(): void {
    this.#evictions++
  }

  /** Undefined where nothing moves. The limit that is reached first decides: of the cluster, of the fullest node, of the batches. */
  get span(): Span | undefined {
    if (this.#byNode.size === 0 && this.#evictions === 0) return undefined
    const batches = Math.max(0, Math.ceil(this.#evictions / this.#batch.size) - 1) * this.#batch.interval
    return { low: this.#migrations('low', batches), high: this.#migrations('high', batches) }
  }

  #migrations(end: keyof Span, batches: number): number {
    const { perCluster, perNode } = this.#limits
    let most = Math.max(batches, this.#longest[end], this.#all[end] / perCluster)
    for (const there of this.#byNode.values()) most = Math.max(most, there[end] / perNode)
    return Math.ceil(most)
  }
}
