import { reaches } from './reaches.ts'
import { compareVersions, type Version, versionOf } from './version.ts'
import type { Releases } from './releases.ts'

/** Versions of the CRDs of a group that a release does not have yet. */
export interface LaterCrdVersions {
  group: string
  versions: readonly string[]
  /** The minor that brings them, and stores them: `v1.9`. */
  since: string
}

/**
 * What the CRDs of later releases store and those of this one do not have; with `upTo` only as far as that release. The earliest first, and pure.
 * An API server that has once stored such a version refuses the CRD of this release (facts 1.6).
 */
export function laterCrdVersions(
  release: Version,
  { addedCrdVersions = [] }: Pick<Releases, 'addedCrdVersions'>,
  upTo?: Version,
): readonly LaterCrdVersions[] {
  return addedCrdVersions
    .filter((added) => !reaches(release, added.in) && (upTo === undefined || reaches(upTo, added.in)))
    .toSorted((a, b) => byMinor(a.in, b.in))
    .map(({ group, versions, in: since }) => ({ group, versions, since }))
}

function byMinor(a: string, b: string): number {
  const [one, other] = [a, b].map((minor) => versionOf(`${minor}.0`))
  return one && other ? compareVersions(one, other) : 0
}
