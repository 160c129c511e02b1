import type { ManifestDiff } from '../../manifests/manifest-diff.ts'
import type { RehearsedStep } from '../../procedure/rehearse.ts'
import type { HopFinding } from '../../releases/finding.ts'
import type { UpgradePath } from '../../upgrade/path/upgrade-path.ts'
import type { UpgradeReport } from '../../upgrade/report.ts'

/** `kvup.io/v1alpha1 UpgradePlan`: what a dry run and `kvup plan` print. */
export interface PlanDocument extends Pick<
  UpgradeReport,
  'kubevirt' | 'from' | 'to' | 'method' | 'operator'
> {
  apiVersion: 'kvup.io/v1alpha1'
  kind: 'UpgradePlan'
  /** `auto`: by the server where rights allow, else by kvup. */
  dryRun: 'client' | 'server' | 'auto'
  /** Where it goes over several minors. */
  path?: UpgradePath
  /** Workload update methods that are borrowed. */
  holds: readonly string[]
  said: readonly string[]
  findings: readonly HopFinding[]
  /** Risks that were taken by name, why and by whom (`user@host`). */
  accepted: readonly { id: string; reason?: string; by?: string }[]
  steps: readonly PlannedStep[]
  /** Of all steps together. */
  time?: PlannedTime
  /** What the operator manifest changes; only by that method. */
  manifest?: ManifestDiff
  /** Ties the plan to the cluster that it was made for, by the uid of its namespace kube-system. */
  seal?: { uid: string; at: string; by: string; cluster: string }
  /** False: the goal is reached, and no step would do anything. */
  pending: boolean
  /** What to type to carry it out; nothing where it is done already, or would be refused. */
  next?: readonly string[]
}

export interface PlannedStep extends RehearsedStep {
  time?: Omit<PlannedTime, 'says'> & { atMostSeconds: number }
}

/** A range, and what it was worked out from. */
interface PlannedTime {
  lowSeconds: number
  highSeconds: number
  basis: 'own-rollouts' | 'own-pods' | 'guess'
  /** In a sentence for people. */
  says: string
}
