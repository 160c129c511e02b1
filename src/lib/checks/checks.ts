import { backupChecks } from './backup.ts'
import type { Check } from './check.ts'
import { installationChecks } from './installation.ts'
import { machineryChecks } from './machinery.ts'
import { nodeChecks } from './nodes.ts'
import { pathChecks } from './path.ts'
import { rightsChecks } from './rights.ts'
import { workloadChecks } from './workloads.ts'

/** Every check, in the order in which they are printed. */
export const allChecks: readonly Check[] = [
  ...pathChecks,
  ...installationChecks,
  ...rightsChecks,
  ...machineryChecks,
  ...nodeChecks,
  ...workloadChecks,
  ...backupChecks,
]
