import type { Releases } from '../../releases/releases.ts'
import type { Owner } from '../../workloads/update-methods.ts'

/** One update of the operator by OLM, from the CSV that is installed to the next. */
export interface OperatorHop {
  package: string
  /** Tied to its uid. */
  subscription: { namespace: string; name: string; uid: string }
  /** Name of the CSV to end at. */
  csv: string
  /** Its version: `1.18.1`, `4.18.9`. */
  version: string
  /** To be resolved in, where that is another than the Subscription's. */
  channel?: string
  /** Ends the ids of its steps; default its version. For a hop that is begun anew after another one came first. */
  label?: string
  /** OLM may take another release first, one between what is installed and this: then `install-plan` ends, and the hops are to be worked out anew. */
  mayPassOthers?: boolean
  /** CSVs or packages that may be installed by the same InstallPlan. */
  approveAlso: readonly string[]
  /** For how long everything has to stay good at the end, ms. */
  settleMs: number
}

export const labelOf = ({ label, version }: Pick<OperatorHop, 'label' | 'version'>): string =>
  label ?? version

export interface HopTools {
  /** The KubeVirt that HyperConverged owns. */
  kubevirt: Owner
  /** Ids of the risks that were accepted by name. */
  accepted: readonly string[]
  releases: Pick<Releases, 'hyperconverged'>
  /** The line that goes on, repeated by remedies with one flag more: of an upgrade, or of the window that the hop is part of. */
  command: string
  /** Under whose name the journal keeps what was before. */
  procedure: string
}
