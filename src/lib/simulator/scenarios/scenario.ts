import type { ClusterShape } from '../initial-objects.ts'
import type { SimulationFaults } from '../simulation-faults.ts'

/** A cluster, what goes wrong in it, and what to ask kvup for. Plain data. */
export type Scenario = Situation & (Upgrade | Update | TypedLine)

interface Situation {
  /** Kebab-case: what is typed after `--scenario`. */
  readonly name: string
  /** One sentence: what will be seen. */
  readonly title: string
  readonly cluster: ClusterShape
  /** How many times as fast as on the wall its time runs where nothing else is asked for; default 10. */
  readonly speed?: number
  /** Switched on once the cluster is settled, before the upgrade. */
  readonly faults?: SimulationFaults
  /** Switched later, in ms after the start: how a fault heals. */
  readonly later?: readonly { after: number; faults: SimulationFaults }[]
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

interface TypedLine {
  /** Any other command, and all that is typed behind it. */
  readonly typed: { command: 'upgrade' | 'eus run'; args: readonly string[] }
}
