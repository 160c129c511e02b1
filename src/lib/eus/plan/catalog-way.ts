import type { CatalogChannel, CatalogPackage } from '../../catalogs/catalog.ts'
import { type Installed, nextIn } from '../../catalogs/path.ts'
import { platformOfOperator } from '../../releases/bundled.ts'
import {
  compareOperatorVersions,
  type OperatorVersion,
  operatorVersionOf,
} from '../../releases/operator-version.ts'
import { compareMinors } from '../../releases/platform-version.ts'
import type { Releases } from '../../releases/releases.ts'

/** A release of the operator on its way. */
export interface WayStop {
  /** Of the platform: the hop in which it is installed. */
  minor: string
  csv: string
  version: string
  /** To be resolved in. */
  channel?: string
}

type Rows = Pick<Releases, 'hyperconverged'>

/** Where a way begins: what is installed, and the channel that is set. */
export interface Beginning {
  at: Installed
  channel: string | undefined
}

/**
 * Through these minors of the platform, one after the other: in each to the newest release that still leads on (ocp 9.15), by the edges that OLM takes from a catalog
 * of that minor (ocp 2.6): later minors are not in it yet. `missing`: the first minor that no release leads to. Pure.
 */
export function catalogWay(
  pack: CatalogPackage,
  begin: Beginning,
  { minors, releases }: { minors: readonly string[]; releases: Rows },
): { stops: readonly WayStop[]; missing?: string } {
  const ordered = { ...pack, channels: pack.channels.toSorted(nearestHeadFirst) }
  for (let count = minors.length; count >= 0; count--) {
    const stops = through(ordered, begin, { minors: minors.slice(0, count), releases })
    const missing = minors[count]
    if (stops !== undefined) return { stops, ...(missing !== undefined && { missing }) }
  }
  return { stops: [] }
}

/** Of channels that lead to a release that which goes no further than it has to: in others OLM would offer later minors at once. */
function nearestHeadFirst(a: CatalogChannel, b: CatalogChannel): number {
  const [one, other] = [a, b].map(({ entries }) => newestIn(entries.map(({ version }) => version)))
  return one && other ? compareOperatorVersions(one, other) : 0
}

const newestIn = (texts: readonly (string | undefined)[]): OperatorVersion | undefined =>
  texts
    .flatMap((text) => operatorVersionOf(text) ?? [])
    .toSorted(compareOperatorVersions)
    .at(-1)

interface Ahead {
  minors: readonly string[]
  releases: Rows
}

function through(
  pack: CatalogPackage,
  begin: Beginning,
  { minors, releases }: Ahead,
): readonly WayStop[] | undefined {
  const [minor, ...rest] = minors
  if (minor === undefined) return []
  const seen = upTo(pack, minor, releases)
  for (const way of waysInto(seen, begin, { minor, releases })) {
    const [end] = way.slice(-1)
    if (end === undefined) continue
    const further = through(pack, { at: end, channel: end.channel }, { minors: rest, releases })
    if (further !== undefined) return [...way, ...further]
  }
  return undefined
}

/** As the catalog of that minor has it. */
function upTo({ channels, ...pack }: CatalogPackage, minor: string, releases: Rows): CatalogPackage {
  return {
    ...pack,
    channels: channels.map(({ name, entries }) => ({
      name,
      entries: entries.filter(({ version }) => {
        const of = minorOf(version, releases)
        return of !== undefined && compareMinors(of, minor) <= 0
      }),
    })),
  }
}

function minorOf(text: string | undefined, releases: Rows): string | undefined {
  const version = operatorVersionOf(text)
  return version && platformOfOperator(version, releases)
}

/** To each release of that minor, the newest first; releases of earlier minors may come before it. */
function waysInto(
  { channels }: CatalogPackage,
  begin: Beginning,
  { minor, releases }: { minor: string; releases: Rows },
): readonly (readonly WayStop[])[] {
  const found = new Map<string, readonly WayStop[]>([[begin.at.csv, hereAlready(begin, minor, releases)]])
  let edge: readonly (readonly WayStop[])[] = [[]]
  while (edge.length > 0) {
    const next = edge.flatMap((way) => furtherFrom(way, begin, { channels, releases }))
    edge = next.filter((way) => !found.has(lastOf(way)))
    for (const way of edge) if (!found.has(lastOf(way))) found.set(lastOf(way), way)
  }
  return [...found.values()]
    .filter((way) => way.at(-1)?.minor === minor)
    .toSorted(newestFirst)
    .map((way) => way.map((stop) => ({ ...stop, minor })))
}

/** Its release is of that minor already: to stay is a way as well. */
function hereAlready({ at }: Beginning, minor: string, releases: Rows): readonly WayStop[] {
  const { csv, version } = at
  return version === undefined || minorOf(version, releases) !== minor ? [] : [{ minor, csv, version }]
}

const lastOf = (way: readonly WayStop[]): string => way.at(-1)?.csv ?? ''

/** In the channel that is set first, as long as that leads on. */
function furtherFrom(
  way: readonly WayStop[],
  begin: Beginning,
  { channels, releases }: Pick<CatalogPackage, 'channels'> & { releases: Rows },
): readonly (readonly WayStop[])[] {
  const last = way.at(-1)
  const at: Installed = last ?? begin.at
  const set = last === undefined ? begin.channel : last.channel
  const ordered = channels.toSorted((a, b) => Number(b.name === set) - Number(a.name === set))
  return ordered.flatMap((channel) => {
    const entry = nextIn(channel, at)
    const minor = minorOf(entry?.version, releases)
    if (entry?.version === undefined || minor === undefined || way.some(({ csv }) => csv === entry.name))
      return []
    return [[...way, { minor, csv: entry.name, version: entry.version, channel: channel.name }]]
  })
}

function newestFirst(a: readonly WayStop[], b: readonly WayStop[]): number {
  const [one, other] = [a, b].map((way) => operatorVersionOf(way.at(-1)?.version))
  return one && other ? compareOperatorVersions(other, one) : 0
}
