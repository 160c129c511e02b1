import type { Cluster } from '../cluster/cluster.ts'
import { type Pod, Pods } from '../cluster/kinds/pods.ts'
import { readRefusal } from '../cluster/refusal.ts'
import { ApiError, isNotFound } from '../system/errors.ts'
import type { Probe } from './probe.ts'
import { type PodIdentity, probeLabel, probePod, pullLimit } from './probe-pod.ts'

/** What became of a try to create a pod. `full`: a quota, which may have room later. */
export type Created = { is: 'made' } | { is: 'full' | 'refused'; why: string; message: string }

/** The pods of one run; no other object is written. */
export class ProbePods {
  readonly #cluster: Pick<Cluster, 'reader' | 'writer'>
  readonly #namespace: string
  readonly #run: string

  constructor(cluster: Pick<Cluster, 'reader' | 'writer'>, { namespace, run }: Omit<PodIdentity, 'name'>) {
    this.#cluster = cluster
    this.#namespace = namespace
    this.#run = run
  }

  /** Throws ApiError where the server could not be asked. */
  async create(probe: Probe, name: string): Promise<Created> {
    const identity = { name, namespace: this.#namespace, run: this.#run }
    try {
      await this.#cluster.writer.create(Pods, probePod(probe, identity))
      return { is: 'made' }
    } catch (error) {
      if (!(error instanceof ApiError)) throw error
      const refusal = readRefusal(error.message, this.#namespace)
      if (refusal === undefined && !isRefusal(error)) throw error
      const is = refusal?.is === 'quota' ? 'full' : 'refused'
      return { is, why: `its pod may not be: ${refusal?.message ?? error.message}`, message: error.message }
    }
  }

  /** By name. */
  async mine(): Promise<ReadonlyMap<string, Pod>> {
    const pods = await this.#list(`${probeLabel}=${this.#run}`)
    return new Map(pods.map((pod) => [pod.metadata.name, pod]))
  }

  async remove({ metadata: { name, namespace, uid } }: Pod): Promise<void> {
    try {
      await this.#cluster.writer.delete(Pods, { name, namespace }, { uid })
    } catch (error) {
      if (!isNotFound(error) && !(error instanceof ApiError && error.status === 409)) throw error
    }
  }

  /** Whatever is there of this run, also what was made without an answer. */
  async removeAll(): Promise<void> {
    await Promise.all([...(await this.mine()).values()].map((pod) => this.remove(pod)))
  }

  /** Pods of runs that were killed: past their time, so that nobody waits for them. Gives how many there were. */
  async removeLeft(at: Date): Promise<number> {
    const left = (await this.#list(probeLabel)).filter((pod) => isLeft(pod, this.#run, at))
    await Promise.all(left.map((pod) => this.remove(pod)))
    return left.length
  }

  #list(labels: string): Promise<Pod[]> {
    return this.#cluster.reader.list(Pods, { namespace: this.#namespace, labels })
  }
}

/** Two clocks may differ by so much. */
const skew = 120_000

function isLeft({ metadata }: Pod, run: string, at: Date): boolean {
  const age = at.getTime() - Date.parse(metadata.creationTimestamp ?? '')
  return metadata.labels?.[probeLabel] !== run && age > pullLimit * 1000 + skew
}

/** An answer about this pod, not about the server. */
const isRefusal = ({ status }: ApiError): boolean => [400, 403, 409, 422].includes(status)
