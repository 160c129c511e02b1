import type { KubeVirt } from '../../cluster/kinds/kubevirt.ts'
import { goDuration } from '../../system/go-duration.ts'
import { seconds } from '../../system/units.ts'
import { type MigrationLimits, migrationLimits } from '../migrations/limits.ts'
import type { Span } from './migration-time.ts'

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
