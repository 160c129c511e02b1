import type { LabelTest } from '../../cluster/label-selector.ts'
import type { Pacing } from './pacing.ts'
import type { WaveBy } from './wave-title.ts'
import type { WavesWanted } from './waves.ts'

/** What was asked of a run that takes one VM after the other. Times in ms. */
export interface WaveRunWanted {
  selection: { namespace?: string; labels?: string; node?: string }
  waves: WavesWanted
  waveBy: WaveBy
  canary?: LabelTest
  /** Label whose values are kept apart; without it the VM's own anti-affinity counts (night W4). */
  apartBy?: string
  maxFailures: number
  /** `parallel` and `perNode` are bounded by the cluster's own limits. */
  pacing: Omit<Pacing, 'perNode'>
  /** How long a restarted VM may take until it is well again. */
  backWithin: number
}
