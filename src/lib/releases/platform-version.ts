import { usageError } from '../system/errors.ts'

/** A release of OKD or OpenShift. Its line is another than that of KubeVirt and of operators: never compared with those. */
export interface PlatformVersion {
  /** As it was written: `4.18.21`, `4.19.0-okd-scos.16`. */
  readonly text: string
  readonly major: number
  readonly minor: number
  readonly patch: number
  /** Of an OKD release: `okd-scos.16`. Semver takes it for a pre-release, and it is none (ocp 3.7). */
  readonly build?: string
  /** Of what comes before a release: `rc.2`, `ec.1`, `okd-scos.ec.3`. */
  readonly prerelease?: string
}

const written = /^v?(?<major>\d+)\.(?<minor>\d+)\.(?<patch>\d+)(?:-(?<rest>[0-9A-Za-z.-]+))?$/u

/** Undefined for what is no release. */
export function platformVersionOf(text: string | undefined): PlatformVersion | undefined {
  const groups = written.exec(text ?? '')?.groups
  if (groups === undefined) return undefined
  const { major, minor, patch, rest } = groups
  const numbers = { major: Number(major), minor: Number(minor), patch: Number(patch) }
  const known = { text: (text ?? '').replace(/^v/u, ''), ...numbers }
  if (rest === undefined) return known
  return isReleaseOfOkd(rest) ? { ...known, build: rest } : { ...known, prerelease: rest }
}

/** `okd-scos.16`, `0.okd-2024-03-10-010116`; not `okd-scos.ec.3`. */
const isReleaseOfOkd = (rest: string): boolean =>
  /(?:^|\.)okd\b/u.test(rest) && !/\.(?:ec|rc)\.\d+$/u.test(rest)

/** A release before what is built of it later, a pre-release before both. Negative when a is older. */
export function comparePlatforms(a: PlatformVersion, b: PlatformVersion): number {
  const numbers = a.major - b.major || a.minor - b.minor || a.patch - b.patch
  return numbers || rank(a) - rank(b) || byParts(restOf(a), restOf(b))
}

const rank = ({ build, prerelease }: PlatformVersion): number =>
  prerelease === undefined ? (build === undefined ? 1 : 2) : 0

const restOf = ({ build, prerelease }: PlatformVersion): string => build ?? prerelease ?? ''

function byParts(a: string, b: string): number {
  const [one, other] = [a.split(/[.-]/u), b.split(/[.-]/u)]
  const at = Array.from({ length: Math.max(one.length, other.length) }, (_, i) =>
    byPart(one[i] ?? '', other[i] ?? ''),
  )
  return at.find((order) => order !== 0) ?? 0
}

function byPart(a: string, b: string): number {
  if (/^\d+$/u.test(a) && /^\d+$/u.test(b)) return Number(a) - Number(b)
  return a === b ? 0 : a < b ? -1 : 1
}

/** `4.19` */
export function platformMinorOf({ major, minor }: Pick<PlatformVersion, 'major' | 'minor'>): string {
  return `${major}.${minor}`
}

/** `4.18` of `4.18.21`; empty for what is no release. */
export function minorOfPlatform(text: string | undefined): string {
  const version = platformVersionOf(text)
  return version === undefined ? '' : platformMinorOf(version)
}

/** By numbers: 4.9 is older than 4.10, 4.23 than 5.0. */
export function compareMinors(a: string, b: string): number {
  const [one = [], other = []] = [a, b].map((minor) => minor.split('.').map(Number))
  return (one[0] ?? 0) - (other[0] ?? 0) || (one[1] ?? 0) - (other[1] ?? 0)
}

/** What a person typed as a minor, `4.20`. Throws `usage` that says how one is written. */
export function parsePlatformMinor(text: string): string {
  const typed = text.trim().replace(/^v/u, '')
  if (/^[1-9]\d*\.(?:0|[1-9]\d*)$/u.test(typed)) return typed
  const release = platformVersionOf(typed)
  throw usageError('not-a-minor', `${JSON.stringify(text)} is no minor of OKD or OpenShift`, {
    remedy: release
      ? `name the minor: ${platformMinorOf(release)}; the release is chosen by the update graph`
      : 'name a minor, such as 4.20',
  })
}
