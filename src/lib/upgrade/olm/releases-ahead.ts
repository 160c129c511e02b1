import type { CatalogPackage } from '../../catalogs/catalog.ts'
import { reachedIn } from '../../catalogs/path.ts'
import {
  compareOperatorVersions,
  type OperatorVersion,
  operatorVersionOf,
  versionOfCsv,
} from '../../releases/operator-version.ts'
import { againstPlatform } from '../../releases/operator-and-platform.ts'
import type { Releases } from '../../releases/releases.ts'
import type { OperatorSeen } from './operator-seen.ts'
import { packageIn } from './package-in.ts'

interface Question {
  seen: OperatorSeen
  releases: Pick<Releases, 'hyperconverged'>
  /** Packages of `--catalog-file`. */
  catalog?: readonly CatalogPackage[] | undefined
}

/**
 * Releases of the operator that can be asked for, the oldest first: all that the edges of a catalog file lead to; without one what OLM offers already
 * and the newest of each channel, as the cluster shows them, which is without edges (ocp 2.6). None that is older than what is installed, or ahead of
 * the platform (night E8). Pure. Throws `blocked` where the file does not have the package.
 */
export function releasesAhead(question: Question): readonly string[] {
  const { seen, catalog } = question
  const found = catalog === undefined ? shownBy(question) : ledTo(seen, catalog)
  const ahead = found.filter((one) => isAhead(one, question))
  return [...new Set(ahead.toSorted(compareOperatorVersions).map(({ text }) => text))]
}

function ledTo(
  { package: name, csv, installed, subscription }: OperatorSeen,
  catalog: readonly CatalogPackage[],
): OperatorVersion[] {
  const journey = { from: { csv, version: installed.text }, channel: subscription.spec?.channel }
  return reachedIn(packageIn(catalog, name), journey).flatMap(
    ({ version, csv: reached }) => operatorVersionOf(version) ?? versionOfCsv(reached) ?? [],
  )
}

function shownBy(question: Question): OperatorVersion[] {
  const { offered = [], subscription } = question.seen
  const newest = offered.flatMap(({ entries }) => {
    const versions = entries.map(({ version }) => version).filter((one) => isAhead(one, question))
    return versions.toSorted(compareOperatorVersions).slice(-1)
  })
  const resolved = versionOfCsv(subscription.status?.currentCSV)
  return resolved === undefined ? newest : [...newest, resolved]
}

function isAhead(version: OperatorVersion, { seen: { installed, platform }, releases }: Question): boolean {
  const isBeyond =
    platform.minor !== undefined && againstPlatform(version, platform.minor, releases).is === 'beyond'
  return !isBeyond && compareOperatorVersions(version, installed) > 0
}
