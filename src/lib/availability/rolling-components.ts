import type { Change } from '../kube/cluster.ts'
import { type DaemonSet, type Deployment } from '../kube/kinds/workload-kinds.ts'

/** Which DaemonSets and Deployments of a namespace are rolling, from their changes. */
export class RollingComponents {
  readonly #rolling = new Set<string>()

  get names(): readonly string[] {
    return [...this.#rolling]
  }

  takeDaemonSet(change: Change<DaemonSet>): void {
    this.#take(change, ({ metadata, status = {} }) => {
      const { desiredNumberScheduled: wanted = 0, updatedNumberScheduled = 0, numberReady = 0 } = status
      return (
        status.observedGeneration !== metadata.generation ||
        updatedNumberScheduled < wanted ||
        numberReady < wanted
      )
    })
  }

  takeDeployment(change: Change<Deployment>): void {
    this.#take(change, ({ metadata, spec, status = {} }) => {
      const { replicas = 0, updatedReplicas = 0, readyReplicas = 0 } = status
      const wanted = spec?.replicas ?? 1
      const isWhole = updatedReplicas >= wanted && readyReplicas >= wanted && replicas <= wanted
      return status.observedGeneration !== metadata.generation || !isWhole
    })
  }

  #take<T extends DaemonSet | Deployment>(change: Change<T>, isRolling: (object: T) => boolean): void {
    if (change.type === 'synced' || change.type === 'lost') return
    const { name } = change.object.metadata
    if (change.type !== 'deleted' && isRolling(change.object)) this.#rolling.add(name)
    else this.#rolling.delete(name)
  }
}
