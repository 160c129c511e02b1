import { eusAbort, eusRun } from '../../../src/commands/eus/window-command.ts'
import { eusStatus } from '../../../src/commands/eus/eus-status.ts'
import type { EusStatusOptions } from '../../../src/lib/eus/run/window-status-report.ts'
import {
  type ClusterVersion,
  ClusterVersions,
  MachineConfigPools,
  MachineHealthChecks,
  NodeHealthChecks,
} from '../../../src/lib/kube/kinds/openshift-kinds.ts'
import { HyperConvergeds, Subscriptions } from '../../../src/lib/kube/kinds/operator-kinds.ts'
import { servedCatalog } from '../../../src/simulator/olm/catalog-content.ts'
import { ocpOlm, okdOlm, type OlmShape } from '../../../src/simulator/olm/olm-shape.ts'
import { ocp418to420, okd419 } from '../../../src/simulator/openshift/openshift-shape.ts'
import { servedGraph } from '../../../src/simulator/openshift/cluster-updates.ts'
import type { Simulation } from '../../../src/simulator/simulated-cluster.ts'
import type { Ended, RestoreTyped, Stage, Terminal } from '../stage.ts'
import type { EusRunOptions } from '../../../src/lib/eus/run/window-run.ts'

export type Shape = Omit<Simulation, 'clock'>

/** A cluster of 4.18 in front of the window to 4.20: two pools beside master, both kinds of health checks, Manual approval. */
export const eus418 = {
  methods: ['LiveMigrate'],
  openshift: ocp418to420,
  olm: ocpOlm(),
} as const satisfies Shape

/** A control plane of one machine, and pools of one worker each. */
export const withPools = (...names: readonly string[]): Shape => ({
  ...eus418,
  openshift: {
    ...ocp418to420,
    pools: ['master', ...names].map((name) => ({ name, nodes: 1 })),
    healthChecks: [],
    topology: 'HighlyAvailable',
  },
})

/** The same with one worker, for what is played often. */
export const small418: Shape = {
  ...eus418,
  openshift: {
    ...ocp418to420,
    pools: [
      { name: 'master', nodes: 1 },
      { name: 'worker', nodes: 1 },
    ],
    healthChecks: [{ kind: 'MachineHealthCheck', name: 'workers', pool: 'worker' }],
    topology: 'HighlyAvailable',
  },
}

/** The same with health checks of both kinds. */
export const bothChecks: Shape = {
  ...small418,
  openshift: {
    ...ocp418to420,
    ...small418.openshift,
    healthChecks: [
      { kind: 'MachineHealthCheck', name: 'workers', pool: 'worker' },
      { kind: 'NodeHealthCheck', name: 'worker-nodes', pool: 'worker' },
    ],
  },
}

/** Two workers, of which each has room for the other's VMs, and no health checks. */
export const twoWorkers418: Shape = {
  ...small418,
  openshift: {
    ...ocp418to420,
    pools: [
      { name: 'master', nodes: 1 },
      { name: 'worker', nodes: 2 },
    ],
    healthChecks: [],
  },
}

/** OKD at the last patch of 4.19, with one worker. */
export const on419 = (olm: OlmShape) => ({
  methods: ['LiveMigrate'],
  olm,
  openshift: {
    ...okd419,
    version: '4.19.0-okd-scos.16',
    pools: [
      { name: 'master', nodes: 1 },
      { name: 'worker', nodes: 1 },
    ],
    healthChecks: [],
    topology: 'HighlyAvailable' as const,
  },
})

const defaults: EusRunOptions = {
  accept: [],
  approve: true,
  approveAlso: [],
  poolOrder: [],
  stableFor: '5s',
  timeout: '24d',
  pauseBefore: [],
  graphFile: 'graph.json',
  catalogFile: 'catalog.yaml',
}

/** The graph, and the catalog of the minor at the end: of OpenShift's package and of OKD's. */
export function serveFiles({ files }: Stage): void {
  const catalogs = [servedCatalog(ocpOlm(), '4.20'), servedCatalog(okdOlm(), '4.20')]
  files.set('graph.json', servedGraph(ocp418to420))
  files.set('catalog.yaml', catalogs.join('\n'))
}

export function eusRunOn(
  stage: Stage,
  options: Partial<EusRunOptions> = {},
  terminal: Terminal = {},
): Promise<Ended> {
  serveFiles(stage)
  const typed = { commandLine: 'kvup eus run', ...terminal }
  return stage.perform((cx) => eusRun(cx, { ...defaults, ...options }), typed)
}

export function eusAbortOn(
  stage: Stage,
  options: Partial<EusRunOptions> = {},
  terminal: Terminal = {},
): Promise<Ended> {
  serveFiles(stage)
  const typed = { commandLine: 'kvup eus abort', ...terminal }
  return stage.perform((cx) => eusAbort(cx, { ...defaults, ...options }), typed)
}

/** Without a name the guard of an open window is accepted. */
export function restoreOn(stage: Stage, options: RestoreTyped = {}, terminal: Terminal = {}): Promise<Ended> {
  const accept = [...(options.whats ? [] : ['window-open']), ...(options.accept ?? [])]
  return stage.restore({ stableFor: '5s', ...options, accept }, terminal)
}

export function eusStatusOn(stage: Stage, options: EusStatusOptions = {}, terminal: Terminal = {}) {
  return stage.perform((cx) => eusStatus(cx, options), { commandLine: 'kvup eus status', ...terminal })
}

export function platformOf({ simulated }: Stage): ClusterVersion {
  const [cv] = simulated.store.list(ClusterVersions).items
  if (cv === undefined) throw new Error('no ClusterVersion')
  return cv
}

/** Every field that a window borrows, as it is now: absence is not false, and not an empty list. */
export function borrowedFields({ simulated, methods }: Stage) {
  const { store } = simulated
  const specs = <T>(kind: Parameters<typeof store.list>[0], pick: (spec: Record<string, unknown>) => T) =>
    Object.fromEntries(
      store
        .list(kind)
        .items.map((object) => [
          object.metadata.name,
          pick((object as { spec?: Record<string, unknown> }).spec ?? {}),
        ]),
    )
  return {
    methods,
    stored: specs(HyperConvergeds, (spec) => spec['workloadUpdateStrategy']),
    paused: specs(MachineConfigPools, ({ paused }) => paused),
    machineHealth: store
      .list(MachineHealthChecks)
      .items.map(({ metadata }) => metadata.annotations?.['cluster.x-k8s.io/paused']),
    nodeHealth: specs(NodeHealthChecks, ({ pauseRequests }) => pauseRequests),
    approval: specs(Subscriptions, (spec) => spec['installPlanApproval']),
  }
}

/** The ids of the steps that were done, in their order. */
export const doneSteps = ({ events }: Ended): readonly string[] =>
  events.flatMap((event) => (event.kind === 'step-done' ? [event.step.id] : []))
