import { type Version, compareVersions, minorOf } from './version.ts'
import { lastMinorOf, newestMinorOf } from './known-releases.ts'
import { knownReleases, type Releases } from './releases.ts'

/** How far it is from one release to another. Upstream supports minor by minor only (facts 7). */
export interface Hop {
  kind: 'same' | 'patch' | 'minor' | 'skips-minors' | 'downgrade' | 'major'
  /** The minors in between, oldest first: `v1.8`; by rule also such as nobody knows yet. Only with `skips-minors`. */
  skipped?: string[]
}

/** `major` is the step to the next major version from the last minor, or from one that we cannot tell is the last. */
export function hop(from: Version, to: Version, releases: Releases = knownReleases): Hop {
  const order = compareVersions(from, to)
  if (order === 0) return { kind: 'same' }
  if (order > 0) return { kind: 'downgrade' }
  if (from.major === to.major && from.minor === to.minor) return { kind: 'patch' }
  const skipped = minorsBetween(from, to, releases)
  if (skipped.length > 0) return { kind: 'skips-minors', skipped }
  return { kind: from.major === to.major ? 'minor' : 'major' }
}

function minorsBetween(from: Version, to: Version, releases: Releases): string[] {
  const between: string[] = []
  for (let major = from.major; major <= to.major; major++) {
    const first = major === from.major ? from.minor + 1 : 0
    const last = major === to.major ? to.minor - 1 : lastOf(major, from, releases)
    for (let minor = first; minor <= last; minor++) between.push(minorOf({ major, minor }))
  }
  return between
}

/** Of a major version that is left or passed over: its last minor, the last that is known, or at least its first. */
function lastOf(major: number, from: Version, releases: Releases): number {
  const known = lastMinorOf(major, releases) ?? newestMinorOf(major, releases)
  return known ?? (major === from.major ? from.minor : 0)
}
