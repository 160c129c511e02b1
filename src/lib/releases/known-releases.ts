import known from './known-releases.json' with { type: 'json' }
import { type Version, minorOf, versionOf } from './version.ts'

const minors: Readonly<Record<string, { kubernetes: string[]; latest?: string }>> = known.minors
const lastMinors: Readonly<Record<string, number>> = known.lastMinorOfMajor

/** Year and month of what the data file knows: every answer from it is as of then. */
export const knownSince: string = known.seen

/** The last minor of a major version that is over; undefined while it goes on. */
export function lastMinorOf(major: number): number | undefined {
  return lastMinors[String(major)]
}

/** The newest patch of a minor (`v1.8`) that the data file knows. */
export function latestPatch(minor: string): Version | undefined {
  return versionOf(minors[minor]?.latest)
}

/** Minors of Kubernetes, both ends included. */
export interface KubernetesWindow {
  min: string
  max: string
  /** False: by the rule that each minor of KubeVirt moves the window by one. */
  known: boolean
}

/** What a release supports (facts 7). Undefined where neither table nor rule reaches: before v0.59, after v1. */
export function kubernetesWindow(version: Version): KubernetesWindow | undefined {
  const [min, max] = minors[minorOf(version)]?.kubernetes ?? []
  if (min !== undefined && max !== undefined) return { min, max, known: true }
  if (version.major !== 1) return undefined
  return { min: `1.${version.minor + 25}`, max: `1.${version.minor + 27}`, known: false }
}
