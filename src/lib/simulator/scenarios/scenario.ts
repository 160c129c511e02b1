import type { ClusterShape } from '../initial-objects.ts'
import type { OperatorFaults } from '../virt-operator/faults.ts'

/** A cluster, what goes wrong in it, and what to ask kvup for. Plain data. */
export type Scenario = Situation & (Upgrade | Update)

interface Situation {
  /** Kebab-case: what is typed after `--scenario`. */
  readonly name: string
  /** One sentence: what will be seen. */
  readonly title: string
  readonly cluster: ClusterShape
  /** Switched on once the cluster is settled, before the upgrade. */
  readonly faults?: OperatorFaults
  /** Switched later, in ms after the start: how a fault heals. */
  readonly later?: readonly { after: number; faults: OperatorFaults }[]
}

interface Upgrade {
  readonly upgrade: {
    to: string
    method: 'image-tag' | 'operator-manifest'
    /** Further arguments of `kvup upgrade`. */
    flags?: readonly string[]
  }
}

interface Update {
  /** The arguments of `kvup workloads update`. */
  readonly update: readonly string[]
}
