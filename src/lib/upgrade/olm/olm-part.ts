import type { GuessedHop } from './guess-hops.ts'
import type { OfferedChannel } from './operator-seen.ts'

/** What a plan by OLM says beside the versions of KubeVirt. */
export interface OlmPart {
  package: string
  subscription: { namespace: string; name: string; uid: string }
  /** The Subscription's; where it is Automatic OLM goes on by itself, and kvup joins it. */
  approval: 'Automatic' | 'Manual'
  /** Set when the plan was made. */
  channel?: string
  /** The release of the operator whose operands are all there, and the one to end up with. */
  from: string
  to: string
  /** Name of the CSV to end at. */
  csv: string
  /** The KubeVirt that it brings, where a table says so. */
  kubevirt?: string
  /** From `from` to `to`. */
  hops: readonly GuessedHop[]
  /** The hops are from a file-based catalog; else they are what the cluster shows of it, and OLM may take others in between. */
  certain: boolean
  offered: readonly OfferedChannel[]
  approveAlso: readonly string[]
  /** That the settings of the KubeVirt are written to. */
  hyperconverged: { ref: { name: string; namespace: string }; uid: string }
  accepted: readonly string[]
  /** A release is installed whose operands are not all there yet. */
  isUnderWay: boolean
}

/** What a person asked for that only this method knows. */
export interface OlmRequest {
  /** As it was typed behind `--to`. */
  typed: string
  approveAlso: readonly string[]
  /** Ids of the risks that were accepted by name. */
  accepted: readonly string[]
  /** The same upgrade, as its remedies repeat it with one flag more. */
  command: string
}
