import type { Place, Places } from './cluster-room.ts'
import {
  type Demand,
  type Move,
  type Neighbours,
  type Placement,
  refusalByNode,
  refusalFor,
  type Resources,
} from './launcher-placement.ts'
import type { MigrationLimits } from '../migrations/migration.ts'

/** A target pod that runs beside its source. */
interface Migration {
  from: string | undefined
  resources: Resources
}

/** Nodes that take such a pod whatever room there is, and why the others do not. */
interface Fitting {
  places: readonly Place[]
  refusals: ReadonlyMap<string, number>
}

/** So many kinds of pods are remembered: most VMs ask for the same of a node. */
const remembered = 500

/**
 * Places VMs together: as many migrations as KubeVirt lets run at a time take room from each other, and the room of a source is free again once its VM has gone. Who finds no room
 * while others run waits for them, as KubeVirt tries again; who finds none behind them is `deferred` until `settle` has tried him after all the others.
 * The scheduler's choice is its usual one, of the nodes that were read the one that is used least. What may not be read refuses nothing.
 */
export class JointPlacement {
  readonly #places: Places
  readonly #neighbours: Neighbours
  readonly #limits: MigrationLimits
  readonly #fitting = new Map<string, Fitting>()
  /** The oldest first. */
  readonly #running: Migration[] = []
  readonly #deferred = new Map<string, { demand: Demand; move: Move }>()
  readonly #settled = new Set<string>()

  constructor({ places, neighbours }: { places: Places; neighbours: Neighbours }, limits: MigrationLimits) {
    this.#places = places
    this.#neighbours = neighbours
    this.#limits = limits
  }

  /** Whether it stays only for want of room, which others may leave behind. */
  isDeferred(uid: string): boolean {
    return this.#deferred.has(uid)
  }

  /** It was deferred, and found room behind the others. */
  isSettled(uid: string): boolean {
    return this.#settled.has(uid)
  }

  /** The node that it goes to, or why none takes it. Throws ApiError. */
  async place(demand: Demand, move: Move): Promise<Placement> {
    if (this.#settled.has(move.uid)) return { node: '' }
    this.#awaitSlot(move)
    let found = await this.#find(demand, move)
    while (!('node' in found) && this.#end()) found = await this.#find(demand, move)
    if ('node' in found) this.#begin(found.node, demand, move)
    else if (found.isShort) this.#deferred.set(move.uid, { demand, move })
    return found
  }

  /** Tries those that are deferred until none of them moves any more: then they are not deferred, and who moved is placed. Throws ApiError. */
  async settle(): Promise<void> {
    for (let moved = true; moved;) {
      moved = false
      for (const [uid, { demand, move }] of this.#deferred) {
        while (this.#end());
        const found = await this.#find(demand, move)
        if (!('node' in found)) continue
        this.#begin(found.node, demand, move)
        this.#deferred.delete(uid)
        this.#settled.add(uid)
        moved = true
      }
    }
    this.#deferred.clear()
  }

  #awaitSlot({ from, again }: Move): void {
    if (again) return
    const outbound = () => this.#running.filter((one) => one.from === from).length
    while (this.#running.length >= this.#limits.perCluster || outbound() >= this.#limits.perNode)
      if (!this.#end()) return
  }

  #begin(node: string, { resources }: Demand, { from, again }: Move): void {
    this.#places.take(node, resources)
    if (again) this.#places.give(from, resources)
    else this.#running.push({ from, resources })
  }

  /** The oldest is through: its source has room again. False where none runs. */
  #end(): boolean {
    const [first] = this.#running.splice(0, 1)
    if (first !== undefined) this.#places.give(first.from, first.resources)
    return first !== undefined
  }

  /** Another node is read only where none of those that were takes it. */
  async #find(demand: Demand, move: Move): Promise<Placement> {
    const { places, refusals: structural } = this.#fittingFor(demand)
    const others = places.filter(({ metadata }) => metadata.name !== move.from || move.again)
    const short = new Map<string, number>()
    let isShort = false
    let best: { node: string; used: number } | undefined
    const offer = async (place: Place) => {
      const { why, room } = await this.#refusal(place, demand, move)
      isShort ||= room && this.#places.couldHold(place, demand.resources)
      if (why !== undefined) short.set(why, (short.get(why) ?? 0) + 1)
      else {
        const used = this.#places.usedOn(place)
        if (best === undefined || used < best.used) best = { node: place.metadata.name, used }
      }
    }
    const unread = others.filter((place) => !this.#places.isRead(place))
    for (const place of others) if (!unread.includes(place)) await offer(place)
    for (const place of unread) {
      if (best !== undefined) break
      await this.#places.freeOn(place)
      await offer(place)
    }
    if (best !== undefined) return { node: (best as { node: string }).node }
    return { refusals: this.#told(structural, short, this.#ownRefusal(demand, move)), isShort }
  }

  /** `room`: for want of it. */
  async #refusal(
    place: Place,
    demand: Demand,
    move: Move,
  ): Promise<{ why: string | undefined; room: boolean }> {
    const back = move.again && place.metadata.name === move.from
    const byRoom = refusalFor(demand, this.#places.freeNow(place), back)
    if (byRoom !== undefined || demand.podTerms.length === 0)
      return { why: byRoom, room: byRoom !== undefined }
    const why = await this.#neighbours.refusal(place, demand.podTerms, { places: this.#places, move })
    return { why, room: false }
  }

  /** What the node that it leaves would say: it is not asked, and does not count. */
  #ownRefusal(demand: Demand, { from, again }: Move): string | undefined {
    const own = again ? undefined : this.#places.nodes.find(({ metadata }) => metadata.name === from)
    return own && refusalByNode(own, demand)
  }

  /** The most frequent first. */
  #told(
    structural: ReadonlyMap<string, number>,
    short: ReadonlyMap<string, number>,
    own: string | undefined,
  ): readonly (readonly [why: string, nodes: number])[] {
    const all = new Map(structural)
    for (const [why, nodes] of short) all.set(why, (all.get(why) ?? 0) + nodes)
    if (own !== undefined) all.set(own, (all.get(own) ?? 1) - 1)
    return [...all].filter(([, nodes]) => nodes > 0).toSorted(([, a], [, b]) => b - a)
  }

  #fittingFor(demand: Demand): Fitting {
    const { resources: _, podTerms: __, ...asked } = demand
    const key = JSON.stringify(asked)
    const known = this.#fitting.get(key)
    if (known) return known
    const refusals = new Map<string, number>()
    const places = this.#places.nodes.filter((place) => {
      const why = refusalByNode(place, demand)
      if (why !== undefined) refusals.set(why, (refusals.get(why) ?? 0) + 1)
      return why === undefined
    })
    if (this.#fitting.size >= remembered) this.#fitting.clear()
    this.#fitting.set(key, { places, refusals })
    return { places, refusals }
  }
}
