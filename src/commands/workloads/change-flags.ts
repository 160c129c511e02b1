import type { Command } from 'commander'
import { acceptOption } from '../accept-option.ts'
import { type DryRun, dryRunOption } from './dry-run.ts'

/** What every command that changes workloads or their settings takes. */
export interface ChangeOptions {
  accept: string[]
  timeout: string
  takeOver?: string
  dryRun?: DryRun
}

/** Their flags, behind those that the command has already. `limits`: what --timeout is about; `timeout`: its default. */
export const withChangeFlags = (command: Command, limits: string, timeout: string): Command =>
  command
    .addOption(acceptOption())
    .addOption(dryRunOption())
    .option('--timeout <duration>', limits, timeout)
    .option('--take-over <holder>', 'take the lock of this holder')
