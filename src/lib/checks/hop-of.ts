import { type Version, versionOf } from '../releases/version.ts'
import type { Question } from './check.ts'

/** From what is installed completely to what is asked for; undefined where either is missing. */
export function hopOf({ standing, target }: Question): { from: Version; to: Version } | undefined {
  const from = versionOf(standing.observed.version)
  return from === undefined || target === undefined ? undefined : { from, to: target }
}

/** Whether the hop enters this minor (`v1.9`), or passes over it. */
export function enters({ from, to }: { from: Version; to: Version }, minor: string): boolean {
  return reaches(to, minor) && !reaches(from, minor)
}

/** Whether it is of this minor (`v1.9`), or of a later one. */
export function reaches(version: Version, minor: string): boolean {
  const is = versionOf(`${minor}.0`)
  return is !== undefined && order(is) <= order(version)
}

const order = ({ major, minor }: Version) => major * 10_000 + minor
