import type { LabelTest } from '../../cluster/label-selector.ts'
import type { Pacing } from '../waves/pacing.ts'
import type { WaveBy } from '../waves/wave-title.ts'
import type { WavesWanted } from '../waves/waves.ts'

/** What was asked for. Times in ms. */
export interface UpdateWanted {
  selection: { namespace?: string; labels?: string; node?: string }
  waves: WavesWanted
  waveBy: WaveBy
  canary?: LabelTest
  /** Label whose values are kept apart; without it the VM's own anti-affinity counts (night W4). */
  apartBy?: string
  /** VMs that cannot be migrated are restarted. */
  restart: boolean
  /** So often a VM is tried again that failed. */
  retries: number
  maxFailures: number
  /** `parallel` and `perNode` are bounded by the cluster's own limits. */
  pacing: Omit<Pacing, 'perNode'>
  /** Nothing that is under way gets any further: a stall. */
  stillAtMost: number
  /** How long a restarted VM may take until it is well again. */
  backWithin: number
}
