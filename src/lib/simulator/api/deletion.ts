import type { KubeObject } from '../../cluster/object.ts'
import type { Clock } from '../../system/clock.ts'
import type { KindRegistry } from './kind-registry.ts'
import type { ObjectTable } from './object-table.ts'
import { timestamp } from './preparation.ts'
import type { SimKind } from './sim-kind.ts'

interface Parts {
  readonly table: ObjectTable
  readonly kinds: KindRegistry
  readonly clock: Clock
  /** How long a pod on a node stays Terminating, in ms. */
  readonly podTermination: number
}

/** How objects go: finalizers, terminating pods and namespaces, and the garbage collector of ownerReferences. */
export class Deletion {
  readonly #parts: Parts

  constructor(parts: Parts) {
    this.#parts = parts
  }

  /** Removes, or marks as deleted what has to wait. */
  delete(kind: SimKind, object: KubeObject, now = false): KubeObject {
    const linger = now ? 0 : this.#linger(kind, object)
    const waits = hasFinalizers(object) || linger > 0 || this.#isFullNamespace(kind, object)
    if (!waits) return this.#gone(kind, object)
    const marked = object.metadata.deletionTimestamp === undefined ? this.#mark(kind, object, linger) : object
    if (kind.kind === 'Namespace') this.#empty(object.metadata.name)
    return marked
  }

  /** To be called after every write: an object whose last finalizer went is removed. */
  afterWrite(kind: SimKind, before: KubeObject, object: KubeObject): void {
    if (object.metadata.deletionTimestamp === undefined || hasFinalizers(object) || !hasFinalizers(before))
      return
    if (!this.#isFullNamespace(kind, object)) this.#gone(kind, object)
  }

  /** Dependents of the object lose their reference to it instead of going with it. */
  orphan(owner: KubeObject): void {
    for (const { kind, object } of this.#dependents(owner)) this.#withoutOwner(kind, object, owner)
  }

  #gone(kind: SimKind, object: KubeObject): KubeObject {
    const gone = this.#parts.table.drop(kind, object)
    for (const dependent of this.#dependents(object)) {
      const { table } = this.#parts
      const others = dependent.object.metadata.ownerReferences?.some((o) => table.exists(o.uid)) === true
      if (others) this.#withoutOwner(dependent.kind, dependent.object, object)
      else this.delete(dependent.kind, dependent.object)
    }
    this.#closeNamespace(object.metadata.namespace)
    return gone
  }

  #dependents(owner: KubeObject): { kind: SimKind; object: KubeObject }[] {
    const { uid } = owner.metadata
    return this.#parts.kinds
      .all()
      .flatMap((kind) => this.#parts.table.all(kind).map((object) => ({ kind, object })))
      .filter(({ object }) => object.metadata.ownerReferences?.some((o) => o.uid === uid) === true)
  }

  #withoutOwner(kind: SimKind, object: KubeObject, owner: KubeObject): void {
    const ownerReferences = object.metadata.ownerReferences?.filter((o) => o.uid !== owner.metadata.uid) ?? []
    this.#parts.table.keep(kind, { ...object, metadata: { ...object.metadata, ownerReferences } })
  }

  #linger(kind: SimKind, object: KubeObject): number {
    const pod = object as KubeObject & { spec?: { nodeName?: string }; status?: { phase?: string } }
    if (kind.kind !== 'Pod' || pod.spec?.nodeName === undefined) return 0
    return ['Succeeded', 'Failed'].includes(pod.status?.phase ?? '') ? 0 : this.#parts.podTermination
  }

  #mark(kind: SimKind, object: KubeObject, linger: number): KubeObject {
    const { generation } = object.metadata
    const metadata = {
      ...object.metadata,
      deletionTimestamp: timestamp(this.#parts.clock.now()),
      deletionGracePeriodSeconds: linger > 0 ? 30 : 0,
      ...(generation !== undefined && { generation: generation + 1 }),
    }
    const phase = kind.kind === 'Namespace' ? { status: { phase: 'Terminating' } } : {}
    const marked = this.#parts.table.keep(kind, { ...object, metadata, ...phase })
    if (linger > 0) void this.#endPod(kind, marked, linger)
    return marked
  }

  async #endPod(kind: SimKind, pod: KubeObject, linger: number): Promise<void> {
    await this.#parts.clock.sleep(linger)
    const now = this.#parts.table.find(kind, pod.metadata)
    if (now?.metadata.uid === pod.metadata.uid && now && !hasFinalizers(now)) this.#gone(kind, now)
  }

  #inNamespace(name: string): { kind: SimKind; object: KubeObject }[] {
    return this.#parts.kinds
      .all()
      .filter((kind) => kind.namespaced)
      .flatMap((kind) => this.#parts.table.all(kind).map((object) => ({ kind, object })))
      .filter(({ object }) => object.metadata.namespace === name)
  }

  #isFullNamespace(kind: SimKind, object: KubeObject): boolean {
    return kind.kind === 'Namespace' && this.#inNamespace(object.metadata.name).length > 0
  }

  #empty(namespace: string): void {
    for (const { kind, object } of this.#inNamespace(namespace)) {
      if (this.#parts.table.find(kind, object.metadata)) this.delete(kind, object)
    }
  }

  #closeNamespace(name: string | undefined): void {
    const kind = this.#parts.kinds.find({ apiVersion: 'v1', plural: 'namespaces' })
    if (!kind || name === undefined) return
    const namespace = this.#parts.table.find(kind, { name })
    if (namespace?.metadata.deletionTimestamp !== undefined && !this.#isFullNamespace(kind, namespace))
      this.#gone(kind, namespace)
  }
}

function hasFinalizers(object: KubeObject): boolean {
  return (object.metadata.finalizers ?? []).length > 0
}
