import compare from 'semver/functions/compare.js'
import parse from 'semver/functions/parse.js'
import { usageError } from '../system/errors.ts'

/** A release of KubeVirt. `text` is canonical: `v1.9.0`, `v1.9.0-rc.1`. */
export interface Version {
  readonly text: string
  readonly major: number
  readonly minor: number
  readonly patch: number
  readonly prerelease?: string
}

/** The version as the cluster or an image tag gives it; undefined where that is no release (`devel`, a digest). */
export function versionOf(text: string | undefined): Version | undefined {
  if (text === undefined || !/^v?\d/.test(text) || text.includes('+')) return undefined
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
  throw usageError(
    'not-a-version',
    `${JSON.stringify(typed)} is not a release of KubeVirt: ${mistake(typed)}`,
    {
      remedy: 'name a full release, such as v1.8.4',
    },
  )
}

/** By semver: a pre-release comes before its release. Negative when a is older. */
export function compareVersions(a: Version, b: Version): number {
  return compare(a.text, b.text)
}

/** `v1.9`. */
export function minorOf({ major, minor }: Pick<Version, 'major' | 'minor'>): string {
  return `v${major}.${minor}`
}

const moving = /^(latest|stable|main|master|devel|nightly|edge)$/i

const mistakes: readonly (readonly [RegExp, (typed: string) => string])[] = [
  [/^$/, () => 'nothing was named'],
  [/sha256:|^[0-9a-f]{64}$/i, () => 'it is an image digest, which does not say what it holds'],
  [moving, (typed) => `what ${typed} points to changes from day to day`],
  [/\//, () => 'it is an image or a URL; the version is the tag alone'],
  [/^v?\d+$/i, (typed) => `it is a major version, name a release such as v${digits(typed)}.0.0`],
  [/^v?\d+\.\d+$/i, (typed) => `it is a minor, name a release such as v${digits(typed)}.0`],
  [/^V\d/, (typed) => `write it with a small v: v${typed.slice(1)}`],
  [/\+/, () => 'an image tag cannot carry build metadata (+)'],
  [/^\d+(\.\d+){3,}|^v\d+(\.\d+){3,}/, () => 'it has more than three numbers'],
  [/(^v?|\.)0\d/, () => 'its numbers must not begin with 0'],
]

function mistake(typed: string): string {
  const known = mistakes.find(([pattern]) => pattern.test(typed))
  return known === undefined ? 'it should be three numbers, vMAJOR.MINOR.PATCH' : known[1](typed)
}

const digits = (typed: string) => typed.replace(/^v/i, '')
