import type { StatusDocument } from '../../src/lib/output/views/status.ts'
import { clusterState } from '../../src/lib/status/cluster-state.ts'
import type { StatusReport } from '../../src/lib/status/status-report.ts'

/** As `kvup status` prints a report of a cluster in which kvup has left nothing. */
export const statusDocumentOf = (report: StatusReport): StatusDocument => ({
  apiVersion: 'kvup.io/v1alpha1',
  kind: 'Status',
  ...report,
  state: clusterState({ report }),
})
