import type { UpdateWanted } from '../../update/wanted.ts'

/** What was asked for: paced as an update of workloads is. Times in ms. */
export type RestartWanted = Pick<
  UpdateWanted,
  'selection' | 'waves' | 'waveBy' | 'canary' | 'apartBy' | 'maxFailures' | 'pacing' | 'backWithin'
>
