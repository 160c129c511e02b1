import type { Reader } from '../../cluster/cluster.ts'
import { Pods } from '../../cluster/kinds/pods.ts'
import { readAhead } from '../../cluster/read-ahead.ts'
import { whyUnknown } from '../../facts/known.ts'
import type { PodTerm } from './demand.ts'
import type { Move } from './placement.ts'
import type { Place, Places } from './places.ts'

interface Neighbour {
  node: string
  /** Of the VMI whose launcher it is. */
  vmi: string | undefined
}

/** So many selectors are remembered: VMs of one application share one, and follow each other. */
const remembered = 200

/** Pods that VMs want to be near to or apart from, selected by the server. */
export class Neighbours {
  readonly #reader: Reader
  readonly #found = new Map<string, Promise<readonly Neighbour[]>>()
  #unread: string | undefined

  constructor(reader: Reader) {
    this.#reader = reader
  }

  /** Why affinity to pods is not judged; undefined where it could be. */
  get unread(): string | undefined {
    return this.#unread
  }

  /** What of its required pod affinity refuses the node. Throws ApiError but 403. */
  async refusal(
    place: Place,
    terms: readonly PodTerm[],
    { places, move }: { places: Places; move: Move },
  ): Promise<string | undefined> {
    for (const term of terms) {
      const others = (await this.#select(term)).filter(({ vmi }) => !(move.again && vmi === move.uid))
      if (this.#unread !== undefined) return undefined
      const why = refusalBy(term, metBy(place, others, { places, key: term.topologyKey }))
      // The first of a group that wants to be together may be anywhere.
      const first = move.again && others.length === 0
      if (why !== undefined && !(first && !term.apart)) return why
    }
    return undefined
  }

  async #select(term: PodTerm): Promise<readonly Neighbour[]> {
    const key = `${term.namespaces.join()} ${term.labels}`
    const known = this.#found.get(key) ?? this.#read(term)
    if (this.#found.size >= remembered) this.#found.clear()
    this.#found.set(key, known)
    return known
  }

  async #read({ namespaces, labels }: PodTerm): Promise<readonly Neighbour[]> {
    try {
      const read = namespaces.map((namespace) => neighboursIn(this.#reader, namespace, labels))
      return (await Promise.all(read)).flat()
    } catch (error) {
      this.#unread = whyUnknown(error)
      if (this.#unread === undefined) throw error
      return []
    }
  }
}

async function neighboursIn(reader: Reader, namespace: string, labels: string): Promise<Neighbour[]> {
  const found: Neighbour[] = []
  const fields = 'status.phase!=Succeeded,status.phase!=Failed'
  for await (const { items } of readAhead(reader.pages(Pods, { namespace, labels, fields })))
    for (const { spec, metadata } of items)
      if (spec?.nodeName)
        found.push({ node: spec.nodeName, vmi: metadata.labels?.['kubevirt.io/created-by'] })
  return found
}

function metBy(
  { metadata }: Place,
  others: readonly Neighbour[],
  { places, key }: { places: Places; key: string },
): boolean {
  const here = metadata.labels?.[key]
  return here !== undefined && others.some(({ node }) => places.labelsOf(node)?.[key] === here)
}

function refusalBy({ apart }: PodTerm, met: boolean): string | undefined {
  if (apart) return met ? 'pod anti-affinity' : undefined
  return met ? undefined : 'pod affinity'
}
