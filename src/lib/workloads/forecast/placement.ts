import { condition } from '../../cluster/object.ts'
import type { Demand } from './demand.ts'
import type { Resources } from './launcher-resources.ts'
import { fitsTerms } from './node-terms.ts'
import type { Neighbours } from './neighbours.ts'
import type { Place, Places } from './places.ts'
import { refusingTaint } from './taints.ts'

/** Where a launcher pod is to go. */
export interface Move {
  /** The node that it leaves; `again`: the pod there ends first, so that it may come back to it. */
  from: string | undefined
  again: boolean
  uid: string
}

/** The first node that takes it, or why none does: how many refuse for which reason, the most frequent first. */
export type Placement = { node: string } | { refusals: readonly (readonly [why: string, nodes: number])[] }

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
