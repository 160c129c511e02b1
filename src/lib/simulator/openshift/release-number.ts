import type { Release } from './shape.ts'

/** A platform release in numbers: `4.18.21`, `4.19.0-okd-scos.16`. */
export interface ReleaseNumber {
  major: number
  minor: number
  /** Patch, and what OKD counts on in: `-okd-scos.16` is no pre-release. */
  rest: readonly number[]
}

/** Text that is no release is 0.0. */
export function releaseNumber(version = ''): ReleaseNumber {
  const [major = 0, minor = 0, ...rest] = (version.match(/\d+/g) ?? []).map(Number)
  return { major, minor, rest }
}

/** Negative when a is older. */
export function compareReleases(a: string, b: string): number {
  const [left, right] = [parts(a), parts(b)]
  const length = Math.max(left.length, right.length)
  for (let i = 0; i < length; i++) {
    const difference = (left[i] ?? 0) - (right[i] ?? 0)
    if (difference !== 0) return difference
  }
  return 0
}

const parts = (version: string): number[] => {
  const { major, minor, rest } = releaseNumber(version)
  return [major, minor, ...rest]
}

export function sameMinor(a: string, b: string): boolean {
  const [left, right] = [releaseNumber(a), releaseNumber(b)]
  return left.major === right.major && left.minor === right.minor
}

/** The graph's release of that version. */
export function releaseOf(graph: readonly Release[], version: string | undefined): Release | undefined {
  return graph.find((release) => release.version === version)
}
