import { lineOf, operatorsBringing, releaseOfOperator, type Releases } from '../../releases/releases.ts'
import {
  compareOperatorVersions,
  operatorMinor,
  type OperatorVersion,
  operatorVersionOf,
  versionOfCsv,
} from '../../releases/release-versions.ts'
import { againstPlatform } from '../../releases/platform-releases.ts'
import { blocked, type KvupError } from '../../kube/errors.ts'
import { type CatalogPackage, makesCatalog, reachedIn } from '../../releases/catalog-path.ts'
import type { OperatorSnapshot } from './olm-operator.ts'

/** The release of the operator to end up with. */
export interface OperatorTarget {
  operator: OperatorVersion
  /** The KubeVirt that it brings, `v1.8.4`; undefined where no table says so. */
  kubevirt?: string
  /** How what was typed was read, where that is another version. */
  said?: string
}

interface Known {
  installed: OperatorVersion
  /** All that the catalog shows; undefined where it shows nothing. */
  offered: readonly OperatorVersion[] | undefined
  /** All that a catalog file has; how far its edges lead is not asked here. */
  filed?: readonly OperatorVersion[] | undefined
  /** In an InstallPlan that waits. */
  waiting?: OperatorVersion | undefined
  /** The catalog does not answer. */
  silent?: OperatorSnapshot['silent']
  /** The platform's minor. */
  platform: string | undefined
  releases: Pick<Releases, 'hyperconverged'>
}

/**
 * `--to` is a release of the operator (1.18.1, 4.18.9) or of KubeVirt (v1.8.4): a `v` says KubeVirt, unless it is of a line that KubeVirt does
 * not have. Pure. Throws `blocked` where it may be either, where no operator is known to bring it, and where there is no way to it.
 */
export function resolveTarget(typed: string, known: Known): OperatorTarget {
  const target = read(typed, known)
  refuse(target, known)
  return target
}

function read(typed: string, known: Known): OperatorTarget {
  const version = operatorVersionOf(typed)
  if (version === undefined) throw blocked('target-unknown', `${typed} is no release of an operator`)
  const isOperator = isOperatorRelease(version, known)
  const brings = lineOf(version) === 'upstream' ? operatorsBringing(`v${version.text}`, known.releases) : []
  if (!typed.startsWith('v') && isOperator && brings.length > 0) throw ambiguous(version, brings)
  if (lineOf(version) === 'openshift' || (isOperator && !typed.startsWith('v')))
    return asOperator(version, known)
  return asKubeVirt(version, brings, known)
}

const shownBy = ({ offered, filed }: Known): readonly OperatorVersion[] | undefined => offered ?? filed

const isWaiting = ({ text }: OperatorVersion, { waiting }: Known): boolean => waiting?.text === text

/** Behind what is not offered: a catalog that does not answer offers nothing. */
const silence = ({ silent }: Known): string => (silent === undefined ? '' : `; ${silent.why}`)
const showsSilence = ({ silent }: Known): readonly string[] =>
  silent === undefined ? [] : [`${silent.show}     shows the catalog, which does not answer`]

function isOperatorRelease(version: OperatorVersion, known: Known): boolean {
  const isSame = ({ text }: OperatorVersion) => text === version.text
  const isShown =
    isSame(known.installed) || isWaiting(version, known) || (shownBy(known)?.some(isSame) ?? false)
  return isShown || releaseOfOperator(version, known.releases) !== undefined
}

function ambiguous({ text }: OperatorVersion, brings: readonly string[]): KvupError {
  return blocked('target-ambiguous', `${text} is a release of both HyperConverged and KubeVirt: name one`, {
    remedy: [
      `kvup upgrade --to ${brings.at(-1)} --method olm     for KubeVirt v${text}`,
      `kvup upgrade --to v${text} --method olm     the same`,
    ],
  })
}

function asOperator(operator: OperatorVersion, { releases }: Known): OperatorTarget {
  const kubevirt = releaseOfOperator(operator, releases)?.kubevirt
  return {
    operator,
    ...(kubevirt !== undefined && { kubevirt, said: `${operator.text} brings KubeVirt ${kubevirt}` }),
  }
}

/** Several bring the same KubeVirt: the one that is installed, else the newest that is offered. */
function asKubeVirt({ text }: OperatorVersion, brings: readonly string[], known: Known): OperatorTarget {
  const kubevirt = `v${text}`
  if (lineOf(known.installed) === 'openshift') throw onOpenShift(kubevirt, known)
  const candidates = brings.map(operatorVersionOf).filter((one) => one !== undefined)
  const shown = candidates.filter(
    ({ text: one }) => shownBy(known)?.some((other) => other.text === one) ?? true,
  )
  const installed = candidates.find((one) => one.text === known.installed.text)
  const operator = installed ?? shown.at(-1) ?? candidates.at(-1)
  if (operator === undefined) throw nobodyBrings(kubevirt, known)
  return { operator, kubevirt, said: `KubeVirt ${kubevirt} comes with HyperConverged ${operator.text}` }
}

/** Red Hat's patch releases are in no table: only the minor can be told (ocp 1.2). */
function onOpenShift(kubevirt: string, known: Known): KvupError {
  const minor = kubevirt.split('.').slice(0, 2).join('.')
  const row = known.releases.hyperconverged.find((one) => one.kubevirt.startsWith(`${minor}.`))
  const those = (shownBy(known) ?? [])
    .filter((one) => operatorMinor(one) === row?.platform)
    .toSorted(compareOperatorVersions)
  const shown = those.length > 0 ? `; the catalog shows ${those.map(({ text }) => text).join(', ')}` : ''
  const newest = those.at(-1)?.text
  const of =
    row?.platform === undefined
      ? ''
      : ` KubeVirt ${minor} comes with OpenShift Virtualization ${row.platform}${shown}.`
  return blocked(
    'target-unknown',
    `kvup does not know which OpenShift Virtualization release ships KubeVirt ${kubevirt}.${of}`,
    {
      remedy:
        newest === undefined
          ? 'kvup releases     lists the releases that kvup knows'
          : `kvup upgrade --to ${newest} --method olm     names the operator's own version`,
    },
  )
}

function nobodyBrings(kubevirt: string, observed: Known): KvupError {
  const shown = shownBy(observed)
  const isThere = (version: string) => shown?.some(({ text }) => text === version) ?? true
  const there = observed.releases.hyperconverged.filter(({ version }) => isThere(version))
  const known = there.slice(-4).map((row) => `${row.version} (${row.kubevirt})`)
  const newest = shown === undefined ? [] : there.slice(-1)
  const which = shown === undefined ? 'the newest known are' : 'the catalog has'
  return blocked(
    'target-unknown',
    `no HyperConverged ${kubevirt.slice(1)} is offered, and no HyperConverged is known to bring KubeVirt ${kubevirt}${known.length === 0 ? '' : `; ${which} ${known.join(', ')}`}${silence(observed)}`,
    {
      remedy: [
        ...showsSilence(observed),
        ...newest.map(
          ({ version, kubevirt: brings }) =>
            `kvup upgrade --to ${version} --method olm     takes HyperConverged there, which brings KubeVirt ${brings}`,
        ),
        'kvup releases -o yaml',
      ],
    },
  )
}

function refuse({ operator }: OperatorTarget, known: Known): void {
  const { installed, offered, platform, releases } = known
  if (lineOf(operator) !== lineOf(installed))
    throw blocked(
      'target-unknown',
      lineOf(installed) === 'openshift'
        ? `${operator.text} is a community version; this cluster runs OpenShift Virtualization ${installed.text}`
        : `${operator.text} is a version of OpenShift Virtualization; this cluster runs HyperConverged ${installed.text}`,
      {
        remedy: 'kvup status',
      },
    )
  if (compareOperatorVersions(operator, installed) < 0)
    throw blocked(
      'target-older',
      `HyperConverged ${installed.text} is installed, and OLM does not downgrade to ${operator.text}`,
      {
        remedy: 'kvup status',
      },
    )
  refuseBeyondPlatform(operator, platform, releases)
  if (operator.text === installed.text || isWaiting(operator, known)) return
  // Through which channels it leads there is not known either.
  const isSilent = known.silent !== undefined && known.filed === undefined
  if (offered === undefined && !isSilent) return
  if (offered?.some(({ text }) => text === operator.text)) return
  throw notOffered(operator, offered ?? [], known)
}

/** The platform goes first (night E8). */
function refuseBeyondPlatform(
  operator: OperatorVersion,
  platform: string | undefined,
  releases: Known['releases'],
): void {
  if (platform === undefined) return
  const against = againstPlatform(operator, platform, releases)
  if (against.is !== 'beyond') return
  throw blocked(
    'operator-before-platform',
    `HyperConverged ${operator.text} ${against.why}, and this one is at ${platform}: update the platform first`,
    {
      remedy: ['oc adm upgrade', 'kvup eus plan     for an upgrade to the next extended update release'],
    },
  )
}

/** OpenShift's catalogs show a minor once the platform is there, a quarter of an hour later (ocp 2.6). */
function notOffered({ text }: OperatorVersion, offered: readonly OperatorVersion[], known: Known): KvupError {
  const newest = offered.toSorted(compareOperatorVersions).slice(-5)
  const how =
    newest.length === 0
      ? 'it lists none'
      : `the newest listed are ${newest.map((one) => one.text).join(', ')}`
  return blocked(
    'target-not-offered',
    `the catalog does not list HyperConverged ${text}: ${how}${silence(known)}`,
    {
      remedy: [
        ...showsSilence(known),
        ...newest
          .slice(-1)
          .map((one) => `kvup upgrade --to ${one.text} --method olm     goes as far as possible`),
        ...(known.silent === undefined
          ? [
              'kubectl get packagemanifests     a catalog shows the new minor some time after the platform has reached it',
            ]
          : []),
      ],
    },
  )
}

interface Question {
  operatorSnapshot: OperatorSnapshot
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
  const { operatorSnapshot, catalog } = question
  const found = catalog === undefined ? shownByCluster(question) : ledTo(operatorSnapshot, catalog)
  const ahead = found.filter((one) => isAhead(one, question))
  return [...new Set(ahead.toSorted(compareOperatorVersions).map(({ text }) => text))]
}

function ledTo(
  { package: name, csv, installed, subscription }: OperatorSnapshot,
  catalog: readonly CatalogPackage[],
): OperatorVersion[] {
  const journey = { from: { csv, version: installed.text }, channel: subscription.spec?.channel }
  return reachedIn(packageIn(catalog, name), journey).flatMap(
    ({ version, csv: reached }) => operatorVersionOf(version) ?? versionOfCsv(reached) ?? [],
  )
}

function shownByCluster(question: Question): OperatorVersion[] {
  const { offered = [], subscription } = question.operatorSnapshot
  const newest = offered.flatMap(({ entries }) => {
    const versions = entries.map(({ version }) => version).filter((one) => isAhead(one, question))
    return versions.toSorted(compareOperatorVersions).slice(-1)
  })
  const resolved = versionOfCsv(subscription.status?.currentCSV)
  return resolved === undefined ? newest : [...newest, resolved]
}

function isAhead(
  version: OperatorVersion,
  { operatorSnapshot: { installed, platform }, releases }: Question,
): boolean {
  const isBeyond =
    platform.minor !== undefined && againstPlatform(version, platform.minor, releases).is === 'beyond'
  return !isBeyond && compareOperatorVersions(version, installed) > 0
}

/** The package of that name in a file-based catalog. Throws `blocked` with those that it has; `which` ends the line that makes such a file. */
export function packageIn(
  catalog: readonly CatalogPackage[],
  name: string,
  which = 'the one of its Subscription',
): CatalogPackage {
  const found = catalog.find((one) => one.name === name)
  if (found !== undefined) return found
  throw blocked(
    'package-not-in-catalog',
    `the catalog file has no package ${name}, only ${catalog.map((one) => one.name).join(', ')}`,
    {
      remedy: [`the catalog has to be ${which}`, makesCatalog()],
    },
  )
}
