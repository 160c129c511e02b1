import type { Method } from '../releases/operator-rule.ts'
import type { HopFinding } from '../releases/finding.ts'
import type { Version } from '../releases/version.ts'
import type { MigrationsPolicy } from '../workloads/migrations-in-flight.ts'
import type { Owner } from '../workloads/update-methods.ts'
import type { WayBack } from './way-back.ts'
import type { UpgradePath } from './path/upgrade-path.ts'
import type { OlmPart, OlmRequest } from './olm/olm-part.ts'

/** What a person asked for, checked and with its defaults. Durations in ms. */
export interface UpgradeRequest {
  to: Version
  method: Method | 'auto'
  /** Borrow the workload update methods while the control plane moves. */
  hold: boolean
  /** End before they are given back. */
  leaveHeld: boolean
  /** Afterwards wait until no VM is left but those that stay. */
  waitWorkloads: boolean
  migrations: MigrationsPolicy
  migrationsTimeoutMs: number
  /** Write nothing to what Helm or GitOps owns: say what to commit, wait and judge (night U8). */
  follow: boolean
  /** How long it has to stay settled. */
  settleMs: number
  imageRegistry?: string
  /** Releases between what is installed and `to`, one of each minor, as a person named them. */
  via?: readonly Version[]
  /** Between the steps of an upgrade path: wait for VMs to leave launchers that are too old for the next, or for nothing. Default `wait`. */
  between?: 'wait' | 'none'
  /** What only the method olm looks at. */
  olm: OlmRequest
}

/** What will be done, as data: it is printed, asked about, and the procedure is made from it. */
export interface UpgradePlan {
  owner: Owner
  /** As observed; undefined where nothing was ever installed completely. */
  from: string | undefined
  to: Version
  method: Method
  /** Everything runs the target already: only the end of the upgrade is left, such as settling and giving back. */
  isRest: boolean
  /** What happens to spec.imageTag when the operator is replaced (night U2). */
  tag: TagTreatment
  /** To what is installed now. */
  wayBack: WayBack
  /** The workload update methods that will be borrowed; empty: none are set. */
  holds: readonly string[]
  request: UpgradeRequest
  findings: readonly HopFinding[]
  /** What a person should know before the question (night U5). */
  said: readonly string[]
  /** By the method olm. */
  olm?: OlmPart
  /** Where it goes over several minors: all else but `to` is of the first of them. */
  path?: UpgradePath
}

/**
 * `none`: no tag is set, or the method is image-tag. `lift`: it says what the operator would do anyway, so it is taken out,
 * and the new one put in at the end: one roll. `pin`: it keeps the old version while the operator is replaced: two rolls.
 */
export type TagTreatment =
  | { is: 'none' }
  | { is: 'lift'; tag: string; registry?: string }
  | { is: 'pin'; tag: string }
