import { reaches } from '../releases/reaches.ts'
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
