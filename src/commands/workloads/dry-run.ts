import { Option, InvalidArgumentError } from 'commander'
import type { Context } from '../../context.ts'
import { rehearse, type RehearsedStep } from '../../lib/procedure/rehearse.ts'
import type { RunLimits } from '../../lib/procedure/run-context.ts'
import type { Procedure } from '../../lib/procedure/step.ts'
import { ensureStepsMeant } from '../../lib/procedure/stopping.ts'
import type { Hands } from '../../lib/run/carry-out.ts'

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
