import type { Cluster } from '../cluster/cluster.ts'
import type { KubeObject } from '../cluster/object.ts'
import type { Clock } from '../system/clock.ts'
import { seed } from './api/seed.ts'
import { type StoreClientOptions, storeCluster } from './api/client.ts'
import { Store } from './api/store.ts'
import { FastForward } from './fast-forward.ts'
import { serveHyperConvergedWebhook } from './hyperconverged/admission.ts'
import { type ClusterShape, defaultVersion, initialObjects } from './initial-objects.ts'
import { kindsOf } from './kinds-of.ts'
import { Life } from './life.ts'
import { Faults } from './machinery/faults.ts'
import { seeded } from './machinery/luck.ts'
import { PodLogs, servePodLogs } from './machinery/pod-logs.ts'
import { limitPods } from './machinery/pod-quota.ts'
import { namespaceOf } from './namespace-of.ts'
import { serveMonitoring } from './openshift/monitoring.ts'
import { serveReleaseVersion } from './openshift/server-version.ts'
import type { SimulationFaults } from './simulation-faults.ts'
import { type ManifestOptions, operatorManifest } from './virt-operator/operator-manifest.ts'
import { storeOldVersions } from './virt-operator/stored-versions.ts'
import { serveVirtApi } from './virt-operator/virt-controller/subresources.ts'

export interface Simulation extends ClusterShape {
  clock: Clock
  /** Default: the same numbers in every run. */
  random?: () => number
  /** Switched on once everything is settled. */
  faults?: SimulationFaults
}

/** A whole cluster with KubeVirt in it, alive until `stop`. */
export interface SimulatedCluster {
  readonly store: Store
  readonly faults: Faults<SimulationFaults>
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
  const { updatedFrom } = simulation
  const time = new FastForward(simulation.clock, pastOf(simulation))
  const store = new Store(time)
  for (const kind of kindsOf(simulation)) store.kinds.add(kind)
  seed(
    store,
    initialObjects(updatedFrom === undefined ? simulation : { ...simulation, version: updatedFrom }),
  )
  const faults = new Faults<SimulationFaults>()
  const logs = new PodLogs()
  const random = simulation.random ?? seeded(1)
  const namespace = namespaceOf(simulation)
  const life = new Life({
    as: (who) => storeCluster(store, { ...who, groups: ['system:masters'] }),
    clock: time,
    random,
    faults,
    logs,
    shape: simulation,
    namespace,
  })
  servePodLogs(store, logs)
  serveBehind(store, simulation, faults)
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

/** What others answer where the API server asks them: webhooks, aggregated APIs, quotas. */
function serveBehind(store: Store, simulation: Simulation, faults: Faults<SimulationFaults>): void {
  serveVirtApi(store)
  limitPods(store, faults)
  storeOldVersions(store, faults)
  if (simulation.openshift) {
    serveReleaseVersion(store, simulation.openshift)
    serveMonitoring(store, simulation.openshift, faults)
  }
  if (simulation.olm) serveHyperConvergedWebhook(store, faults, namespaceOf(simulation))
}

/** HyperConverged installs KubeVirt only once OLM has installed it. */
function pastOf({ updatedFrom, olm }: Simulation): number {
  return updatedFrom === undefined && olm === undefined ? past : 3 * past
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

function manifestOptions(shape: ClusterShape): ManifestOptions {
  const { registry, pinned } = shape
  return {
    ...(registry === undefined ? {} : { registry }),
    ...(pinned === undefined ? {} : { pinned }),
    namespace: namespaceOf(shape),
  }
}
