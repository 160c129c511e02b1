import type { AcceptedRisk, Reported } from '../checks/report.ts'
import type { Document } from './printer.ts'

/** `kvup.io/v1alpha1 CheckReport`: what `kvup check` found. */
export interface CheckDocument extends Document, Reported {
  kind: 'CheckReport'
  takenAt: string
  kubevirt: { name: string; namespace: string; version?: string }
  kubernetes?: string
  /** Absent: nothing was asked about a change. */
  to?: string
  method?: string
  strict: boolean
  accepted: readonly AcceptedRisk[]
  /** The day of the release data. */
  releasesAsOf: string
  /** Of kvup itself. */
  kvup: string
}
