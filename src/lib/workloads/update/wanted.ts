import type { WaveRunWanted } from '../waves/wanted.ts'

/** What was asked of an update. Times in ms. */
export interface UpdateWanted extends WaveRunWanted {
  /** VMs that cannot be migrated are restarted. */
  restart: boolean
  /** So often a VM is tried again that failed. */
  retries: number
  /** Nothing that is under way gets any further: a stall. */
  stillAtMost: number
}
