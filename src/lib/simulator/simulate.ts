import type { Cluster } from '../cluster/cluster.ts'
import type { KubeObject } from '../cluster/object.ts'
import type { Pod } from '../cluster/kinds/pods.ts'
import type { Clock } from '../system/clock.ts'
import { seed } from './api/seed.ts'
import { type StoreClientOptions, storeCluster } from './api/client.ts'
import { Store } from './api/store.ts'
import { hyperConvergedKind } from './hyperconverged/objects.ts'
import { runHyperConverged } from './hyperconverged/operator.ts'
import type { HyperConvergedShape } from './hyperconverged/versions.ts'
import { FastForward } from './fast-forward.ts'
import { type ClusterShape, defaultVersion, initialObjects } from './initial-objects.ts'
import type { ControllerContext } from './machinery/controller.ts'
import { Faults } from './machinery/faults.ts'
import { seeded } from './machinery/luck.ts'
import { runMachinery } from './machinery/machinery.ts'
import { PodLogs, servePodLogs } from './machinery/pod-logs.ts'
import { limitPods } from './machinery/pod-quota.ts'
import type { Program } from './machinery/program.ts'
import type { OperatorFaults } from './virt-operator/faults.ts'
import { runOperator } from './virt-operator/operator.ts'
import { type ManifestOptions, operatorManifest } from './virt-operator/operator-manifest.ts'
import { storeOldVersions } from './virt-operator/stored-versions.ts'
import { dumpStrategy } from './virt-operator/strategy-dumper.ts'
import { runVirtController } from './virt-operator/virt-controller/program.ts'
import { serveVirtApi } from './virt-operator/virt-controller/subresources.ts'

export interface Simulation extends ClusterShape {
  clock: Clock
  /** Default: the same numbers in every run. */
  random?: () => number
  /** Switched on once everything is settled. */
  faults?: OperatorFaults
}

/** A whole cluster with KubeVirt in it, alive until `stop`. */
export interface SimulatedCluster {
  readonly store: Store
  readonly faults: Faults<OperatorFaults>
  /** The cluster as a user sees it; without options as an admin. */
  cluster(options?: StoreClientOptions): Cluster
  /** The objects of that release's kubevirt-operator.yaml, for this cluster's registry. */
  operatorManifest(version: string): KubeObject[]
  /** Ends every controller. Rejects with the bug that ended one before. */
  stop(): Promise<void>
}

/** How much of the cluster's past is played before it is handed out: an installation takes about half of one, an update about one. */
const past = 120_000

/** Installs KubeVirt in a new cluster, lets it settle, and hands it out. Takes milliseconds, whatever the clock. */
export async function simulate(simulation: Simulation): Promise<SimulatedCluster> {
  const { updatedFrom, hyperconverged } = simulation
  const time = new FastForward(simulation.clock, updatedFrom === undefined ? past : 3 * past)
  const store = new Store(time)
  if (hyperconverged) store.kinds.add(hyperConvergedKind(hyperconverged))
  seed(
    store,
    initialObjects(updatedFrom === undefined ? simulation : { ...simulation, version: updatedFrom }),
  )
  const faults = new Faults<OperatorFaults>()
  const logs = new PodLogs()
  const life = new Life({
    store,
    clock: time,
    random: simulation.random ?? seeded(1),
    faults,
    logs,
    hyperconverged,
  })
  serveVirtApi(store)
  servePodLogs(store, logs)
  limitPods(store, faults)
  storeOldVersions(store, faults)
  const updated = updatedFrom === undefined ? undefined : updateLater(simulation, { time, store })
  await time.arrive()
  await updated
  faults.set(simulation.faults ?? {})
  life.throwIfBroken()
  return {
    store,
    faults,
    cluster: (options) => storeCluster(store, options),
    operatorManifest: (version) => operatorManifest(version, manifestOptions(simulation)),
    stop: () => life.stop(),
  }
}

/** Once it is installed, somebody applies the manifest of its version. */
async function updateLater(
  simulation: Simulation,
  { time, store }: { time: Clock; store: Store },
): Promise<void> {
  await time.sleep(past)
  const { writer } = storeCluster(store, { fieldManager: 'kubectl' })
  for (const object of operatorManifest(simulation.version ?? defaultVersion, manifestOptions(simulation))) {
    const kind = store.kinds.ofObject(object)
    if (kind) await writer.apply(kind, object, { force: true })
  }
}

function manifestOptions({ registry, pinned }: ClusterShape): ManifestOptions {
  return { ...(registry === undefined ? {} : { registry }), ...(pinned === undefined ? {} : { pinned }) }
}

interface World {
  readonly store: Store
  readonly clock: Clock
  readonly random: () => number
  readonly faults: Faults<OperatorFaults>
  readonly logs: PodLogs
  readonly hyperconverged: HyperConvergedShape | undefined
}

/** Everything that runs in the cluster. */
class Life {
  readonly #world: World
  readonly #end = new AbortController()
  readonly #running: Promise<void>
  #bug: unknown

  constructor(world: World) {
    this.#world = world
    const machinery = {
      faults: world.faults,
      programOf: (pod: Pod) => this.#programOf(pod),
      broken: (error: unknown) => this.#broken(error),
    }
    const cx = this.#context('kube-controller-manager', 'system:kube-controller-manager', this.#end.signal)
    const work = Promise.all([runMachinery(cx, machinery), this.#hyperConverged()])
    this.#running = work.then(
      () => undefined,
      (error: unknown) => this.#broken(error),
    )
  }

  async #hyperConverged(): Promise<void> {
    const { hyperconverged, faults } = this.#world
    if (hyperconverged === undefined) return
    const account = 'system:serviceaccount:kubevirt:hyperconverged-cluster-operator'
    const cx = this.#context('hyperconverged-cluster-operator', account, this.#end.signal)
    await runHyperConverged(cx, hyperconverged, faults)
  }

  throwIfBroken(): void {
    if (this.#bug !== undefined) throw this.#bug
  }

  async stop(): Promise<void> {
    this.#end.abort()
    await this.#running
    this.throwIfBroken()
  }

  #broken(error: unknown): void {
    if (this.#end.signal.aborted) return
    this.#bug = error
    this.#end.abort()
  }

  /** Controllers may everything, and the audit log tells them apart. */
  #context(fieldManager: string, user: string, signal: AbortSignal): ControllerContext {
    const { store, clock, random } = this.#world
    const { reader, writer } = storeCluster(store, { user, groups: ['system:masters'], fieldManager })
    return { reader, writer, clock, random, signal }
  }

  #programOf({ metadata }: Pod): Program | undefined {
    const account = (name: string): string => `system:serviceaccount:${metadata.namespace}:${name}`
    const operator = (signal: AbortSignal) =>
      this.#context('virt-operator', account('kubevirt-operator'), signal)
    switch (metadata.labels?.['kubevirt.io'] ?? '') {
      case 'virt-operator':
        return (pod, signal) => endless(runOperator(operator(signal), pod, this.#world), signal)
      case 'virt-operator-strategy-dumper':
        return (pod, signal) => dumpStrategy(operator(signal), pod)
      case 'virt-controller':
        return (pod, signal) =>
          endless(
            runVirtController(this.#context('virt-controller', account('kubevirt-controller'), signal), pod),
            signal,
          )
      default:
        return undefined
    }
  }
}

/** A program that ends with its pod has no exit code. */
async function endless(work: Promise<void>, signal: AbortSignal): Promise<undefined> {
  try {
    await work
  } catch (error) {
    if (!signal.aborted) throw error
  }
}
