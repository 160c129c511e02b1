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

/** So many that are deferred are tried again at a time. */
const triedAgain = 200

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

  /** Tries the first of those that are deferred once more: others have left room behind since. Throws ApiError. */
  async retry(): Promise<void> {
    for (const uid of [...this.#deferred.keys()].slice(0, triedAgain)) await this.#retryOne(uid)
  }

  /** Whether it is placed now. */
  async #retryOne(uid: string): Promise<boolean> {
    const deferred = this.#deferred.get(uid)
    const found = deferred && (await this.#find(deferred.demand, deferred.move))
    if (deferred === undefined || found === undefined || !('node' in found)) return false
    this.#begin(found.node, deferred.demand, deferred.move)
    this.#deferred.delete(uid)
    this.#settled.add(uid)
    return true
  }

  /** Tries those that are deferred until none of them moves any more: then they are not deferred, and who moved is placed. Throws ApiError. */
  async settle(): Promise<void> {
    for (let moved = true; moved;) {
      moved = false
      for (const uid of this.#deferred.keys()) {
        while (this.#end());
        if (await this.#retryOne(uid)) moved = true
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
    const { places, refusals } = this.#fittingFor(demand)
    const read = await this.#best(places, demand, move)
    if (read !== undefined) return { node: read }
    for (const place of places) {
      if (this.#places.isRead(place) || !isOther(place, move)) continue
      await this.#places.freeOn(place)
      if ((await this.#best([place], demand, move)) !== undefined) return { node: place.metadata.name }
    }
    return this.#none(places, refusals, { demand, move })
  }

  /** Of those that were read and take it the one that is used least. Nothing is made for each of them: there are as many as VMs times nodes. */
  async #best(places: readonly Place[], demand: Demand, move: Move): Promise<string | undefined> {
    let best: string | undefined
    let least = Number.POSITIVE_INFINITY
    for (const place of places) {
      if (!this.#places.isRead(place) || !isOther(place, move)) continue
      const used = this.#places.usedOn(place)
      if (used >= least || this.#shortOn(place, demand, move) !== undefined) continue
      if (demand.podTerms.length > 0 && (await this.#apart(place, demand, move)) !== undefined) continue
      best = place.metadata.name
      least = used
    }
    return best
  }

  #shortOn(place: Place, demand: Demand, { again, from }: Move): string | undefined {
    return refusalFor(demand, this.#places.freeNow(place), again && place.metadata.name === from)
  }

  #apart(place: Place, { podTerms }: Demand, move: Move): Promise<string | undefined> {
    return this.#neighbours.refusal(place, podTerms, { places: this.#places, move })
  }

  /** Why none of them takes it. */
  async #none(
    places: readonly Place[],
    structural: ReadonlyMap<string, number>,
    { demand, move }: { demand: Demand; move: Move },
  ): Promise<Placement> {
    const refusals = new Map<string, number>()
    let isShort = false
    for (const place of places.filter((one) => isOther(one, move))) {
      const short = this.#shortOn(place, demand, move)
      const why = short ?? (await this.#apart(place, demand, move)) ?? ''
      refusals.set(why, (refusals.get(why) ?? 0) + 1)
      isShort ||= short !== undefined && this.#places.couldHold(place, demand.resources)
    }
    return { refusals: this.#told(structural, refusals, this.#ownRefusal(demand, move)), isShort }
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

/** A migration never goes to where it comes from. */
const isOther = ({ metadata }: Place, { from, again }: Move): boolean => again || metadata.name !== from
