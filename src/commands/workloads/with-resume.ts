import type { Context } from '../../context.ts'
import { leavingSoon } from '../../lib/procedure/leaving-soon.ts'
import { KvupError } from '../../lib/system/errors.ts'
import { exitCode } from '../../lib/system/exit-codes.ts'

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
