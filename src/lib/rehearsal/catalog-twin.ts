import type { Subscription, PackageManifest } from '../kube/kinds/operator-kinds.ts'
import { filled } from '../kube/known.ts'
import type { CatalogPackage } from '../releases/catalog-path.ts'
import { lineOf, platformOfOperator, releaseOfOperator, type Releases } from '../releases/releases.ts'
import { againstPlatform } from '../releases/platform-releases.ts'
import {
  compareMinors,
  compareOperatorVersions,
  operatorMinor,
  type OperatorVersion,
  operatorVersionOf,
  stemOf,
  versionOf,
  versionOfCsv,
} from '../releases/release-versions.ts'
import type { HyperConvergedShape } from '../../simulator/hyperconverged/hyperconverged-crd.ts'
import type { BundleShape, ChannelShape, EntryShape } from '../../simulator/olm/olm-shape.ts'

type Rows = Pick<Releases, 'hyperconverged'>

/** The operator that is installed, and what it belongs to. */
export interface InstalledOperator {
  csv: string
  version: OperatorVersion
  /** The KubeVirt that it brought: `v1.4.1`. */
  kubevirt: string
  crd: HyperConvergedShape
  /** The platform's minor; undefined on a plain cluster. */
  platform?: string
  /** The last minor of the platform that its CSV allows. */
  limit?: string
}

/** What is known of a package: what the cluster shows, and what a file has. */
export interface KnownCatalog {
  subscription: Subscription
  /** As the cluster shows it. */
  manifests: readonly PackageManifest[]
  /** Of `--catalog-file`; it has the edges, which a cluster does not show. */
  filed: CatalogPackage | undefined
  releases: Rows
}

export interface CatalogTwin {
  channels: readonly ChannelShape[]
  /** What is assumed or left out, a sentence for each. */
  missing: readonly string[]
}

/** The channels of a package, as the catalog of a twin has them. Pure. */
export function catalogTwin(installed: InstalledOperator, known: KnownCatalog): CatalogTwin {
  const channels = known.filed === undefined ? shown(installed, known) : filed(installed, known, known.filed)
  const bundled = channels.map(({ name, entries }) => ({
    name,
    entries: entries.flatMap((entry) => bundleOf(entry, installed, known) ?? []),
  }))
  const isGuessed = ({ name, version: text }: EntryShape): boolean => {
    const version = operatorVersionOf(text)
    return name !== installed.csv && version !== undefined && exactRow(version, known.releases) === undefined
  }
  const guessed = bundled.flatMap(({ entries }) => entries).filter(isGuessed)
  return {
    channels: withInstalled(bundled, installed, known),
    missing: [
      ...(known.filed === undefined
        ? [
            'Upgrade paths of the catalog: each release replaces the one before. --catalog-file has the real ones.',
          ]
        : []),
      ...(guessed.length === 0
        ? []
        : [
            `Which KubeVirt comes with ${namesOf(guessed)}: the twin numbers it as the operator is numbered.`,
          ]),
    ],
  }
}

interface Channel {
  name: string
  entries: readonly EntryShape[]
}

/** So many are told. */
const toldAtMost = 3

function namesOf(entries: readonly EntryShape[]): string {
  const versions = [...new Set(entries.map(({ version }) => version))]
  const more = versions.length - toldAtMost
  return `${versions.slice(0, toldAtMost).join(', ')}${more > 0 ? ` and ${more} more` : ''}`
}

/** With the edges of the file. What only later minors of the platform show is hidden until the platform is there. */
function filed(
  { platform }: InstalledOperator,
  { manifests, releases }: KnownCatalog,
  { channels, defaultChannel }: CatalogPackage,
): Channel[] {
  const shownChannels = manifests.flatMap(({ status }) => status?.channels ?? [])
  const visible = new Set([
    ...shownChannels.map(({ currentCSV }) => currentCSV),
    ...shownChannels.flatMap(({ entries = [] }) => entries.map(({ name }) => name)),
  ])
  const first = (name: string): number => (name === defaultChannel ? 0 : 1)
  const twinEntry = (entry: CatalogEntry): EntryShape[] => {
    const { name, replaces, skips, skipRange } = entry
    const version = operatorVersionOf(entry.version) ?? versionOfCsv(name)
    if (version === undefined) return []
    const since = visible.has(name) ? undefined : laterMinor(version, platform, releases)
    return [filled({ name, version: version.text, replaces, skips, skipRange, since })]
  }
  return channels
    .toSorted((a, b) => first(a.name) - first(b.name))
    .map(({ name, entries }) => ({ name, entries: entries.flatMap(twinEntry) }))
}

type CatalogEntry = CatalogPackage['channels'][number]['entries'][number]

/** The minor of the platform that a release belongs to, where this one is not there yet. */
function laterMinor(
  version: OperatorVersion,
  platform: string | undefined,
  releases: Rows,
): string | undefined {
  if (platform === undefined || againstPlatform(version, platform, releases).is !== 'beyond') return undefined
  return platformOfOperator(version, releases)
}

/** As the cluster shows them: without edges. The first of a channel follows the newest release before it, and what OLM has resolved already follows what is installed. */
function shown(installed: InstalledOperator, { manifests, subscription }: KnownCatalog): Channel[] {
  const resolved = subscription.status?.currentCSV
  const channels = manifests.flatMap(({ status }) =>
    (status?.channels ?? []).map(({ name = '', currentCSV, currentCSVDesc, entries }) => ({
      name,
      skipRange: currentCSVDesc?.annotations?.['olm.skipRange'],
      head: currentCSV,
      entries: (
        entries ??
        (currentCSV === undefined ? [] : [{ name: currentCSV, version: currentCSVDesc?.version ?? '' }])
      )
        .flatMap(({ name: csv = '', version: text }) => {
          const version = operatorVersionOf(text) ?? versionOfCsv(csv)
          return version === undefined ? [] : [{ csv, version }]
        })
        .toSorted((a, b) => compareOperatorVersions(a.version, b.version)),
    })),
  )
  const all = [
    { csv: installed.csv, version: installed.version },
    ...channels.flatMap(({ entries }) => entries),
  ]
  const before = (version: OperatorVersion): string | undefined =>
    all
      .filter((one) => compareOperatorVersions(one.version, version) < 0)
      .toSorted((a, b) => compareOperatorVersions(a.version, b.version))
      .at(-1)?.csv
  return channels.map(({ name, entries, head, skipRange }) => {
    const twinEntry = ({ csv, version }: (typeof entries)[number], i: number): EntryShape => ({
      name: csv,
      version: version.text,
      skips: csv === resolved && csv !== installed.csv ? [installed.csv] : [],
      ...filled({
        replaces: entries[i - 1]?.csv ?? before(version),
        skipRange: csv === head ? skipRange : undefined,
      }),
    })
    return { name, entries: entries.map(twinEntry) }
  })
}

/** Undefined for what is no release. */
function bundleOf(
  entry: EntryShape,
  installed: InstalledOperator,
  { releases }: KnownCatalog,
): BundleShape | undefined {
  if (entry.name === installed.csv) return { ...entry, kubevirt: installed.kubevirt, crd: installed.crd }
  const version = operatorVersionOf(entry.version)
  if (version === undefined) return undefined
  const kubevirt = kubeVirtOf(version, installed, releases)
  const limit = limitOf(version, installed, releases)
  return {
    ...entry,
    kubevirt,
    crd: crdOf(version, installed, releases),
    ...(limit !== undefined && { maxOpenShiftVersion: limit }),
  }
}

/**
 * As the table has it. Of a release that it does not know, and of all of OpenShift, the numbers go on as those of the operator do, so that each of its releases rolls KubeVirt.
 */
function kubeVirtOf(version: OperatorVersion, installed: InstalledOperator, releases: Rows): string {
  const exact = exactRow(version, releases)
  if (exact !== undefined) return exact.kubevirt
  const row = rowOf(version, releases)
  const isSameMinor = operatorMinor(version) === operatorMinor(installed.version)
  const isOpenShift = lineOf(version) === 'openshift'
  const known = isOpenShift ? undefined : operatorVersionOf(row?.version)
  const base = isSameMinor ? installed : known && row ? { version: known, kubevirt: row.kubevirt } : undefined
  const { major, minor, patch } = versionOf((base ?? row ?? installed).kubevirt) ?? unknown
  if (base !== undefined)
    return `v${major}.${minor}.${Math.max(0, patch + version.patch - base.version.patch)}`
  const further = row === undefined ? version.minor - installed.version.minor : 0
  return `v${major}.${minor + further}.${version.patch}`
}

const unknown = { major: 0, minor: 0, patch: 0 }

const exactRow = (version: OperatorVersion, releases: Rows) =>
  lineOf(version) === 'openshift' ? undefined : releaseOfOperator(version, releases)

/** The newest known release of the same minor, of the community's line. */
function rowOf(version: OperatorVersion, releases: Rows): Rows['hyperconverged'][number] | undefined {
  const platform = platformOfOperator(version, releases)
  return releases.hyperconverged.findLast((row) => row.platform !== undefined && row.platform === platform)
}

function crdOf(version: OperatorVersion, { crd }: InstalledOperator, releases: Rows): HyperConvergedShape {
  const { stores, serves } = rowOf(version, releases) ?? {}
  if (stores === undefined || serves === undefined) return crd
  const served = serves.map((one) => (one === 'v1' ? 'v1' : 'v1beta1'))
  return {
    stored: stores === 'v1' ? 'v1' : 'v1beta1',
    served,
    conversion: served.length > 1 ? 'Webhook' : 'None',
  }
}

/** As many minors of the platform ahead as the release that is installed allows. */
function limitOf(
  version: OperatorVersion,
  { limit, version: now }: InstalledOperator,
  releases: Rows,
): string | undefined {
  const [own, installed] = [platformOfOperator(version, releases), platformOfOperator(now, releases)]
  if (limit === undefined || own === undefined || installed === undefined) return undefined
  const [major = '', minor = ''] = own.split('.')
  const ahead = Number(limit.split('.')[1]) - Number(installed.split('.')[1])
  return Number.isFinite(ahead) && ahead >= 0 ? `${major}.${Number(minor) + ahead}` : undefined
}

/** A catalog may lack what is installed: it is in the twin all the same, and in the channel that is followed. */
function withInstalled(
  channels: readonly ChannelShape[],
  { csv, version, kubevirt, crd, limit }: InstalledOperator,
  { subscription }: KnownCatalog,
): readonly ChannelShape[] {
  const own: BundleShape = {
    name: csv,
    version: version.text,
    kubevirt,
    crd,
    ...(limit !== undefined && { maxOpenShiftVersion: limit }),
  }
  const limited = channels.map(({ name, entries }) => ({
    name,
    entries: entries.map((entry) => (entry.name === csv ? Object.assign({}, entry, own) : entry)),
  }))
  if (limited.some(({ entries }) => entries.some(({ name }) => name === csv))) return limited
  const channel = subscription.spec?.channel ?? ''
  const followed = limited.find(({ name }) => name === channel)
  if (followed === undefined) return [...limited, { name: channel, entries: [own] }]
  const others = limited.filter((one) => one !== followed)
  return [{ name: channel, entries: [...followed.entries, own] }, ...others]
}

/** A release of the operator in the catalog of a twin. */
export interface TwinRelease {
  operator: string
  kubevirt: string
  /** The minor of the platform that it belongs to. */
  platform?: string
}

/** All of them, the oldest first. */
export function releasesIn(channels: readonly ChannelShape[], releases: Rows): readonly TwinRelease[] {
  const all = channels.flatMap(({ entries }) =>
    entries.flatMap((entry) => {
      const version = operatorVersionOf(entry.version)
      return version === undefined ? [] : [{ version, kubevirt: entry.kubevirt }]
    }),
  )
  return all
    .toSorted((a, b) => compareOperatorVersions(a.version, b.version))
    .map(({ version, kubevirt }) =>
      filled({ operator: version.text, kubevirt, platform: platformOfOperator(version, releases) }),
    )
}

/** The KubeVirt at the end of an upgrade to that release of the operator or of KubeVirt, or to that minor of the platform; undefined where the catalog does not have it. */
export function kubeVirtAt(releases: readonly TwinRelease[], to: string): string | undefined {
  const bare = to.replace(/^v/u, '')
  const exact =
    releases.findLast(({ operator }) => operator === bare && !to.startsWith('v')) ??
    releases.findLast(({ kubevirt }) => kubevirt === `v${bare}`)
  const minor = releases.findLast(
    ({ platform }) => /^\d+\.\d+$/u.test(to) && platform !== undefined && compareMinors(platform, to) <= 0,
  )
  return (exact ?? minor)?.kubevirt
}

/** Operators that other Subscriptions of the namespace installed: OLM resolves all of a namespace together. */
export function otherOperators(subscriptions: readonly Subscription[], of: Subscription) {
  return subscriptions
    .filter(
      ({ metadata }) => metadata.uid !== of.metadata.uid && metadata.namespace === of.metadata.namespace,
    )
    .flatMap(({ spec = {}, status = {} }) => {
      const { installedCSV, currentCSV } = status
      const version = versionOfCsv(installedCSV)
      if (installedCSV === undefined || version === undefined || spec.name === undefined) return []
      const next = currentCSV === installedCSV ? undefined : versionOfCsv(currentCSV)
      const isNext = currentCSV !== undefined && stemOf(currentCSV) === stemOf(installedCSV)
      return [
        {
          package: spec.name,
          channel: spec.channel ?? '',
          approval: spec.installPlanApproval ?? 'Automatic',
          installed: version.text,
          entries: [
            { name: installedCSV, version: version.text },
            ...(next && isNext ? [{ name: currentCSV, version: next.text, replaces: installedCSV }] : []),
          ],
        },
      ]
    })
}
