import { usageError } from '../system/errors.ts'
import { type Hop, hop } from './hop.ts'
import { knownReleases, type KnownBad, type Releases } from './releases.ts'
import { compareVersions, minorOf, type Version, versionOf } from './version.ts'

/** What `--to` and `--via` ask for, and what is installed. */
interface Asked {
  from: Version
  to: Version
  /** Releases between the two that a person named, in their order. */
  via?: readonly Version[] | undefined
}

const remedy = 'name one release of each minor in between: --via v1.5.3,v1.6.6'

/** Throws `usage` where releases of `--via` are not one minor apart, or the last of them does not lead to `--to`. Asked before the cluster is looked at. */
export function ensureOneMinorApart(via: readonly Version[], to: Version): void {
  const all = pathNamed({ to, via })
  for (const [index, release] of all.slice(1).entries()) {
    const before = all[index]
    if (before === undefined) continue
    const { kind, skipped } = hop(before, release)
    if (kind === 'minor' || kind === 'major') continue
    throw notOneMinor(before, release, { kind, ...(skipped && { skipped }) })
  }
  if (via.length === 0 || all.length < 2)
    throw usageError('via', `--via names no release between what is installed and ${to.text}`, { remedy })
}

function notOneMinor(before: Version, release: Version, { kind, skipped = [] }: Hop): Error {
  const why =
    kind === 'skips-minors'
      ? `leaves out ${skipped.join(', ')}`
      : kind === 'patch'
        ? 'stays within one minor'
        : kind === 'same'
          ? 'goes nowhere'
          : 'goes back'
  return usageError(
    'via',
    `--via has to name one release of each minor: from ${before.text} to ${release.text} ${why}`,
    { remedy },
  )
}

/** `--to` may be named once more at the end of `--via`. */
const pathNamed = ({ to, via = [] }: Pick<Asked, 'to' | 'via'>): readonly Version[] =>
  via.at(-1)?.text === to.text ? via : [...via, to]

/**
 * The releases of `--via` that are left from what is installed, the target last. Throws `usage` where they do not begin one minor after it, and where
 * there is nothing between the two and none of them is installed: a run that is resumed at its last step stands on one of them.
 */
export function releasesLeft({ from, to, via = [] }: Asked): readonly Version[] {
  const ahead = pathNamed({ to, via }).filter((release) => compareVersions(release, from) > 0)
  // Somebody took it to another patch of a minor on the way: that minor is reached.
  const isReached = ahead.length > 1 && ahead[0] !== via[0] && hop(from, ahead[0] ?? to).kind === 'patch'
  const left = isReached ? ahead.slice(1) : ahead
  const [first] = left
  if (first === undefined) return left
  const { kind, skipped } = hop(from, first)
  if (kind !== 'minor' && kind !== 'major') {
    if (left.length > 1 || kind === 'skips-minors')
      throw notOneMinor(from, first, { kind, ...(skipped && { skipped }) })
  }
  if (left.length === 1 && !isReached && !via.some(({ text }) => text === from.text))
    throw usageError(
      'not-on-path',
      `from ${from.text} to ${to.text} there is no minor between that --via could name`,
      {
        remedy: `leave --via out: kvup upgrade --to ${to.text}`,
      },
    )
  return left
}

/** Issues of the release data that speak of this step. A list of minors means that they are entered: a step between patches of one does not. */
export function issuesOf(
  { from, to }: Pick<Asked, 'from' | 'to'>,
  { knownBad }: Pick<Releases, 'knownBad'> = knownReleases,
): readonly KnownBad[] {
  const crosses = minorOf(from) !== minorOf(to)
  return knownBad.filter(
    (bad) =>
      (bad.toMinor === undefined || (crosses && bad.toMinor.includes(minorOf(to)))) &&
      is(from, bad.from) &&
      is(to, bad.to),
  )
}

/** A minor or a release. */
function is(version: Version, text: string | undefined): boolean {
  return text === undefined || text === version.text || text === minorOf(version)
}

/** The releases of a minor (`v1.7`) that are known, those without an issue first and of these the newest; pre-releases are left out. */
export function candidatesIn(minor: string, from: Version, releases: Releases): readonly Version[] {
  return Object.keys(releases.minors[minor]?.releases ?? {})
    .map((text) => versionOf(text))
    .filter((version) => version !== undefined)
    .filter(({ prerelease }) => prerelease === undefined)
    .toSorted((a, b) => harm(from, a, releases) - harm(from, b, releases) || compareVersions(b, a))
}

const weight = { info: 0, warning: 1, blocker: 2 } as const

function harm(from: Version, to: Version, releases: Releases): number {
  return Math.max(0, ...issuesOf({ from, to }, releases).map(({ level }) => weight[level]))
}
