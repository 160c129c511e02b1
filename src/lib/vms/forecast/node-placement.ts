import { condition } from '../../kube/object.ts'
import type { Demand, PodTerm, Resources } from './launcher-demand.ts'
import type { Place, Places } from './cluster-room.ts'
import type { Reader } from '../../kube/cluster.ts'
import { Pods } from '../../kube/kinds/workload-kinds.ts'
import { readAhead } from '../../kube/read-cache.ts'
import { whyUnknown } from '../../kube/known.ts'
import type { Node } from '../../kube/kinds/core-kinds.ts'

/** Where a launcher pod is to go. */
interface Move {
  /** The node that it leaves; `again`: the pod there ends first, so that it may come back to it. */
  from: string | undefined
  again: boolean
  uid: string
}

/** The first node that takes it, or why none does: how many refuse for which reason, the most frequent first. */
type Placement = { node: string } | { refusals: readonly (readonly [why: string, nodes: number])[] }

/** Looks at what needs no reading first. What may not be read refuses nothing. Throws ApiError. */
export async function placeFor(
  demand: Demand,
  { places, neighbours }: { places: Places; neighbours: Neighbours },
  move: Move,
): Promise<Placement> {
  const refusals = new Map<string, number>()
  const refuse = (why: string) => void refusals.set(why, (refusals.get(why) ?? 0) + 1)
  for (const place of places.nodes) {
    if (place.metadata.name === move.from && !move.again) continue
    const why =
      refusalBySight(place, demand) ??
      (await refusalByRoom(place, demand, { places, move })) ??
      (await neighbours.refusal(place, demand.podTerms, { places, move }))
    if (why === undefined) return { node: place.metadata.name }
    refuse(why)
  }
  return { refusals: [...refusals].toSorted(([, a], [, b]) => b - a) }
}

type Sight = (place: Place, demand: Demand) => string | undefined | false

const sights: readonly Sight[] = [
  ({ spec }) => spec?.unschedulable === true && 'cordoned',
  (place) => condition(place, 'Ready')?.status !== 'True' && 'not ready',
  ({ metadata }) => metadata.labels?.['kubevirt.io/schedulable'] !== 'true' && 'virt-handler does not answer',
  (place, { tolerations }) => {
    const taint = refusingTaint(place as never, tolerations)
    return taint && `taint ${taint.key}`
  },
  ({ metadata }, { selector }) => {
    const missing = Object.entries(selector).find(([key, value]) => metadata.labels?.[key] !== value)
    return missing && `no label ${missing[0]}=${missing[1]}`
  },
  ({ metadata }, { nodeTerms }) =>
    !fitsTerms(nodeTerms, { name: metadata.name, labels: metadata.labels ?? {} }) && 'node affinity',
  ({ metadata }, { labels }) => {
    const missing = labels.find(({ key }) => metadata.labels?.[key] !== 'true')
    return missing && `without ${missing.means}`
  },
  ({ metadata }, { volumes = [] }) => {
    const place = { name: metadata.name, labels: metadata.labels ?? {} }
    const elsewhere = volumes.find(({ terms }) => !fitsTerms(terms, place))
    return elsewhere && `without the volume of claim ${elsewhere.claim}`
  },
]

function refusalBySight(place: Place, demand: Demand): string | undefined {
  for (const sight of sights) {
    const why = sight(place, demand)
    if (why) return why
  }
  return undefined
}

async function refusalByRoom(
  place: Place,
  { resources }: Demand,
  { places, move }: { places: Places; move: Move },
): Promise<string | undefined> {
  const free = await places.freeOn(place)
  if (free === undefined) return undefined
  const back = move.again && place.metadata.name === move.from
  const short = Object.entries(resources).find(
    ([name, asked]) => asked > 0 && (free[name] ?? -asked) + (back ? asked : 0) < asked,
  )
  return short && shortOf(short[0], free)
}

function shortOf(name: string, free: Resources): string {
  if (name === 'pods') return 'no room for another pod'
  return free[name] === undefined ? `has no ${name}` : `not enough ${name}`
}

/** `2 cordoned, 1 not enough memory`. */
export function refusalsText(refusals: readonly (readonly [why: string, nodes: number])[]): string {
  return refusals.map(([why, nodes]) => `${nodes} ${why}`).join(', ') || 'there is no other'
}

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

interface Expression {
  key: string
  operator: string
  values?: string[]
}

/** A term of required node affinity. */
export interface NodeTerm {
  matchExpressions?: Expression[]
  matchFields?: Expression[]
}

interface LabeledNode {
  name: string
  labels: Readonly<Record<string, string>>
}

/** True where there are none, or one of them holds; an empty term holds nowhere, as for the scheduler. */
function fitsTerms(terms: readonly NodeTerm[], place: LabeledNode): boolean {
  return terms.length === 0 || terms.some((term) => holds(term, place))
}

function holds(
  { matchExpressions = [], matchFields = [] }: NodeTerm,
  { name, labels }: LabeledNode,
): boolean {
  if (matchExpressions.length + matchFields.length === 0) return false
  return (
    matchExpressions.every((one) => meets(one, labels[one.key])) &&
    matchFields.every((one) => one.key === 'metadata.name' && meets(one, name))
  )
}

const operators: Readonly<Record<string, (value: string | undefined, values: readonly string[]) => boolean>> =
  {
    In: (value, values) => value !== undefined && values.includes(value),
    NotIn: (value, values) => value === undefined || !values.includes(value),
    Exists: (value) => value !== undefined,
    DoesNotExist: (value) => value === undefined,
    Gt: (value, [limit]) => Number(value) > Number(limit),
    Lt: (value, [limit]) => Number(value) < Number(limit),
  }

const meets = ({ operator, values = [] }: Expression, value: string | undefined): boolean =>
  operators[operator]?.(value, values) ?? false

export interface Toleration {
  key?: string
  operator?: string
  value?: string
  effect?: string
}

type Taint = NonNullable<NonNullable<Node['spec']>['taints']>[number]

/** The first taint that keeps a pod away; a preference keeps nobody away. */
function refusingTaint({ spec }: Node, tolerations: readonly Toleration[]): Taint | undefined {
  return spec?.taints?.find(
    (taint) => taint.effect !== 'PreferNoSchedule' && !tolerations.some((one) => tolerates(one, taint)),
  )
}

function tolerates({ key, operator, value, effect }: Toleration, taint: Taint): boolean {
  if (effect && effect !== taint.effect) return false
  if (operator === 'Exists') return !key || key === taint.key
  return key === taint.key && (value ?? '') === (taint.value ?? '')
}
