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
import type { KubeObject } from '../../../src/lib/kube/object.ts'
import { restart, simulate, type Simulation } from '../../../src/simulator/simulated-cluster.ts'
import { SimClock } from '../../../src/simulator/simulated-clock.ts'
import { type Ended, play, type RestoreTyped, Stage, type Terminal } from '../stage.ts'
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

type Play<T> = (act: (stage: Stage, told: T) => Promise<void>) => Promise<void>

/**
 * Plays on a cluster as it is behind `begin`, which is played once for all of them, at the end of what `earlier` plays; they are told what it returned.
 * Default: in front of everything.
 */
export function playFrom<T>(
  shape: Shape,
  begin: (stage: Stage, told?: T) => Promise<T>,
  earlier: Play<T | undefined> = (act) => play(shape, (stage) => act(stage, undefined)),
): Play<T> {
  const moment = once(async () => {
    const { promise, resolve } = Promise.withResolvers<Moment<T>>()
    await earlier(async (stage, before) => {
      const told = await begin(stage, before)
      const { files, now: at } = stage
      resolve({ objects: stage.simulated.store.everything(), files, at, told })
    })
    return promise
  })
  return async (act) => {
    const { objects, files, at, told } = await moment()
    const clock = new SimClock(new Date(at + restart).toISOString())
    const stage = new Stage(clock, await simulate({ ...shape, clock, from: objects }))
    for (const [name, text] of files) stage.files.set(name, text)
    try {
      await act(stage, told)
    } finally {
      await stage.stop()
    }
  }
}

interface Moment<T> {
  objects: readonly KubeObject[]
  files: ReadonlyMap<string, string>
  /** Ms since the epoch. */
  at: number
  told: T
}

function once<T>(make: () => Promise<T>): () => Promise<T> {
  let made: Promise<T> | undefined
  return () => (made ??= make())
}

/** Plays behind each of these steps of one window, each played on from the one before it. */
export function playsAt<T>(
  shape: Shape,
  steps: readonly string[],
  goTo: (step: string) => (stage: Stage, told?: T) => Promise<T>,
  beginning?: Play<T>,
): (step: string) => Play<T> {
  const plays = new Map<string, Play<T>>()
  let earlier = beginning as Play<T | undefined> | undefined
  for (const step of steps) {
    const here = playFrom(shape, goTo(step), earlier)
    plays.set(step, here)
    earlier = here
  }
  return (step) => {
    const found = plays.get(step)
    if (found === undefined) throw new Error(`no play at ${step}`)
    return found
  }
}

/** Goes to the end of a step; tells what was borrowed before the window. */
const until =
  (step: string, options: Partial<EusRunOptions> = {}) =>
  async (stage: Stage, told?: ReturnType<typeof borrowedFields>) => {
    const before = told ?? borrowedFields(stage)
    const { error } = await eusRunOn(stage, { ...options, until: step })
    if (error) throw error
    return before
  }

/** The window of `small418`, behind each of its parts. */
export const playAt = playsAt(
  small418,
  [
    'pause-workload-updates',
    'pause-worker',
    'request-4.19',
    'accepted-4.19',
    'control-plane-4.19',
    'operator-4.19',
    'accepted-4.20',
    'control-plane-4.20',
    'operator-4.20',
    'forecast',
    'rolled-worker',
  ],
  until,
)

/** The window of two workers that have a VM each. */
export const playTwoAt = playsAt({ ...twoWorkers418, vms: 2 }, ['operator-4.20', 'none-outdated'], until)

/** The window of two pools of one worker each. */
export const playTwoPoolsAt = playsAt(
  withPools('worker', 'gpu'),
  ['control-plane-4.19', 'operator-4.19', 'operator-4.20'],
  until,
)
