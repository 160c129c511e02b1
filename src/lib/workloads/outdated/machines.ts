import type { Reader } from '../../cluster/cluster.ts'
import { VirtualMachines } from '../../cluster/kinds/virtual-machines.ts'
import { whyUnknown } from '../../facts/known.ts'
import { isNotFound } from '../../system/errors.ts'
import { type Machine, runStrategyOf } from './behind.ts'

type Place = { name: string; namespace: string }

/** More of one namespace are listed, fewer are read one by one. */
const oneByOne = 10
/** Namespaces that are asked for at the same time. */
const atOnce = 8

/** The VMs behind VMIs, of which only the runStrategy is kept: read when they are asked for, and once. */
export class Machines {
  readonly #reader: Reader
  /** By `namespace/name`: those that were read one by one. */
  readonly #found = new Map<string, string>()
  readonly #listed = new Map<string, ReadonlyMap<string, string>>()
  readonly #unread = new Map<string, string>()

  constructor(reader: Reader) {
    this.#reader = reader
  }

  /** Namespaces whose VMs may not be read, and why. */
  get unread(): ReadonlyMap<string, string> {
    return this.#unread
  }

  /** By `namespace/name`; what is not in it does not exist, or its namespace is in `unread`. Throws ApiError but 403 and 404. */
  async behind(places: readonly Place[]): Promise<ReadonlyMap<string, Machine>> {
    const found = new Map<string, Machine>()
    const left = [...byNamespace(places)]
    const worker = async () => {
      for (let next = left.pop(); next; next = left.pop()) {
        const [namespace, names] = next
        for (const [name, runStrategy] of await this.#of(namespace, names))
          found.set(`${namespace}/${name}`, { spec: { runStrategy } })
      }
    }
    await Promise.all(Array.from({ length: atOnce }, worker))
    return found
  }

  async #of(namespace: string, names: readonly string[]): Promise<ReadonlyMap<string, string>> {
    const known = this.#listed.get(namespace)
    if (known || this.#unread.has(namespace)) return known ?? new Map()
    try {
      if (names.length <= oneByOne) return await this.#each(namespace, names)
      const listed = await this.#all(namespace)
      this.#listed.set(namespace, listed)
      return listed
    } catch (error) {
      if (isNotFound(error)) return new Map()
      const why = whyUnknown(error)
      if (why === undefined) throw error
      this.#unread.set(namespace, why)
      return new Map()
    }
  }

  async #each(namespace: string, names: readonly string[]): Promise<ReadonlyMap<string, string>> {
    const strategies = await Promise.all(
      names.map(async (name) => [name, await this.#one({ name, namespace })] as const),
    )
    return new Map(
      strategies.flatMap(([name, strategy]) => (strategy === undefined ? [] : [[name, strategy]])),
    )
  }

  async #one(place: Place): Promise<string | undefined> {
    const key = `${place.namespace}/${place.name}`
    const known = this.#found.get(key)
    if (known !== undefined) return known
    const found = await this.#reader.find(VirtualMachines, place)
    if (found.is !== 'object') return undefined
    const strategy = runStrategyOf(found.object)
    this.#found.set(key, strategy)
    return strategy
  }

  async #all(namespace: string): Promise<ReadonlyMap<string, string>> {
    const strategies = new Map<string, string>()
    for await (const { items } of this.#reader.pages(VirtualMachines, { namespace }))
      for (const vm of items) strategies.set(vm.metadata.name, runStrategyOf(vm))
    return strategies
  }
}

function byNamespace(places: readonly Place[]): ReadonlyMap<string, string[]> {
  const grouped = new Map<string, string[]>()
  for (const { name, namespace } of places) {
    const names = grouped.get(namespace) ?? []
    grouped.set(namespace, names)
    names.push(name)
  }
  return grouped
}
