import { latestPatch } from './releases.ts'
import { compareVersions, minorOf, type Version, versionOf } from './release-versions.ts'

/** Releases that kvup knows and that are one supported hop away: the last patch of this minor, then of the next. */
export function reachable(from: string | undefined): readonly string[] {
  const now = versionOf(from)
  if (now === undefined) return []
  const candidates = [
    latestPatch(minorOf(now)),
    latestPatch(minorOf({ major: now.major, minor: now.minor + 1 })),
  ]
  return candidates
    .filter((version): version is Version => version !== undefined && compareVersions(version, now) > 0)
    .map(({ text }) => text)
}
