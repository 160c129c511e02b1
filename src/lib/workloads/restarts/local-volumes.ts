import type { Reader } from '../../cluster/cluster.ts'
import type { VirtualMachineInstance } from '../../cluster/kinds/virtual-machines.ts'
import {
  type PersistentVolumeClaim,
  PersistentVolumeClaims,
  PersistentVolumes,
} from '../../cluster/kinds/volumes.ts'
import { ApiError } from '../../system/errors.ts'
import type { BoundVolume } from '../forecast/demand.ts'
import type { NodeTerm } from '../forecast/node-terms.ts'

/** Volumes that can be used on some nodes only, by what their PersistentVolume says; each is read once. */
export class LocalVolumes {
  readonly #reader: Reader
  readonly #terms = new Map<string, Promise<readonly NodeTerm[]>>()
  #unread: string | undefined

  constructor(reader: Reader) {
    this.#reader = reader
  }

  /** Why volumes are not judged; undefined where they could be. */
  get unread(): string | undefined {
    return this.#unread
  }

  /** Of a VMI; one that may be used anywhere is not in it. Throws ApiError but 403. */
  async of({ metadata, spec }: VirtualMachineInstance): Promise<readonly BoundVolume[]> {
    const bound: BoundVolume[] = []
    for (const volume of spec?.volumes ?? []) {
      const claim = claimOf(volume)
      if (claim === undefined || this.#unread !== undefined) continue
      const terms = await this.#termsOf(metadata.namespace ?? '', claim)
      if (terms.length > 0) bound.push({ claim, terms })
    }
    return bound
  }

  #termsOf(namespace: string, name: string): Promise<readonly NodeTerm[]> {
    const key = `${namespace}/${name}`
    const known = this.#terms.get(key) ?? this.#read(namespace, name)
    this.#terms.set(key, known)
    return known
  }

  async #read(namespace: string, name: string): Promise<readonly NodeTerm[]> {
    try {
      const claim = await this.#reader.find(PersistentVolumeClaims, { namespace, name })
      return claim.is === 'object' ? await this.#termsIn(claim.object) : []
    } catch (error) {
      if (!(error instanceof ApiError) || error.status !== 403) throw error
      this.#unread = error.message
      return []
    }
  }

  async #termsIn({ spec }: PersistentVolumeClaim): Promise<readonly NodeTerm[]> {
    if (spec?.volumeName === undefined) return []
    const volume = await this.#reader.find(PersistentVolumes, { name: spec.volumeName })
    if (volume.is !== 'object') return []
    return volume.object.spec?.nodeAffinity?.required?.nodeSelectorTerms ?? []
  }
}

/** A DataVolume fills a claim of its own name. */
function claimOf(volume: Record<string, unknown>): string | undefined {
  const { persistentVolumeClaim, dataVolume } = volume as {
    persistentVolumeClaim?: { claimName?: string }
    dataVolume?: { name?: string }
  }
  return persistentVolumeClaim?.claimName ?? dataVolume?.name
}
