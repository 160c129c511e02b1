import type { Reader } from '../../kube/cluster.ts'
import type { World } from '../../kube/world.ts'
import { shellWord } from '../../kube/shell-line.ts'
import type { Installation } from '../../kubevirt/installation.ts'
import type { RolloutStatus } from '../../kubevirt/rollout-status.ts'
import { readCatalog } from '../../releases/catalog-path.ts'
import { againstPlatform } from '../../releases/platform-releases.ts'
import { issuesOf, reachable } from '../../releases/release-path.ts'
import {
  compareVersions,
  minorNumber,
  operatorVersionOf,
  type Version,
  versionOf,
} from '../../releases/release-versions.ts'
import { type KnownBad, kubernetesWindow, readReleases, type Releases } from '../../releases/releases.ts'
import { type OperatorSnapshot, seeOperator } from '../methods/olm-operator.ts'
import { releasesAhead } from '../methods/operator-target.ts'
import type { UpgradeOptions } from './upgrade-options.ts'

/** A release that can be reached from here, and what is to be known of it before. */
export interface AvailableTarget {
  version: string
  /** The one to go to, of several; at most one. */
  isRecommended: boolean
  /** Why it is not, or what nobody knows of it. */
  note?: string
  /** The lines that upgrade to it, and that judge it first. */
  next: string
  details: string
}

/** What can be reached, the oldest first; and where that is known from. */
export interface AvailableTargets {
  /** `KubeVirt v1.7.4` or `HyperConverged 1.17.3`. */
  stands: string
  targets: readonly AvailableTarget[]
  /** `kvup's release data of 2026-11-01`, `the catalog`. */
  source: string
  /** Why there is none. */
  none?: string
  /** Lines that make more known. */
  more: readonly string[]
  /** What an upgrade to any of them takes besides its version. */
  asks: Partial<Pick<UpgradeOptions, 'method' | 'follow'>>
}

interface Asked {
  reader: Reader
  installation: Installation
  rolloutStatus: Pick<RolloutStatus, 'observed'>
  world: Pick<World, 'readText'>
  typed?: Pick<UpgradeOptions, 'catalogFile' | 'releases'>
}

/** Nothing is downloaded: what kvup's release data knows, and where OLM decides what the catalog shows. Throws what reading throws. */
export async function availableTargets(asked: Asked): Promise<AvailableTargets> {
  const { reader, installation, rolloutStatus, world, typed = {} } = asked
  const releases = await readReleases(world, typed.releases)
  if (installation.manager.kind === 'hyperconverged')
    return byCatalog(await seeOperator(reader), releases, {
      catalog: await readCatalog(world, typed.catalogFile),
      catalogFile: typed.catalogFile,
    })
  const { gitVersion } = await reader.version()
  return byReleaseData(installation, {
    now: rolloutStatus.observed.version,
    kubernetes: /^v?(?<minor>\d+\.\d+)/u.exec(gitVersion)?.groups?.['minor'],
    releases,
  })
}

interface Known {
  now: string | undefined
  /** `1.34`; undefined where the server says otherwise. */
  kubernetes: string | undefined
  releases: Releases
}

/** Pure. */
function byReleaseData(
  { operator, manager }: Pick<Installation, 'operator' | 'manager'>,
  { now, kubernetes, releases }: Known,
): AvailableTargets {
  const from = versionOf(now)
  const found = withOperators(reachable(now, releases), operator?.version, from).toSorted(compareVersions)
  const against = (to: Version) =>
    from === undefined ? undefined : reasonAgainst({ from, to }, kubernetes, releases)
  const best = found.findLast((to) => against(to) === undefined)
  const follow = manager.kind === 'helm' || manager.kind === 'gitops'
  const targets = found.map((to) =>
    target(to.text, { isBest: to === best, note: against(to), flags: follow ? ' --follow' : '' }),
  )
  return {
    stands: `KubeVirt ${now ?? 'of no version yet'}`,
    targets,
    source: `kvup's release data of ${releases.asOf}`,
    ...(targets.length === 0 && { none: `kvup's release data of ${releases.asOf} has no newer release` }),
    more: [],
    asks: follow ? { follow } : {},
  }
}

function target(
  version: string,
  { isBest, note, flags }: { isBest: boolean; note: string | undefined; flags: string },
): AvailableTarget {
  return {
    version,
    isRecommended: isBest,
    ...(note !== undefined && { note }),
    next: `kvup upgrade --to ${version}${flags}`,
    details: `kvup check --to ${version}`,
  }
}

/** A newer operator that waits for its KubeVirt, as where imageTag is set, is a release that is here already. */
function withOperators(
  texts: readonly string[],
  operator: string | undefined,
  from: Version | undefined,
): Version[] {
  const versions = texts.map(versionOf).filter((version) => version !== undefined)
  const runs = versionOf(operator)
  const isOneMore =
    runs !== undefined &&
    from !== undefined &&
    compareVersions(runs, from) > 0 &&
    runs.major === from.major &&
    runs.minor - from.minor <= 1 &&
    !versions.some(({ text }) => text === runs.text)
  return isOneMore ? [...versions, runs] : versions
}

/** Whoever goes there, whatever he has. */
const concernsAll = ({ level, where, hits, vmsAtLeast, kubernetes }: KnownBad): boolean =>
  level === 'blocker' && (where ?? hits ?? vmsAtLeast ?? kubernetes) === undefined

/** What is known to hurt, and a Kubernetes that the release does not support. */
function reasonAgainst(
  hop: { from: Version; to: Version },
  kubernetes: string | undefined,
  releases: Releases,
): string | undefined {
  const window = kubernetesWindow(hop.to, releases)
  if (kubernetes !== undefined && window !== undefined) {
    const runs = minorNumber(kubernetes)
    if (runs < minorNumber(window.min))
      return `needs Kubernetes ${window.min} or newer; here it is ${kubernetes}`
    if (runs > minorNumber(window.max) && hop.from.minor !== hop.to.minor)
      return `supports Kubernetes up to ${window.max}; here it is ${kubernetes}`
  }
  return issuesOf(hop, releases).find(concernsAll)?.summary
}

/** OLM takes every release in its order: the newest that the catalog shows is recommended. */
function byCatalog(
  operatorSnapshot: OperatorSnapshot,
  releases: Releases,
  {
    catalog,
    catalogFile,
  }: { catalog: Awaited<ReturnType<typeof readCatalog>>; catalogFile: string | undefined },
): AvailableTargets {
  const found = releasesAhead({ operatorSnapshot, releases, catalog })
  const by = catalogFile === undefined ? '' : ` --catalog-file ${shellWord(catalogFile)}`
  const noted = found.map((text) => ({ text, note: unplaced(text, operatorSnapshot, releases) }))
  const best = noted.findLast(({ note }) => note === undefined)?.text
  const targets = noted.map(({ text, note }) =>
    target(text, { isBest: text === best, note, flags: ` --method olm${by}` }),
  )
  return {
    stands: `HyperConverged ${operatorSnapshot.installed.text}`,
    targets,
    source: catalogFile === undefined ? 'the catalog' : 'the catalog file',
    ...(targets.length === 0 && { none: whyNone(operatorSnapshot, catalogFile) }),
    more: catalogFile === undefined ? byCatalogFile(operatorSnapshot) : [],
    asks: { method: 'olm' },
  }
}

/** How a version that is not offered stands against the platform (night E8). */
function unplaced(
  text: string,
  { platform: { minor } }: OperatorSnapshot,
  releases: Releases,
): string | undefined {
  const version = operatorVersionOf(text)
  const against = version && minor !== undefined ? againstPlatform(version, minor, releases).is : 'fits'
  return against === 'unknown' ? 'its platform minor is unknown' : undefined
}

function whyNone({ offered = [], platform }: OperatorSnapshot, catalogFile: string | undefined): string {
  if (catalogFile !== undefined) return 'the catalog file has no upgrade path from there'
  if (offered.length === 0) return 'kvup cannot read the catalog'
  const within = platform.minor === undefined ? '' : ` that belongs to platform ${platform.minor}`
  return `the catalog has nothing later${within}`
}

/** The cluster shows releases without edges, and may show nothing (ocp 2.6): only the catalog itself tells what leads where. */
const byCatalogFile = ({ subscription: { spec } }: OperatorSnapshot): readonly string[] => [
  `kubectl -n ${spec?.sourceNamespace ?? ''} get catalogsource ${spec?.source ?? ''} -o jsonpath='{.spec.image}'     names the image of the catalog`,
  'save the catalog with opm render -o yaml, and pass it with --catalog-file: it has the upgrade paths',
]
