/** What goes wrong with pods and nodes. Plain data, so that a scenario can be written down. */
export interface MachineryFaults {
  /** Regular expression on `registry/image:tag`: the registry does not have it. */
  unpullable?: string | undefined
  /** Regular expression on `registry/image:tag`: the registry does not give it to this cluster. */
  denied?: string | undefined
  /** What the registry says of an `unpullable` image instead of `not found`. */
  pullWords?: string | undefined
  /** Names of the nodes that `unpullable` and `denied` are true of; absent: of all. */
  pullsFailOn?: readonly string[] | undefined
  /** How long every pull takes, in ms, besides its usual part of a second. */
  pullsTake?: number | undefined
  /** Regular expression on the image: the container ends with exit code 1 a second after it started. */
  crashing?: string | undefined
  /** Regular expression on the pod's name: no node fits. */
  unschedulable?: string | undefined
  /** Names of nodes whose kubelet has gone silent. */
  notReady?: readonly string[] | undefined
  /** Names of nodes that somebody has tainted NoSchedule: what runs there stays, and a DaemonSet does not want it there. */
  tainted?: readonly string[] | undefined
  /** Names of Services behind which the serving certificate has ended: the API server does not take their answers. */
  expired?: readonly string[] | undefined
  /** Namespace in which a ResourceQuota lets no further pod be. */
  quota?: string | undefined
}

/** Faults that can be switched while the cluster runs. */
export class Faults<T extends object> {
  #on: Partial<T>
  readonly #listeners = new Set<() => void>()

  constructor(on: Partial<T> = {}) {
    this.#on = on
  }

  get on(): Readonly<Partial<T>> {
    return this.#on
  }

  /** `undefined` switches a fault off again. */
  set(change: Partial<T>): void {
    this.#on = { ...this.#on, ...change }
    for (const tell of this.#listeners) tell()
  }

  onChange(tell: () => void, signal: AbortSignal): void {
    this.#listeners.add(tell)
    signal.addEventListener('abort', () => this.#listeners.delete(tell), { once: true })
  }
}

/** True when the text matches the fault's pattern. */
export const hits = (pattern: string | undefined, text: string): boolean =>
  pattern !== undefined && new RegExp(pattern).test(text)
