import type { KubeObject } from '../cluster/object.ts'
import type { Evidence, EvidencePart } from '../facts/evidence.ts'
import type { Installation } from '../facts/installation.ts'
import type { Standing } from '../facts/standing.ts'
import type { Method } from '../releases/operator-rule.ts'
import type { Releases } from '../releases/releases.ts'
import type { Version } from '../releases/version.ts'
import type { Finding } from './finding.ts'

/** In the order in which they are printed. */
const groups = ['path', 'installation', 'rights', 'machinery', 'nodes', 'workloads', 'backup'] as const
export type Group = (typeof groups)[number]

/** All that a check is judged by; no cluster, no clock. */
export interface Question {
  evidence: Evidence
  installation: Installation
  standing: Standing
  /** Absent: `kvup check` without --to; checks that need a target pass over it (`needsTarget`). */
  target?: Version
  /** How it would be done. */
  method?: Method
  releases: Releases
  /** The target's operator manifest, where it was given or may be fetched. */
  manifest?: readonly KubeObject[]
  at: Date
  /** By how many ms this machine's clock is ahead of the cluster's; absent where they agree, and of a saved cluster. */
  ahead?: number
}

export interface Check {
  /** Also the --accept name, the heading in docs/checks.md and what `kvup explain` takes. */
  readonly id: string
  /** Ids of its findings, where they are not its own: each is a name to accept, and a heading. `any`: the release data names them. */
  readonly findings?: readonly string[] | 'any'
  readonly group: Group
  /** A sentence that is true when it passes. */
  readonly title: string
  /** An unknown need makes it `not-checked`. */
  readonly needs: readonly EvidencePart[]
  readonly needsTarget?: true
  /** Made only where images were tried (`--probe-images`). */
  readonly needsProbes?: true
  /** What the public runbook of it is called, where kubevirt/monitoring has one. */
  readonly runbook?: string
  /** Whether a `not-checked` of it blocks: true where the check can block. */
  readonly blocks: boolean
  /** Pure; empty is a pass. */
  assess(question: Question): readonly Finding[]
}
