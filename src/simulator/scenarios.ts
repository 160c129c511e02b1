import type { ClusterShape } from './cluster-shape.ts'
import type { SimulationFaults } from './simulated-cluster.ts'
import { mixedVms } from './vm-shape.ts'
import { ocpOlm, okdOlm } from './olm/olm-shape.ts'
import { ocp418to420, type OpenShiftShape } from './openshift/openshift-shape.ts'

/** A cluster, what goes wrong in it, and what to ask kvup for. Plain data. */
export type Scenario = ScenarioCluster & (Upgrade | Update | TypedLine)

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

/** Upgrades that reach their end. */
const goodScenarios: readonly Scenario[] = [
  {
    name: 'image-tag',
    title: 'A newer operator is installed; imageTag moves KubeVirt to its version.',
    cluster: {
      kubernetes: 'v1.34.2',
      version: 'v1.7.4',
      operator: 'v1.8.4',
      method: 'image-tag',
      workers: 6,
      vms: 12,
      methods: ['LiveMigrate'],
    },
    upgrade: { to: 'v1.8.4', method: 'image-tag' },
  },
  {
    name: 'operator-manifest',
    title: "The next release's kubevirt-operator.yaml is applied; KubeVirt follows its operator.",
    cluster: { version: 'v1.8.4', vms: 6, methods: ['LiveMigrate'] },
    upgrade: { to: 'v1.9.0', method: 'operator-manifest' },
  },
  {
    name: 'mixed-workloads',
    title: 'VMs of every kind: some migrate, one always fails to, some would be shut down.',
    cluster: { version: 'v1.8.4', vms: mixedVms, methods: ['LiveMigrate', 'Evict'] },
    upgrade: { to: 'v1.9.0', method: 'operator-manifest', flags: ['--leave-paused'] },
  },
  {
    name: 'outdated-workloads',
    title: 'KubeVirt is new, and the VMs still run on the old virt-launcher: kvup moves them, one first.',
    cluster: { version: 'v1.9.0', updatedFrom: 'v1.8.4', vms: mixedVms, methods: [] },
    update: ['--canary-label', 'kubevirt.io/vm=web-1', '--order', 'name'],
  },
  {
    name: 'blip',
    title: 'Four seconds after the update looks finished, virt-operator fails once and recovers.',
    cluster: { version: 'v1.8.4' },
    faults: { blipAfterReady: true },
    upgrade: { to: 'v1.9.0', method: 'operator-manifest' },
  },
  {
    name: 'second-handler-roll',
    title: 'virt-handler is restarted twice more after the update looks finished.',
    cluster: { version: 'v1.7.0', operator: 'v1.8.4', method: 'image-tag', vms: 6, methods: ['LiveMigrate'] },
    faults: { moreHandlerRolls: true },
    upgrade: { to: 'v1.8.4', method: 'image-tag' },
  },
  {
    name: 'large',
    title: 'Forty workers: virt-handler is updated on one node first, then on a tenth of them at a time.',
    cluster: { version: 'v1.8.4', workers: 40, vms: 80, methods: ['LiveMigrate'] },
    upgrade: { to: 'v1.9.0', method: 'operator-manifest' },
  },
]

const okd422: OpenShiftShape = {
  flavour: 'okd',
  version: '4.22.0-okd-scos.3',
  channel: 'stable-scos-4',
  graph: [
    {
      version: '4.22.0-okd-scos.3',
      image: `quay.io/okd/scos-release@sha256:${'4c22'.repeat(16)}`,
      kubernetes: '1.35.2',
      channels: ['stable-scos-4'],
      to: [],
    },
  ],
}

/** Upgrades where a platform, OLM and HyperConverged lie above KubeVirt. */
const platformScenarios: readonly Scenario[] = [
  {
    name: 'okd',
    title:
      'OKD: HyperConverged is two minors behind. kvup changes its channel and approves each InstallPlan.',
    cluster: {
      olm: okdOlm({ installed: '1.16.0', channel: 'stable-v1.16' }),
      openshift: okd422,
      vms: 6,
      methods: ['LiveMigrate'],
    },
    typed: { command: 'upgrade', args: ['--to', '1.18.1', '--method', 'olm'] },
  },
  {
    name: 'ocp-eus',
    title: 'EUS upgrade of OpenShift from 4.18 to 4.20: worker pools paused, one minor at a time.',
    cluster: {
      olm: ocpOlm(),
      openshift: { ...ocp418to420, monitoring: 'open' },
      vms: 8,
      methods: ['LiveMigrate'],
    },
    speed: 300,
    typed: {
      command: 'eus run',
      args: ['--to', '4.20', '--graph-file', 'graph.json', '--catalog-file', 'catalog.yaml', '--approve'],
    },
  },
]

const tagged = { version: 'v1.7.0', operator: 'v1.8.4', method: 'image-tag' } as const
const toTag = { to: 'v1.8.4', method: 'image-tag' } as const
/** What does not heal is given up after three minutes. */
const givenUp = { flags: ['--timeout', '3m'] } as const
/** The same of a release that nobody made. */
const unknownTag = { flags: ['--accept', 'release-unknown', ...givenUp.flags] } as const
/** What would keep an upgrade from beginning: it is there before, and its risk is taken. */
const knownNode = ['--accept', 'node-ready', '--accept', 'healthy-now'] as const
const toManifest = { to: 'v1.9.0', method: 'operator-manifest' } as const

/** Upgrades that stall or fail, and some that heal. */
const troubleScenarios: readonly Scenario[] = [
  {
    name: 'wrong-tag',
    title: 'The tag does not exist: the CR shows no error, and the Job of the install strategy waits.',
    cluster: { version: 'v1.8.4', method: 'image-tag' },
    faults: { unpullable: ':v1\\.8\\.5$' },
    upgrade: { to: 'v1.8.5', method: 'image-tag', ...unknownTag },
  },
  {
    name: 'missing-image',
    title: 'The mirror lacks one image of the release: everything else is updated, then it stalls.',
    cluster: { version: 'v1.8.4' },
    faults: { unpullable: '/virt-template-apiserver:' },
    upgrade: { ...toManifest, ...givenUp },
  },
  {
    name: 'slow-mirror',
    title: 'The image of virt-handler cannot be pulled for two minutes, then it can.',
    cluster: tagged,
    faults: { unpullable: '/virt-handler:v1\\.8\\.4$' },
    later: [{ after: 120_000, faults: { unpullable: undefined } }],
    upgrade: toTag,
  },
  {
    name: 'denied-registry',
    title: 'The registry refuses the image of virt-api: the last component is not updated.',
    cluster: tagged,
    faults: { denied: '/virt-api:v1\\.8\\.4$' },
    upgrade: { ...toTag, ...givenUp },
  },
  {
    name: 'broken-job',
    title: 'The Job of the install strategy keeps failing until kvup gives up.',
    cluster: tagged,
    faults: { crashing: '/virt-operator:v1\\.8\\.3$' },
    upgrade: { to: 'v1.8.3', method: 'image-tag', ...givenUp },
  },
  {
    name: 'quota-used-up',
    title: 'A ResourceQuota blocks new pods: only an event says so.',
    cluster: tagged,
    faults: { quota: 'kubevirt' },
    upgrade: { ...toTag, ...givenUp },
  },
  {
    name: 'stored-version',
    title: 'A CRD still stores a version that the new release drops: the API server refuses the CRD.',
    cluster: { version: 'v1.8.4' },
    faults: { storedVersion: { crd: 'virtualmachineexports.export.kubevirt.io', version: 'v1alpha1' } },
    upgrade: { ...toManifest, flags: ['--accept', 'crd-stored-versions', ...givenUp.flags] },
  },
  {
    name: 'frozen-status',
    title: 'virt-operator cannot write its status: everything is updated, and the CR does not show it.',
    cluster: tagged,
    faults: { statusTooLarge: true },
    upgrade: { ...toTag, flags: ['--timeout', '15m'] },
  },
  {
    name: 'canary-crash',
    title: 'The first new virt-handler keeps crashing: the update stops at one node.',
    cluster: tagged,
    faults: { crashing: '/virt-handler:v1\\.8\\.4$' },
    upgrade: { ...toTag, ...givenUp },
  },
  {
    name: 'unschedulable',
    title: 'No control-plane node has room for the new virt-api.',
    cluster: tagged,
    faults: { unschedulable: '^virt-api-' },
    upgrade: { ...toTag, ...givenUp },
  },
  {
    name: 'not-ready-node',
    title: 'A node was NotReady before the upgrade: virt-handler cannot become ready on every node.',
    cluster: tagged,
    faults: { notReady: ['worker-2'] },
    upgrade: { ...toTag, flags: [...knownNode, ...givenUp.flags] },
  },
  {
    name: 'node-comes-back',
    title: 'A node is NotReady for the first three minutes.',
    cluster: tagged,
    faults: { notReady: ['worker-2'] },
    later: [{ after: 180_000, faults: { notReady: undefined } }],
    upgrade: { ...toTag, flags: knownNode },
  },
  {
    name: 'old-operator',
    title:
      'imageTag is newer than the operator: virt-operator may not do this, and the upgrade cannot succeed.',
    cluster: { version: 'v1.7.0', method: 'image-tag' },
    upgrade: { ...toTag, flags: ['--accept', 'operator-not-older', '--timeout', '3m'] },
  },
  {
    name: 'operator-without-rights',
    title: 'The ClusterRole of virt-operator lacks a rule.',
    cluster: tagged,
    faults: { withoutRights: true },
    upgrade: { ...toTag, ...givenUp },
  },
  {
    name: 'operator-stopped',
    title: 'virt-operator hangs: nobody holds its Lease, and nothing processes the CR.',
    cluster: tagged,
    faults: { stopped: true },
    upgrade: { ...toTag, ...givenUp },
  },
]

/** Everything that `kvup demo --scenario` knows; the first is the default. */
export const scenarios: readonly Scenario[] = [...goodScenarios, ...platformScenarios, ...troubleScenarios]

export function scenarioNamed(name: string): Scenario | undefined {
  return scenarios.find((scenario) => scenario.name === name)
}
