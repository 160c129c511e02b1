import * as kube from './kinds.ts'
import type { Cluster, ServerVersion } from '../lib/kube/cluster.ts'
import type { KubeObject } from '../lib/kube/object.ts'
import type { Clock } from '../lib/kube/clock.ts'
import { seed, Store } from './api/store.ts'
import { type StoreClientOptions, storeCluster } from './api/store-client.ts'
import { FastForward } from './simulated-clock.ts'
import {
  type ClusterShape,
  defaultKubernetes,
  defaultVersion,
  initialObjects,
  kindsOf,
  manifestOptions,
  namespaceOf,
} from './cluster-shape.ts'
import { Faults, type MachineryFaults } from './machinery/machinery-faults.ts'
import { enforceQuotas, limitPods } from './machinery/resource-quotas.ts'
import { type ControllerContext, seeded } from './machinery/controller.ts'
import { PodLogs, type Program, runKubelet, servePodLogs } from './machinery/kubelet.ts'
import { serveReleaseVersion } from './openshift/cluster-operators.ts'
import { operatorManifest } from './virt-operator/kubevirt-operator-manifest.ts'
import { storeOldVersions } from './virt-operator/kubevirt-crds.ts'
import { serveVirtApi } from './virt-operator/virt-api.ts'
import { type HyperConvergedFaults, type Self, selfContext } from './hyperconverged/hyperconverged-context.ts'
import type { OlmFaults } from './olm/olm-context.ts'
import type { OpenShiftFaults } from './openshift/platform-context.ts'
import type { OperatorFaults } from './virt-operator/virt-operator-context.ts'
import type { Scenario } from './scenarios.ts'
import { runHyperConverged, runHyperConvergedOperator } from './hyperconverged/hco-operator.ts'
import { runConversion, serveHyperConvergedWebhook } from './hyperconverged/hco-webhook.ts'
import { unpackProgram } from './olm/bundle-unpacker.ts'
import { runOlm } from './olm/olm.ts'
import { runOpenShift } from './openshift/openshift.ts'
import { components, runComponentOperator } from './hyperconverged/hyperconverged-components.ts'
import { podNames } from './hyperconverged/hyperconverged-crd.ts'
import { closeNode } from './virt-operator/operands.ts'
import { runOperator } from './virt-operator/virt-operator.ts'
import { runVirtController } from './virt-operator/virt-controller.ts'
import {
  runApiServices,
  runDaemonSets,
  runDeployments,
  runEndpointSlices,
  runJobs,
  runReplicaSets,
} from './machinery/apps-controllers.ts'
import { virtualMachine } from './vm-shape.ts'
import { runNodes } from './machinery/node-lifecycle.ts'
import { runScheduler } from './machinery/scheduler.ts'
import { dumpStrategy } from './virt-operator/managed-objects.ts'
import { serveMonitoring } from './openshift/monitoring.ts'

/** A cluster in one declaration: what is in it, and what goes wrong. */
export interface Simulation extends ClusterShape {
  clock: Clock
  /** Default: the same numbers in every run. */
  random?: () => number
  /** What its uids are drawn from; default: the same ones in every run. */
  seed?: number
  /** Switched on once everything is settled. */
  faults?: SimulationFaults
  /** Switched later, in ms after that: how a fault heals. */
  later?: readonly { after: number; faults: SimulationFaults }[]
  /** No audit log, and no managedFields of what controllers write for every VM. Default: both are there. */
  isLean?: boolean
  /** What another cluster of the same shape held: its controllers begin anew on that, as after a loss of power. Default: it is installed. */
  from?: readonly KubeObject[]
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
/** By then those that had a Lease when the power went have it again. */
export const restart = 20_000

/** Installs KubeVirt in a new cluster, lets it settle, and hands it out. Takes milliseconds, whatever the clock. */
export async function simulate(simulation: Simulation): Promise<SimulatedCluster> {
  const { clock, from, isLean = false, later = [] } = simulation
  const time = new FastForward(clock, pastOf(simulation))
  const begun = clock.now().getTime()
  const drawn = simulation.seed ?? (from && begun)
  const store = new Store(time, {
    version: serverVersion(simulation),
    isLean,
    ...(drawn !== undefined && { seed: drawn }),
  })
  for (const kind of kindsOf(simulation)) store.kinds.add(kind)
  if (from) store.adopt(from)
  else seed(store, ownUids(initialObjects(installed(simulation)), simulation.seed))
  const faults = new Faults<SimulationFaults>()
  const logs = new PodLogs()
  const life = new ControllerManager({
    as: (who) => storeCluster(store, { ...who, groups: ['system:masters'] }),
    clock: time,
    random: simulation.random ?? seeded(from ? begun : 1),
    faults,
    logs,
    shape: simulation,
    namespace: namespaceOf(simulation),
  })
  servePodLogs(store, logs)
  serveBehind(store, simulation, faults)
  const played = from ? undefined : playPast(simulation, { time, store })
  await time.arrive()
  await played
  faults.set(simulation.faults ?? {})
  life.throwIfBroken()
  const end = new AbortController()
  for (const { after, faults: healed } of later)
    clock.sleep(after, end.signal).then(
      () => faults.set(healed),
      () => undefined,
    )
  return {
    store,
    faults,
    cluster: (options) => storeCluster(store, options),
    operatorManifest: (version) => operatorManifest(version, manifestOptions(simulation)),
    stop: () => {
      end.abort()
      return life.stop()
    },
  }
}

const installed = ({ updatedFrom, ...shape }: Simulation): ClusterShape =>
  updatedFrom === undefined ? shape : { ...shape, version: updatedFrom }

/** Some objects have uids and ids from the start: of a cluster with a seed of its own they are its own too. */
function ownUids(objects: readonly KubeObject[], drawn: number | undefined): readonly KubeObject[] {
  if (drawn === undefined) return objects
  const own = (drawn >>> 0).toString(16).padStart(8, '0')
  return JSON.parse(JSON.stringify(objects).replaceAll('c0ffee00-', `${own}-`)) as KubeObject[]
}

function serverVersion({ kubernetes: gitVersion = defaultKubernetes }: ClusterShape): ServerVersion {
  const [, major = '', minor = ''] = /^v(\d+)\.(\d+)/u.exec(gitVersion) ?? []
  return { gitVersion, major, minor }
}

/** What others answer where the API server asks them: webhooks, aggregated APIs, quotas. */
function serveBehind(store: Store, simulation: Simulation, faults: Faults<SimulationFaults>): void {
  serveVirtApi(store)
  enforceQuotas(store)
  limitPods(store, faults)
  storeOldVersions(store, faults)
  if (simulation.openshift) {
    serveReleaseVersion(store, simulation.openshift)
    serveMonitoring(store, simulation.openshift, faults)
  }
  if (simulation.olm) serveHyperConvergedWebhook(store, faults, namespaceOf(simulation))
}

/** HyperConverged installs KubeVirt only once OLM has installed it. */
function pastOf({ updatedFrom, olm, from }: Simulation): number {
  if (from) return restart
  return updatedFrom === undefined && olm === undefined ? past : 3 * past
}

/** Once it is installed, somebody applies the manifest of its version, and edits VMs that run. */
async function playPast(simulation: Simulation, { time, store }: { time: Clock; store: Store }) {
  const { updatedFrom, version = defaultVersion, vms } = simulation
  const { writer } = storeCluster(store, { fieldManager: 'kubectl' })
  if (updatedFrom !== undefined) {
    await time.sleep(past)
    for (const object of operatorManifest(version, manifestOptions(simulation))) {
      const kind = store.kinds.ofObject(object)
      if (kind) await writer.apply(kind, object, { force: true })
    }
  }
  const edited = typeof vms === 'object' ? vms.filter((vm) => vm.edited) : []
  if (edited.length > 0) await time.sleep(past * 0.75)
  const change = { spec: { template: { spec: { domain: { cpu: { cores: 2 } } } } } }
  for (const vm of edited) await writer.mergePatch(kube.Vms, virtualMachine(vm).metadata, change)
}

/** All that can go wrong in a simulated cluster, its API apart. Those of a layer that is not there do nothing. */
export type SimulationFaults = OperatorFaults & HyperConvergedFaults & OlmFaults & OpenShiftFaults

/** A cluster as the scenario wants it, settled; its faults are on, and heal when the scenario says. */
export const startScenario = (
  { cluster, faults = {}, later = [] }: Scenario,
  own: Pick<Simulation, 'clock' | 'seed'>,
): Promise<SimulatedCluster> => simulate({ ...cluster, faults, later, ...own })

interface World {
  /** The API as a controller reaches it. */
  as(who: { user: string; fieldManager: string }): Pick<Cluster, 'reader' | 'writer'>
  readonly clock: Clock
  readonly random: () => number
  readonly faults: Faults<SimulationFaults>
  readonly logs: PodLogs
  readonly shape: ClusterShape
  /** Of the operators. */
  readonly namespace: string
}

/** Everything that runs in a simulated cluster, from its construction until `stop`. Only clients: a bare real API server does as well. */
export class ControllerManager {
  readonly #world: World
  readonly #end = new AbortController()
  readonly #running: Promise<void>
  #bug: unknown

  constructor(world: World) {
    this.#world = world
    const machinery = {
      faults: world.faults,
      programOf: (pod: kube.Pod) => this.#programOf(pod),
      broken: (error: unknown) => this.#broken(error),
    }
    const cx = this.#context('kube-controller-manager', 'system:kube-controller-manager')
    const work = Promise.all([runMachinery(cx, machinery), ...this.#operators()])
    this.#running = work.then(
      () => undefined,
      (error: unknown) => this.#broken(error),
    )
  }

  throwIfBroken(): void {
    if (this.#bug !== undefined) throw this.#bug
  }

  /** Rejects with the bug that ended it before. */
  async stop(): Promise<void> {
    this.#end.abort()
    await this.#running
    this.throwIfBroken()
  }

  #operators(): Promise<void>[] {
    const { shape, faults, namespace } = this.#world
    const { hyperconverged, olm, openshift } = shape
    const as = (manager: string, account: string) =>
      this.#context(manager, `system:serviceaccount:${account}`)
    const running: Promise<void>[] = []
    if (hyperconverged && olm === undefined) {
      const cx = as('hyperconverged-cluster-operator', `${namespace}:hyperconverged-cluster-operator`)
      running.push(runHyperConverged(cx, hyperconverged, faults))
    }
    if (olm) running.push(runOlm(as('olm', 'openshift-operator-lifecycle-manager:olm'), olm, faults))
    if (openshift) {
      const cx = as('cluster-version-operator', 'openshift-cluster-version:default')
      running.push(runOpenShift(cx, openshift, faults))
    }
    return running
  }

  #broken(error: unknown): void {
    if (this.#end.signal.aborted) return
    this.#bug = error
    this.#end.abort()
  }

  /** Controllers may everything, and the audit log tells them apart. */
  #context(fieldManager: string, user: string, signal = this.#end.signal): ControllerContext {
    const { clock, random } = this.#world
    const { reader, writer } = this.#world.as({ user, fieldManager })
    return { reader, writer, clock, random, signal }
  }

  /** What a pod runs, by its labels; undefined where it is only a name. */
  #programOf(pod: kube.Pod): Program | undefined {
    const { 'kubevirt.io': component = '', name = '' } = pod.metadata.labels ?? {}
    const { faults } = this.#world
    const as = ({ metadata }: kube.Pod, manager: string, account: string, signal: AbortSignal) =>
      this.#context(manager, `system:serviceaccount:${metadata.namespace}:${account}`, signal)
    const kubeVirt = kubeVirtPrograms[component]
    if (kubeVirt)
      return (running, signal) => {
        const manager = component === 'virt-controller' ? component : 'virt-operator'
        return kubeVirt(
          as(running, manager, manager.replace('virt-', 'kubevirt-'), signal),
          running,
          this.#world,
        )
      }
    const hyperConverged = hyperConvergedProgram(name)
    if (!hyperConverged) return unpackProgram(pod, this.#world)
    return (running, signal) => {
      const wakes = (notify: () => void) => faults.onChange(notify, signal)
      const cx = selfContext({ ...as(running, name, name, signal), wakes }, running, faults)
      return endless(hyperConverged(cx), signal)
    }
  }
}

type KubeVirtProgram = (cx: ControllerContext, pod: kube.Pod, world: World) => ReturnType<Program>

/** By the label `kubevirt.io` of their pods. */
const kubeVirtPrograms: Readonly<Record<string, KubeVirtProgram>> = {
  'virt-operator': (cx, pod, world) => endless(runOperator(cx, pod, world), cx.signal),
  'virt-operator-strategy-dumper': (cx, pod) => dumpStrategy(cx, pod),
  'virt-controller': (cx, pod) => endless(runVirtController(cx, pod), cx.signal),
  'virt-handler': (cx, pod, { faults }) => endless(closeNode(cx, pod, faults), cx.signal),
}

/** By the label `name` of their pods. */
function hyperConvergedProgram(name: string): ((cx: Self) => Promise<void>) | undefined {
  const component = components.find(({ operator }) => operator === name)
  if (component) return (cx) => runComponentOperator(cx, component)
  return { [podNames.operator]: runHyperConvergedOperator, [podNames.webhook]: runConversion }[name]
}

async function endless(work: Promise<void>, signal: AbortSignal): Promise<undefined> {
  try {
    await work
  } catch (error) {
    if (!signal.aborted) throw error
  }
}

interface Machinery {
  readonly faults: Faults<MachineryFaults>
  readonly programOf: (pod: kube.Pod) => Program | undefined
  readonly broken: (error: unknown) => void
}

/** What a cluster does by itself: the controller manager, the scheduler and the kubelets, until the signal ends it. */
export async function runMachinery(cx: ControllerContext, machinery: Machinery): Promise<void> {
  await Promise.all([
    runDeployments(cx),
    runReplicaSets(cx),
    runDaemonSets(cx),
    runJobs(cx),
    runEndpointSlices(cx),
    runApiServices(cx, machinery.faults),
    runScheduler(cx, machinery.faults),
    runNodes(cx, machinery.faults),
    runKubelet({ ...cx, ...machinery }),
  ])
}
