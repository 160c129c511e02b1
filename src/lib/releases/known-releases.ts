import { allReleases, knownReleases, type Releases } from './releases.ts'
import { compareVersions, minorOf, type Version, versionOf } from './version.ts'

/** The last minor of a major version that is over; undefined while it goes on. */
export function lastMinorOf(major: number, releases: Releases = knownReleases): number | undefined {
  return releases.lastMinorOfMajor[String(major)]
}

/** The newest minor of a major version that is known. */
export function newestMinorOf(major: number, releases: Releases = knownReleases): number | undefined {
  const minors = allReleases(releases).filter((version) => version.major === major)
  return minors.at(-1)?.minor
}

/** The newest patch of a minor (`v1.8`) that is known. */
export function latestPatch(minor: string, releases: Releases = knownReleases): Version | undefined {
  return Object.keys(releases.minors[minor]?.releases ?? {})
    .map((text) => versionOf(text))
    .filter((version) => version !== undefined)
    .toSorted(compareVersions)
    .at(-1)
}

/** Minors of Kubernetes, both ends included. */
export interface KubernetesWindow {
  min: string
  max: string
  /** False: by the rule that each minor of KubeVirt moves the window by one. */
  known: boolean
}

/** What a release supports (facts 7). Undefined where neither table nor rule reaches: before v0.59, after v1. */
export function kubernetesWindow(
  version: Version,
  releases: Releases = knownReleases,
): KubernetesWindow | undefined {
  const [min, max] = releases.minors[minorOf(version)]?.kubernetes ?? []
  if (min !== undefined && max !== undefined) return { min, max, known: true }
  if (version.major !== 1) return undefined
  return { min: `1.${version.minor + 25}`, max: `1.${version.minor + 27}`, known: false }
}
