import { type Command, InvalidArgumentError, Option } from 'commander'
import { acceptOption } from './accept-option.ts'
import type { Context } from '../context.ts'
import { rehearse, type RehearsedStep } from '../lib/engine/procedure-dry-run.ts'
import { ensureStepsMeant, type RunLimits } from '../lib/engine/run-context.ts'
import type { Procedure } from '../lib/engine/step.ts'
import type { Hands } from './run-change.ts'
import { leavingSoon } from '../lib/kube/interruption.ts'
import { exitCode, KvupError } from '../lib/kube/errors.ts'

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

export type DryRun = 'none' | 'client' | 'server'

/** As kubectl has it; bare it would take the flag behind it for its value. */
export const dryRunOption = (): Option =>
  new Option('--dry-run <none|client|server>', 'show what would change, change nothing').argParser(
    (value: string): DryRun => {
      if (value === 'none' || value === 'client' || value === 'server') return value
      throw new InvalidArgumentError('It takes none, client or server.')
    },
  )

interface Rehearsal {
  hands: Omit<Hands, 'announce'>
  dryRun?: DryRun | undefined
  /** Where steps can be named. */
  limits?: RunLimits
}

/** What the procedure would change now, in the fields of a document; undefined where it is to be carried out. */
export async function rehearsed(
  cx: Context,
  procedure: Procedure,
  { hands, dryRun = 'none', limits }: Rehearsal,
): Promise<{ dryRun: 'client' | 'server'; steps: readonly RehearsedStep[] } | undefined> {
  if (dryRun === 'none') return undefined
  const { cluster, journal } = hands
  const { clock, signal } = cx
  if (limits) await ensureStepsMeant(limits, procedure, { reader: cluster.reader, clock, journal })
  return { dryRun, steps: await rehearse(procedure, { cluster, clock, signal, journal, mode: dryRun }) }
}

const endsEarly: ReadonlySet<number> = new Set([
  exitCode.timedOut,
  exitCode.unreachable,
  exitCode.interrupted,
  exitCode.terminated,
])

/** Less than the 2 s in which an interrupted command has to leave. */
const goodbyeWithin = 1300

/** A run that ends before its end names the line that goes on: running again is resuming. */
export async function withResume<T>({ world, signal, clock }: Context, run: Promise<T>): Promise<T> {
  try {
    return await leavingSoon(run, { signal, clock, within: goodbyeWithin })
  } catch (error) {
    if (!(error instanceof KvupError) || !endsEarly.has(error.exitCode)) throw error
    const { object, notes, remedy } = error
    throw new KvupError(error.exitCode, error.reason, error.message, {
      object,
      notes,
      remedy: [...remedy, `${world.commandLine}     goes on`],
      cause: error,
    })
  }
}
