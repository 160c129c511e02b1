import type { CatalogPackage } from '../../catalogs/catalog.ts'
import type { PackageChannel } from '../../cluster/kinds/operator-lifecycle.ts'
import { itemsOf } from '../../facts/known.ts'
import { platformOfOperator } from '../../releases/bundled.ts'
import {
  compareOperatorVersions,
  isInSkipRange,
  operatorVersionOf,
  versionOfCsv,
} from '../../releases/operator-version.ts'
import type { Releases } from '../../releases/releases.ts'
import { packageIn } from '../../upgrade/olm/package-in.ts'
import { catalogWay, type WayStop } from './catalog-way.ts'
import type { EusEvidence } from './evidence.ts'
import { operatorNow } from './operator-now.ts'

/** What is known of the operator's way through the minors that lie ahead of it. */
export interface OperatorWay {
  stops: readonly WayStop[]
  /** CSVs of which it is known that they lead on to the last stop: what is installed, and whatever may come between. */
  path: readonly string[]
  /** The first minor of which it is not known whether a release of it is reached; `none`: the catalog says that none is. */
  open?: { is: 'unknown' | 'none'; from: string; minor: string }
}

export interface WayQuestion {
  /** Of the platform, ahead of the operator. */
  minors: readonly string[]
  catalog: readonly CatalogPackage[] | undefined
  releases: Pick<Releases, 'hyperconverged'>
}

/**
 * By the edges of a catalog file, else by what the cluster shows of its catalog (ocp 2.6). Undefined where no Subscription has installed anything. Pure. Throws
 * `blocked` for a catalog file without the package.
 */
export function operatorWay(evidence: EusEvidence, question: WayQuestion): OperatorWay | undefined {
  const now = operatorNow(evidence)
  if (now?.csv === undefined) return undefined
  const begin = { csv: now.csv, ...(now.channel !== undefined && { channel: now.channel }) }
  const { catalog } = question
  return catalog === undefined
    ? byShownCatalog(evidence, begin, question)
    : byCatalogFile(packageIn(catalog, now.package, catalogOfTheEnd), begin, question)
}

interface Begin {
  csv: string
  channel?: string
}

const catalogOfTheEnd = 'of the catalog that the Subscription names, of the minor at the end'

function byCatalogFile(pack: CatalogPackage, { csv, channel }: Begin, question: WayQuestion): OperatorWay {
  const at = { csv, version: versionOfCsv(csv)?.text }
  const { stops, missing } = catalogWay(pack, { at, channel }, question)
  const path = [...new Set([csv, ...stops.map((stop) => stop.csv)])]
  if (missing === undefined) return { stops, path }
  return { stops, path, open: { is: 'none', from: path.at(-1) ?? csv, minor: missing } }
}

/**
 * A channel has one head, and each of its entries leads there in the end; whether what is installed is among them is all that is shown. A catalog that has no
 * release of a minor yet says nothing.
 */
function byShownCatalog(evidence: EusEvidence, { csv, channel }: Begin, question: WayQuestion): OperatorWay {
  const { minors, releases } = question
  let way: OperatorWay = { stops: [], path: [csv] }
  let set = channel
  for (const minor of minors) {
    const from = way.stops.at(-1)?.csv ?? csv
    const found = channelOf(evidence, { minor, set, releases })
    const stop = found && headOf(found, minor)
    if (found === undefined || stop === undefined || !leadsOn(found, from))
      return { ...way, open: { is: 'unknown', from, minor } }
    way = { stops: [...way.stops, stop], path: [...new Set([...way.path, ...between(found, from, stop)])] }
    set = found.name
  }
  return way
}

/** The channel whose head belongs to that minor; of several the one that is set, else the one with the newest head. */
export function channelOf(
  { lifecycle }: Pick<EusEvidence, 'lifecycle'>,
  { minor, set, releases }: { minor: string; set: string | undefined; releases: WayQuestion['releases'] },
): PackageChannel | undefined {
  const [manifest] = itemsOf(lifecycle.packageManifests)
  const fitting = (manifest?.status?.channels ?? []).filter(({ currentCSV }) => {
    const version = versionOfCsv(currentCSV)
    return version !== undefined && platformOfOperator(version, releases) === minor
  })
  return fitting.find(({ name }) => name === set) ?? fitting.toSorted(newestFirst)[0]
}

function newestFirst(a: PackageChannel, b: PackageChannel): number {
  const [one, other] = [a, b].map(({ currentCSV }) => versionOfCsv(currentCSV))
  return one && other ? compareOperatorVersions(other, one) : 0
}

function headOf({ name, currentCSV }: PackageChannel, minor: string): WayStop | undefined {
  const version = versionOfCsv(currentCSV)?.text
  if (currentCSV === undefined || version === undefined) return undefined
  return { minor, csv: currentCSV, version, ...(name !== undefined && { channel: name }) }
}

function leadsOn({ entries = [], currentCSVDesc }: PackageChannel, from: string): boolean {
  const range = currentCSVDesc?.annotations?.['olm.skipRange']
  const version = versionOfCsv(from)
  const isSkipped = range !== undefined && version !== undefined && isInSkipRange(version, range)
  return isSkipped || entries.some(({ name }) => name === from)
}

/** Entries later than where it stands, up to the head. */
function between(
  { entries = [] }: PackageChannel,
  from: string,
  { csv, version }: WayStop,
): readonly string[] {
  const [begin, end] = [versionOfCsv(from), operatorVersionOf(version)]
  const passed = entries.flatMap(({ name = '' }) => {
    const at = versionOfCsv(name)
    const isPassed =
      at && begin && end && compareOperatorVersions(at, begin) > 0 && compareOperatorVersions(at, end) < 0
    return isPassed ? [name] : []
  })
  return [...passed, csv]
}
