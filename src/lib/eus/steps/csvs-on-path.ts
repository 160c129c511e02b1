import { platformOfOperator } from '../../releases/bundled.ts'
import {
  compareOperatorVersions,
  type OperatorVersion,
  stemOf,
  versionOfCsv,
} from '../../releases/operator-version.ts'
import { compareMinors } from '../../releases/platform-version.ts'
import type { Releases } from '../../releases/releases.ts'
import type { OperatorScene } from '../../upgrade/olm/operator-scene.ts'

/** A CSV and its version. */
export interface NamedCsv {
  csv: string
  version: string
}

/** Which releases of the operator belong to one hop. */
export interface HopPath {
  /** Of the platform. */
  minor: string
  /** As the plan has it: from what was installed then to the end of the way, or as far as it is known. */
  path: readonly string[]
  releases: Pick<Releases, 'hyperconverged'>
}

/** The platform's minor that a CSV belongs to; undefined where no version or no row of the table tells. */
export function minorOfCsv(csv: string, releases: Pick<Releases, 'hyperconverged'>): string | undefined {
  const version = versionOfCsv(csv)
  return version && platformOfOperator(version, releases)
}

/** What the path has for this hop, the oldest first; undefined where nothing of the minor is known, and whatever OLM resolves in it will do. */
export function pathInHop({ minor, path, releases }: HopPath): readonly string[] | undefined {
  const [, ...ahead] = path
  if (!path.some((csv) => minorOfCsv(csv, releases) === minor)) return undefined
  return [...path.slice(0, 1).filter((csv) => minorOfCsv(csv, releases) === minor), ...ahead].filter(
    (csv) => {
      const of = minorOfCsv(csv, releases)
      return of !== undefined && compareMinors(of, minor) <= 0
    },
  )
}

/**
 * What is installed, resolved or about to be, for this hop; the oldest first. Where the path is known, nothing else is among them but what is there already, by
 * whomever: it has to be seen through.
 */
export function csvsOnPath(scene: OperatorScene, hop: HopPath): readonly NamedCsv[] {
  const known = pathInHop(hop)
  const fits = (csv: string) =>
    known?.includes(csv) === true ||
    (minorOfCsv(csv, hop.releases) === hop.minor && (known === undefined || isBegun(scene, csv)))
  return named(scene)
    .filter(fits)
    .flatMap((csv) => {
      const version = versionOfCsv(csv)
      return version === undefined ? [] : [{ csv, version }]
    })
    .toSorted((a, b) => compareOperatorVersions(a.version, b.version))
    .map(({ csv, version }: { csv: string; version: OperatorVersion }) => ({ csv, version: version.text }))
}

/** The release of the same operator that the InstallPlan would install, though it is not on the path; undefined where none waits. */
export function offPath(scene: OperatorScene, hop: HopPath): string | undefined {
  const known = pathInHop(hop)
  const { plan } = scene
  if (known === undefined || plan === undefined || plan.status?.phase === 'Complete') return undefined
  const own = ownIn(scene).find((csv) => plan.spec?.clusterServiceVersionNames?.includes(csv))
  return own !== undefined && !known.includes(own) && !isBegun(scene, own) ? own : undefined
}

/** Of this operator, whoever names them. */
function named(scene: OperatorScene): readonly string[] {
  const { installedCSV = '', currentCSV = '' } = scene.subscription.status ?? {}
  return [...new Set([installedCSV, currentCSV, ...ownIn(scene)])].filter((csv) => csv !== '')
}

function ownIn({ subscription, plan }: OperatorScene): readonly string[] {
  const { installedCSV = '', currentCSV = '' } = subscription.status ?? {}
  const stem = stemOf(installedCSV || currentCSV)
  return (plan?.spec?.clusterServiceVersionNames ?? []).filter((csv) => stemOf(csv) === stem)
}

/** Its CSV is there, or its InstallPlan is approved. */
function isBegun({ subscription, csvs, plan }: OperatorScene, csv: string): boolean {
  return (
    subscription.status?.installedCSV === csv ||
    csvs.some(({ metadata }) => metadata.name === csv) ||
    (plan?.spec?.approved === true && plan.spec.clusterServiceVersionNames?.includes(csv) === true)
  )
}
