import { parseAccepted } from '../../releases/hop-findings.ts'
import { withoutFlags, wordsOf } from '../../kube/shell-line.ts'
import type { EusRequest } from '../window.ts'
import { parseDuration } from '../../kube/duration.ts'
import type { DryRun } from '../../engine/change.ts'

export interface EusPlanningOptions {
  to?: string
  graphFile?: string
  catalogFile?: string
  releases?: string
  accept: readonly string[]
}

/** As commander hands them over. */
export interface EusRunOptions extends EusPlanningOptions {
  plan?: string
  approve?: boolean
  approveAlso: string[]
  approval?: 'Manual' | 'Automatic'
  poolOrder: string[]
  leaveRequested?: boolean
  settle: string
  timeout: string
  deadline?: string
  until?: string
  pauseBefore: string[]
  dryRun?: DryRun
  takeOver?: string
}

/** `commandLine`: as it was typed. A sealed plan takes no other risk than it was made with, so that a line with one more goes without it. */
export function requestOf(options: EusRunOptions, commandLine: string): EusRequest {
  return {
    accepted: parseAccepted(options.accept).map(({ id }) => id),
    approve: options.approve ?? false,
    approveAlso: options.approveAlso,
    ...(options.approval !== undefined && { approval: options.approval }),
    poolOrder: options.poolOrder,
    leaveRequested: options.leaveRequested ?? false,
    settleMs: parseDuration(options.settle),
    command: withoutFlags(wordsOf(commandLine), { valued: ['--plan'] }).join(' '),
  }
}
