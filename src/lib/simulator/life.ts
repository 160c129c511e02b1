import type { Cluster } from '../cluster/cluster.ts'
import type { Pod } from '../cluster/kinds/pods.ts'
import type { Clock } from '../system/clock.ts'
import { runHyperConverged } from './hyperconverged/operator.ts'
import type { ClusterShape } from './initial-objects.ts'
import type { ControllerContext } from './machinery/controller.ts'
import type { Faults } from './machinery/faults.ts'
import { runMachinery } from './machinery/machinery.ts'
import type { PodLogs } from './machinery/pod-logs.ts'
import { runOlm } from './olm/olm.ts'
import { runOpenShift } from './openshift/openshift.ts'
import { programOf, type ProgramWorld } from './programs.ts'
import type { SimulationFaults } from './simulation-faults.ts'

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
export class Life {
  readonly #world: World
  readonly #end = new AbortController()
  readonly #running: Promise<void>
  #bug: unknown

  constructor(world: World) {
    this.#world = world
    const programs: ProgramWorld = {
      faults: world.faults,
      logs: world.logs,
      as: (...who) => this.#context(...who),
    }
    const machinery = {
      faults: world.faults,
      programOf: (pod: Pod) => programOf(pod, programs),
      broken: (error: unknown) => this.#broken(error),
    }
    const cx = this.#own('kube-controller-manager', 'system:kube-controller-manager')
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

  /** What runs beside the machinery and in no pod of this cluster. */
  #operators(): Promise<void>[] {
    const { shape, faults, namespace } = this.#world
    const { hyperconverged, olm, openshift } = shape
    const account = `system:serviceaccount:${namespace}:hyperconverged-cluster-operator`
    return [
      ...(hyperconverged && olm === undefined
        ? [runHyperConverged(this.#own('hyperconverged-cluster-operator', account), hyperconverged, faults)]
        : []),
      ...(olm
        ? [
            runOlm(
              this.#own('olm', 'system:serviceaccount:openshift-operator-lifecycle-manager:olm'),
              olm,
              faults,
            ),
          ]
        : []),
      ...(openshift
        ? [
            runOpenShift(
              this.#own(
                'cluster-version-operator',
                'system:serviceaccount:openshift-cluster-version:default',
              ),
              openshift,
              faults,
            ),
          ]
        : []),
    ]
  }

  #broken(error: unknown): void {
    if (this.#end.signal.aborted) return
    this.#bug = error
    this.#end.abort()
  }

  #own(fieldManager: string, user: string): ControllerContext {
    return this.#context(fieldManager, user, this.#end.signal)
  }

  /** Controllers may everything, and the audit log tells them apart. */
  #context(fieldManager: string, user: string, signal: AbortSignal): ControllerContext {
    const { clock, random } = this.#world
    const { reader, writer } = this.#world.as({ user, fieldManager })
    return { reader, writer, clock, random, signal }
  }
}
