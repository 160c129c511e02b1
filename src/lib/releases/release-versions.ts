import compare from 'semver/functions/compare.js'
import parse from 'semver/functions/parse.js'
import { usageError } from '../kube/errors.ts'
import satisfies from 'semver/functions/satisfies.js'

interface Release {
  readonly text: string
  readonly major: number
  readonly minor: number
  readonly patch: number
}

/** A release of KubeVirt. `text` is canonical: `v1.9.0`, `v1.9.0-rc.1`. */
export interface Version extends Release {
  readonly prerelease?: string
}

/** The version as the cluster or an image tag gives it; undefined where that is no release (`devel`, a digest). */
export function versionOf(text: string | undefined): Version | undefined {
  if (text === undefined || !/^v?\d/.test(text) || text.includes('+')) return undefined
  if (!read.has(text)) read.set(text, versionIn(text))
  return read.get(text)
}

const read = new Map<string, Version | undefined>()

function versionIn(text: string): Version | undefined {
  const parsed = parse(text)
  if (parsed === null) return undefined
  const { major, minor, patch } = parsed
  const prerelease = parsed.prerelease.join('.')
  const known = { text: `v${parsed.version}`, major, minor, patch }
  return prerelease === '' ? known : { ...known, prerelease }
}

/** What a person typed. Throws `usage` that says what was taken for a version and how one is written. */
export function parseVersion(text: string): Version {
  const typed = text.trim()
  const version = versionOf(typed)
  if (version !== undefined) return version
  if (/^v?\d+(\.\d+)?$/i.test(typed))
    throw usageError(
      'not-a-version',
      `${JSON.stringify(typed)} is not a full version: use, for example, v1.8.4`,
      {
        remedy: [
          'kvup releases     lists the releases that kvup knows',
          // KubeVirt and its operator are at 1.x.
          ...(/^4\.\d+$/.test(typed)
            ? [`kvup eus plan --to ${typed}     plans the EUS upgrade of OKD or OpenShift`]
            : []),
        ],
      },
    )
  throw usageError(
    'not-a-version',
    `${JSON.stringify(typed)} is not a release of KubeVirt: ${mistake(typed)}`,
    {
      remedy: 'name a full release, such as v1.8.4',
    },
  )
}

/** By semver: a pre-release comes before its release. Negative when a is older. */
export const compareVersions = (a: Version, b: Version): number =>
  a.major - b.major || a.minor - b.minor || a.patch - b.patch || compare(a.text, b.text)

/** Those of them that are releases, the oldest first. */
export const releasesAmong = (texts: readonly string[]): readonly Version[] =>
  texts
    .map((text) => versionOf(text))
    .filter((version) => version !== undefined)
    .toSorted(compareVersions)

/** `v1.9`. */
export const minorOf = ({ major, minor }: Pick<Version, 'major' | 'minor'>): string => `v${major}.${minor}`

/** Before v1.MINOR; no version that is not known is. */
export const isBefore = (version: Version | undefined, minor: number): boolean =>
  version !== undefined && (version.major < 1 || (version.major === 1 && version.minor < minor))

/** The minor of a Kubernetes version as a number: 34 of `1.34`. */
export const minorNumber = (text: string): number => Number(text.split('.')[1])

const moving = /^(latest|stable|main|master|devel|nightly|edge)$/i

const mistakes: readonly (readonly [RegExp, (typed: string) => string])[] = [
  [/^$/, () => 'it is empty'],
  [/sha256:|^[0-9a-f]{64}$/i, () => 'it is an image digest, which names no version'],
  [moving, (typed) => `what ${typed} points to can change every day`],
  [/\//, () => 'it is an image or a URL; the version is the tag alone'],
  [/^V\d/, (typed) => `write it with a small v: v${typed.slice(1)}`],
  [/\+/, () => 'an image tag cannot carry build metadata (+)'],
  [/^\d+(\.\d+){3,}|^v\d+(\.\d+){3,}/, () => 'it has more than three numbers'],
  [/(^v?|\.)0\d/, () => 'its numbers must not begin with 0'],
]

function mistake(typed: string): string {
  const known = mistakes.find(([pattern]) => pattern.test(typed))
  return known === undefined ? 'it should be three numbers, vMAJOR.MINOR.PATCH' : known[1](typed)
}

/** A release of the operator that HyperConverged comes from: `1.18.1` upstream, `4.18.9` on OpenShift. Another line than that of KubeVirt: never compare them. `text` is canonical, without a `v`. */
export type OperatorVersion = Release

/** Undefined where the text is no full release. A `v` before it is left out. */
export function operatorVersionOf(text: string | undefined): OperatorVersion | undefined {
  if (text === undefined || !/^v?\d/u.test(text)) return undefined
  const parsed = parse(text)
  if (parsed === null) return undefined
  const { version, major, minor, patch } = parsed
  return { text: version, major, minor, patch }
}

/** Negative when a is older. By semver; both have to be of one line. */
export const compareOperatorVersions = (a: OperatorVersion, b: OperatorVersion): number =>
  compare(a.text, b.text)

/** Whether it lies in a range of a catalog, `>=4.17.0 <4.18.3` (ocp 2.6). A range that is none holds nothing. */
export const isInSkipRange = ({ text }: Pick<OperatorVersion, 'text'>, range: string): boolean =>
  satisfies(text, range, { includePrerelease: true })

/** The version in the name of a CSV: `kubevirt-hyperconverged-operator.v1.18.1` (ocp 1.1). */
export function versionOfCsv(name: string | undefined): OperatorVersion | undefined {
  const text = /\.v(?<version>\d.*)$/u.exec(name ?? '')?.groups?.['version']
  return operatorVersionOf(text)
}

/** `1.18`. */
export const operatorMinor = ({ major, minor }: Pick<OperatorVersion, 'major' | 'minor'>): string =>
  `${major}.${minor}`

/** What stands before the version in the name of a CSV: the same for each release of an operator. */
export const stemOf = (csv: string): string => csv.replace(/\.v\d.*$/u, '')

/** A release of OKD or OpenShift. Its line is another than that of KubeVirt and of operators: never compared with those. `text` is as it was written: `4.18.21`, `4.19.0-okd-scos.16`. */
export interface PlatformVersion extends Release {
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
  for (let i = 0; i < Math.max(one.length, other.length); i++) {
    const [x = '', y = ''] = [one[i], other[i]]
    const areNumbers = /^\d+$/u.test(x) && /^\d+$/u.test(y)
    const order = areNumbers ? Number(x) - Number(y) : x === y ? 0 : x < y ? -1 : 1
    if (order !== 0) return order
  }
  return 0
}

/** `4.19` */
export const platformMinorOf = ({ major, minor }: Pick<PlatformVersion, 'major' | 'minor'>): string =>
  `${major}.${minor}`

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
    // A 1.x is a release of KubeVirt or its operator.
    remedy:
      release && release.major >= 4
        ? `name the minor: ${platformMinorOf(release)}; the update graph chooses the release`
        : 'name a minor, such as 4.20',
  })
}
