import table from './platform-minors.json' with { type: 'json' }
import {
  compareMinors,
  compareVersions,
  minorOf,
  operatorMinor,
  type OperatorVersion,
  operatorVersionOf,
  versionOf,
  minorNumber,
  releasesAmong,
} from './release-versions.ts'
import { knownReleases, kubernetesWindow, platformOfOperator, type Releases } from './releases.ts'

/** What is known of a minor of OKD/OpenShift; parity says nothing of it (ocp 3.4, 9.17). */
interface PlatformMinor {
  /** The Kubernetes in it, `1.31`. */
  kubernetes: string
  /** Extended update support, on OpenShift; OKD has none (ocp 3.7). */
  eus: boolean
  /** How many minors a kubelet may be behind its control plane; what the condition KubeletMinorVersionUpgradeable says wins. */
  kubeletsBehind: number
  next: readonly string[]
  /** Not released when the table was made: so it was announced. */
  planned?: boolean
}

const minors: Readonly<Record<string, PlatformMinor>> = table.minors

/** The day of the table, YYYY-MM-DD: every answer is as of then. */
export const platformMinorsAsOf: string = table.asOf

/** Undefined where the table does not know it. */
export const platformMinor = (minor: string): PlatformMinor | undefined => minors[minor]

/**
 * The minors to go through, the target last, the shortest way; undefined where the table knows none. From 4.22 both 4.23 and 5.0 follow.
 */
export function minorsTo(from: string, to: string): readonly string[] | undefined {
  const next = platformMinor(from)?.next ?? []
  if (next.includes(to)) return [to]
  const paths = next
    .filter((minor) => compareMinors(minor, to) < 0)
    .flatMap((minor) => {
      const rest = minorsTo(minor, to)
      return rest === undefined ? [] : [[minor, ...rest]]
    })
  return paths.toSorted((a, b) => a.length - b.length)[0]
}

/** The nearest minor with extended support after that one; undefined where the table ends. */
export const nextEus = (from: string): string | undefined =>
  Object.keys(minors)
    .toSorted(compareMinors)
    .find((minor) => compareMinors(minor, from) > 0 && minors[minor]?.eus && minorsTo(from, minor))

/** How far kubelets of one minor are behind a control plane of another, in minors of Kubernetes. */
export function kubeletsBehind(kubelets: string, controlPlane: string): number | undefined {
  const [old, new_] = [platformMinor(kubelets), platformMinor(controlPlane)]
  if (old === undefined || new_ === undefined) return undefined
  return minorNumber(new_.kubernetes) - minorNumber(old.kubernetes)
}

/** The first minor of a way whose control plane does not tolerate kubelets of where it began; undefined where all do. */
export const firstIntolerant = (began: string, path: readonly string[]): string | undefined =>
  path.find((minor) => {
    const behind = kubeletsBehind(began, minor)
    return behind === undefined || behind > (platformMinor(minor)?.kubeletsBehind ?? 0)
  })

/** The minor of the platform whose kubelets are of that Kubernetes, `1.31.7`; of several the oldest. */
export const platformOfKubernetes = (kubernetes: string | undefined): string | undefined =>
  platformsOfKubernetes(kubernetes)[0]

/** All minors with that Kubernetes, the oldest first: 4.23 and 5.0 have the same. */
export function platformsOfKubernetes(kubernetes: string | undefined): readonly string[] {
  const wanted = /^v?(\d+\.\d+)\b/u.exec(kubernetes ?? '')?.[1]
  return Object.keys(minors)
    .toSorted(compareMinors)
    .filter((minor) => minors[minor]?.kubernetes === wanted)
}

/** `beyond`: the platform has to go first (night E8); `why` in words that follow the release's name. `unknown`: no row tells. */
type AgainstPlatform = { is: 'fits' } | { is: 'beyond'; why: string } | { is: 'unknown' }

type Rows = Pick<Releases, 'hyperconverged'>

/**
 * Whether a release of the operator is of a later minor than the platform at hand. Both lines rise together (ocp 1.2): a minor that no table knows is beyond where an older one belongs to this
 * platform already, and fits where a newer one belongs to it or to one before. Pure.
 */
export function againstPlatform(
  operator: OperatorVersion,
  platform: string,
  releases: Rows,
): AgainstPlatform {
  const own = platformOfOperator(operator, releases)
  if (own !== undefined)
    return compareMinors(own, platform) > 0
      ? { is: 'beyond', why: `belongs to platform ${own}` }
      : { is: 'fits' }
  const known = knownMinors(releases)
  const minor = operatorMinor(operator)
  const before = known.find(
    (row) => compareMinors(row.operator, minor) < 0 && compareMinors(row.platform, platform) >= 0,
  )
  if (before !== undefined)
    return {
      is: 'beyond',
      why: `is newer than ${before.operator}, which belongs to platform ${before.platform}`,
    }
  const isPassed = known.some(
    (row) => compareMinors(row.operator, minor) > 0 && compareMinors(row.platform, platform) <= 0,
  )
  return { is: isPassed ? 'fits' : 'unknown' }
}

/** The oldest first. */
export function knownMinors({ hyperconverged }: Rows): readonly { operator: string; platform: string }[] {
  const rows = hyperconverged.flatMap(({ version: text, platform }) => {
    const version = operatorVersionOf(text)
    return version && platform ? [{ operator: operatorMinor(version), platform }] : []
  })
  return rows.toSorted((a, b) => compareMinors(a.operator, b.operator))
}

/**
 * What does not go together: a KubeVirt of a newer minor than the release data know, and a Kubernetes outside the window of that
 * KubeVirt (facts 7). A sentence each. It only warns: what an API server serves is asked of it, never guessed from a version.
 */
export function skewOf(
  { kubevirt, kubernetes }: { kubevirt: string | undefined; kubernetes: string | undefined },
  releases: Releases = knownReleases,
): readonly string[] {
  const installed = versionOf(kubevirt)
  if (installed === undefined) return []
  const newest = releasesAmong(Object.keys(releases.minors).map((minor) => `${minor}.0`)).at(-1)
  const window = kubernetesWindow(installed, releases)
  const runs = kubernetesMinor(kubernetes)
  return [
    ...(newest !== undefined && compareVersions({ ...installed, text: `${minorOf(installed)}.0` }, newest) > 0
      ? [
          `KubeVirt ${installed.text} is newer than ${minorOf(newest)}, the newest that this kvup knows (${releases.asOf}): kvup applies the rules of that release. Install a newer kvup`,
        ]
      : []),
    ...(window && runs !== undefined && (runs < minorNumber(window.min) || runs > minorNumber(window.max))
      ? [
          `Kubernetes ${kubernetes} is outside ${window.min} to ${window.max}, which KubeVirt ${minorOf(installed)} supports`,
        ]
      : []),
  ]
}

/** Of `v1.34.1+k3s1` it is 34. */
function kubernetesMinor(version: string | undefined): number | undefined {
  const found = /^v?1\.(?<minor>\d+)/u.exec(version ?? '')?.groups?.['minor']
  return found === undefined ? undefined : Number(found)
}
