import type { HopFinding } from '../releases/finding.ts'

/** What a check found; declared in releases, which knows of nothing above it. */
export type Finding = HopFinding
