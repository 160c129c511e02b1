import {
  type KnownBad,
  knownReleases,
  kubernetesWindow,
  lastMinorOf,
  latestPatch,
  newestMinorOf,
  type Releases,
} from './releases.ts'
import {
  compareVersions,
  minorNumber,
  minorOf,
  releasesAmong,
  type Version,
  versionOf,
} from './release-versions.ts'
import { usageError } from '../kube/errors.ts'

/** One step of the way; Kubernetes is a minor, `1.34`. */
type PathStep = { is: 'kubevirt'; to: string; why: string } | { is: 'kubernetes'; to: string; why: string }

/** The way from here to there, or why there is none. */
export type Path = { is: 'path'; steps: readonly PathStep[] } | { is: 'none'; why: string }

/**
 * Supported hops only: the last patch of a minor, then the next minor, with the Kubernetes steps in between that keep both ends
 * of every hop inside their windows (facts 7). `kubernetes` absent: its steps are left out. Pure.
 */
export function pathTo(
  from: Version,
  to: Version,
  kubernetes?: string,
  releases: Releases = knownReleases,
): Path {
  if (hop(from, to, releases).kind === 'downgrade')
    return none(`${to.text} is older than ${from.text}, and KubeVirt does not support downgrades`)
  if (from.major === 0 && from.minor < 17) return none(`updates begin with v0.17.0, this is ${from.text}`)
  const stops = stopsBetween(from, to, releases)
  if (typeof stops === 'string') return none(stops)
  return withKubernetes(from, stops, kubernetes, releases)
}

const none = (why: string): Path => ({ is: 'none', why })

/** The releases to go through, the target last; a text says why there are none. */
function stopsBetween(from: Version, to: Version, releases: Releases): readonly Version[] | string {
  const stops: Version[] = []
  const { skipped = [], kind } = hop(from, to, releases)
  if (kind === 'same') return stops
  const latest = latestPatch(minorOf(from), releases)
  if (kind !== 'patch' && latest !== undefined && latest.patch > from.patch) stops.push(latest)
  for (const minor of skipped) {
    const stop = latestPatch(minor, releases)
    if (stop === undefined) return `no release of ${minor} is known as of ${releases.asOf}`
    stops.push(stop)
  }
  return [...stops, to]
}

function withKubernetes(
  from: Version,
  stops: readonly Version[],
  kubernetes: string | undefined,
  releases: Releases,
): Path {
  const steps: PathStep[] = []
  let runs = kubernetes
  let at = from
  for (const stop of stops) {
    const window = kubernetesWindow(stop, releases)
    if (runs !== undefined && window !== undefined) {
      if (minorNumber(runs) > minorNumber(window.max))
        return none(`${stop.text} supports Kubernetes up to ${window.max}, this cluster runs ${runs}`)
      steps.push(...kubernetesSteps(runs, window.min, { at, stop }))
      runs = minorNumber(runs) < minorNumber(window.min) ? window.min : runs
    }
    const why = stop === stops.at(-1) ? 'the target' : `the last patch of ${minorOf(stop)}`
    steps.push({ is: 'kubevirt', to: stop.text, why })
    at = stop
  }
  return { is: 'path', steps }
}

function kubernetesSteps(
  runs: string,
  needed: string,
  { at, stop }: { at: Version; stop: Version },
): PathStep[] {
  const missing = minorNumber(needed) - minorNumber(runs)
  const why = `${stop.text} needs ${needed} or newer, and ${at.text} runs on it`
  return Array.from({ length: Math.max(0, missing) }, (_, i) => ({
    is: 'kubernetes',
    to: `1.${minorNumber(runs) + 1 + i}`,
    why,
  }))
}

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

interface Asked {
  from: Version
  to: Version
  /** Releases between the two that a person named, in their order. */
  via?: readonly Version[] | undefined
}

function oneOfEach({ from, to }: { from?: Version; to: Version }): string {
  const skipped = from === undefined ? [] : (hop(from, to).skipped ?? [])
  const fits = skipped.flatMap((minor) => latestPatch(minor, knownReleases)?.text ?? [])
  const example = fits.length > 0 && fits.length === skipped.length ? fits.join(',') : 'RELEASE,RELEASE'
  return `name one release of each minor in between: --via ${example}`
}

/** Throws `usage` where releases of `--via` are not one minor apart, or the last of them does not lead to `--to`. Asked before the cluster is looked at. */
export function ensureOneMinorApart(via: readonly Version[], to: Version): void {
  const all = pathNamed({ to, via })
  for (const [index, release] of all.slice(1).entries()) {
    const before = all[index]
    if (before === undefined) continue
    const { kind, skipped } = hop(before, release)
    if (kind === 'minor' || kind === 'major') continue
    throw notOneMinor(before, release, { kind, ...(skipped && { skipped }) }, oneOfEach({ to }))
  }
  if (via.length === 0 || all.length < 2)
    throw usageError('via', `--via names no release between what is installed and ${to.text}`, {
      remedy: oneOfEach({ to }),
    })
}

function notOneMinor(before: Version, release: Version, { kind, skipped = [] }: Hop, remedy: string): Error {
  const whys: Partial<Record<Hop['kind'], string>> = {
    'skips-minors': `skips ${skipped.join(', ')}`,
    patch: 'is within one minor',
    same: 'goes nowhere',
  }
  const why = whys[kind] ?? 'goes back'
  return usageError(
    'via',
    `--via must name one release of each minor: from ${before.text} to ${release.text} ${why}`,
    { remedy },
  )
}

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
      throw notOneMinor(from, first, { kind, ...(skipped && { skipped }) }, oneOfEach({ from, to }))
  }
  if (left.length === 1 && !isReached && !via.some(({ text }) => text === from.text))
    throw usageError(
      'not-on-path',
      `from ${from.text} to ${to.text} there is no minor in between for --via`,
      {
        remedy: `omit --via: kvup upgrade --to ${to.text}`,
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
      isVersion(from, bad.from) &&
      isVersion(to, bad.to) &&
      (bad.enters === undefined || enters({ from, to }, bad.enters)) &&
      (bad.launchersBefore === undefined || reaches(to, bad.launchersBefore)) &&
      (bad.affects === undefined || bad.affects.some((range) => isWithin(to, range))),
  )
}

/** Not of a release whose text is none. */
function isWithin(version: Version, { from, until }: { from: string; until: string }): boolean {
  const [first, fixed] = [versionOf(from), versionOf(until)]
  if (first === undefined || fixed === undefined) return false
  return compareVersions(version, first) >= 0 && compareVersions(version, fixed) < 0
}

const isVersion = (version: Version, text: string | undefined): boolean =>
  text === undefined || text === version.text || text === minorOf(version)

/** The releases of a minor (`v1.7`) that are known, those without an issue first and of these the newest; pre-releases are left out. */
export const candidatesIn = (minor: string, from: Version, releases: Releases): readonly Version[] =>
  releasesAmong(Object.keys(releases.minors[minor]?.releases ?? {}))
    .filter(({ prerelease }) => prerelease === undefined)
    .toSorted((a, b) => harm(from, a, releases) - harm(from, b, releases) || compareVersions(b, a))

const weight = { info: 0, warning: 1, blocker: 2 } as const

/** Issues of a Kubernetes that the release does not support, and of launchers of before, do not choose among its patches. */
function harm(from: Version, to: Version, releases: Releases): number {
  const max = kubernetesWindow(to, releases)?.max
  const issues = issuesOf({ from, to }, releases).filter(
    ({ kubernetes, launchersBefore }) =>
      launchersBefore === undefined &&
      (kubernetes === undefined || max === undefined || minorNumber(kubernetes) <= minorNumber(max)),
  )
  return Math.max(0, ...issues.map(({ level }) => weight[level]))
}

/** Whether the hop brings a change that comes in a minor or a release, and was taken into releases of earlier minors. */
export const brings = (
  { from, to }: { from: Version; to: Version },
  change: { in: string; backports?: readonly string[] },
): boolean => hasChange(to, change) && !hasChange(from, change)

function hasChange(version: Version, change: { in: string; backports?: readonly string[] }): boolean {
  const release = versionOf(change.in)
  const isLater = release === undefined ? reaches(version, change.in) : compareVersions(version, release) >= 0
  if (isLater) return true
  return (change.backports ?? []).some((text) => {
    const backport = versionOf(text)
    return (
      backport !== undefined &&
      minorOf(backport) === minorOf(version) &&
      compareVersions(version, backport) >= 0
    )
  })
}

/** Whether the hop enters this minor (`v1.9`), or passes over it. */
export const enters = ({ from, to }: { from: Version; to: Version }, minor: string): boolean =>
  reaches(to, minor) && !reaches(from, minor)

/** Whether it is of this minor (`v1.9`), or of a later one. */
export function reaches(version: Version, minor: string): boolean {
  const is = versionOf(`${minor}.0`)
  return is !== undefined && order(is) <= order(version)
}

const order = ({ major, minor }: Version) => major * 10_000 + minor

/** Releases that kvup knows and that are one supported hop away: the last patch of this minor, then of the next. */
export function reachable(from: string | undefined, releases: Releases = knownReleases): readonly string[] {
  const now = versionOf(from)
  if (now === undefined) return []
  const candidates = [
    latestPatch(minorOf(now), releases),
    latestPatch(minorOf({ major: now.major, minor: now.minor + 1 }), releases),
  ]
  return candidates
    .filter((version): version is Version => version !== undefined && compareVersions(version, now) > 0)
    .map(({ text }) => text)
}
