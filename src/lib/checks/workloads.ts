import type { Check } from './check.ts'
import { dataJobsInFlight } from './workloads/data-jobs-in-flight.ts'
import { launcherAge } from './workloads/launcher-age.ts'
import { longNames } from './workloads/long-names.ts'
import { migrationQuota } from './workloads/migration-quota.ts'
import { migrationsInFlight } from './workloads/migrations-in-flight.ts'
import { nodeDrained } from './workloads/node-drained.ts'
import { othersAtWork } from './workloads/others-at-work.ts'
import { pendingChanges } from './workloads/pending-changes.ts'
import { restartRequired } from './workloads/restart-required.ts'
import { twoLaunchers } from './workloads/two-launchers.ts'
import { twoNodes } from './workloads/two-nodes.ts'
import { vmsThatStay } from './workloads/vms-that-stay.ts'

/** What the update does to VMs, and they to it. */
export const workloadChecks: readonly Check[] = [
  migrationsInFlight,
  nodeDrained,
  dataJobsInFlight,
  othersAtWork,
  twoLaunchers,
  launcherAge,
  vmsThatStay,
  twoNodes,
  migrationQuota,
  pendingChanges,
  restartRequired,
  longNames,
]
