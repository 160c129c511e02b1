import type { ClusterShape } from './cluster-shape.ts'
import type { SimulationFaults } from './simulated-cluster.ts'
import { mixedVms } from './vm-shape.ts'
import { ocpOlm, okdOlm } from './olm/olm-shape.ts'
import { ocp418to420 } from './openshift/openshift-shape.ts'
import table from './scenarios.json' with { type: 'json' }

/** A cluster, what goes wrong in it, and what to ask kvup for. Plain data. */
export type Scenario = ScenarioCluster & Asked

type Asked = Upgrade | Update | TypedLine

interface ScenarioCluster {
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

/** What scenarios.json says by a name: all VMs of a kind, and what lies above KubeVirt by the scenario's own. */
const named = {
  vms: { mixed: mixedVms },
  olm: { okd: okdOlm({ installed: '1.16.0', channel: 'stable-v1.16' }), 'ocp-eus': ocpOlm() },
  openshift: { 'ocp-eus': { ...ocp418to420, monitoring: 'open' } },
}

/**
 * A row of scenarios.json. What does not heal is given up by `--timeout`, most after three minutes; what would keep an upgrade from beginning is
 * there before, and its risk is taken by `--accept`.
 */
type Row = Asked &
  Omit<ScenarioCluster, 'cluster' | 'later'> & {
    cluster: Readonly<Record<string, unknown>>
    /** `off`: the faults that heal. */
    later?: readonly { after: number; off: readonly string[] }[]
  }

const scenarioOf = ({ cluster, later = [], ...row }: Row): Scenario => ({
  ...row,
  cluster: Object.fromEntries(Object.entries(cluster).map(([key, value]) => [key, meant(key, value)])),
  later: later.map(({ after, off }) => ({
    after,
    faults: Object.fromEntries(off.map((fault) => [fault, undefined])),
  })),
})

const meant = (key: string, value: unknown): unknown =>
  (named as Readonly<Record<string, Readonly<Record<string, unknown>>>>)[key]?.[String(value)] ?? value

/** Everything that `kvup demo --scenario` knows; the first is the default. */
export const scenarios: readonly Scenario[] = (table as readonly Row[]).map(scenarioOf)

export const scenarioNamed = (name: string): Scenario | undefined =>
  scenarios.find((scenario) => scenario.name === name)
