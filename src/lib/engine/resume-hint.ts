import type { World } from '../kube/world.ts'
import { type Clock, ownClock } from '../kube/clock.ts'
import { exitCode, KvupError } from '../kube/errors.ts'
import { leavingSoon, leftOf } from '../kube/interruption.ts'
import { withoutFlags, wordsOf } from '../kube/shell-line.ts'

/** How a run ended early. */
interface EarlyEnd {
  error: unknown
  /** False: it was refused, or interrupted, before anything was changed. */
  hasBegun: boolean
  /** ms in which the cluster may still be asked what is left behind; 0: it does not answer, or nobody waits. */
  readWithin: number
}

/** What is said of a run that ended early, besides its error. */
export interface ResumeHint {
  /** ms that journal and lock have once a person interrupts: less than the 2 s in which a command has to be gone. */
  recordWithin: number
  /** ms for that, and together with it for what is read then. */
  allWithin: number
  /** What is thrown in place of the error: the same one with the lines that matter now, or itself. */
  told(end: EarlyEnd): Promise<unknown>
}

/** What a run needs of its command to be left and resumed. */
export interface Leaving {
  readonly world: Pick<World, 'commandLine'>
  readonly signal: AbortSignal
  readonly clock: Clock
}

/** What the run gives. One that ends early throws what the hint makes of its error; `run` calls `began` before its first write. */
export async function withResumeHint<T>(
  { signal, clock }: Pick<Leaving, 'signal' | 'clock'>,
  hint: ResumeHint,
  run: (began: () => void) => Promise<T>,
): Promise<T> {
  let hasBegun = false
  let isLeft = false
  const left = leftOf(hint.allWithin, { signal, clock })
  try {
    const work = run(() => (hasBegun = true))
    return await leavingSoon(work, {
      signal,
      clock,
      within: hint.recordWithin,
      left: () => (isLeft = true),
    })
  } catch (error) {
    throw await hint.told({ error, hasBegun, readWithin: isLeft ? 0 : left() })
  }
}

/** The same error with more to know and to type below it. */
export function withLines(
  error: KvupError,
  { notes = error.notes, remedy }: { notes?: readonly string[]; remedy: readonly string[] },
): KvupError {
  const { object } = error
  return new KvupError(error.exitCode, error.reason, error.message, { object, notes, remedy, cause: error })
}

const endsEarly: ReadonlySet<number> = new Set([
  exitCode.timedOut,
  exitCode.unreachable,
  exitCode.interrupted,
  exitCode.terminated,
])

/** Of most commands: running the same line again is resuming. */
export const sameLineAgain = ({ world }: Leaving): ResumeHint => ({
  recordWithin: 1300,
  allWithin: 1300,
  async told({ error }) {
    if (!(error instanceof KvupError) || !endsEarly.has(error.exitCode)) return error
    return withLines(error, { remedy: [...error.remedy, resumeLine(world)] })
  },
})

/** The line that was typed, with what running it again does. */
export const resumeLine = ({ commandLine }: Pick<World, 'commandLine'>, does = 'goes on'): string =>
  `${commandLine}     ${does}`

/** The line that goes on from where a run was told to stop: as it was typed, but for what made it stop, for it would stop there again. */
export function goesOn(commandLine: string): string {
  const line = withoutFlags(wordsOf(commandLine), {
    valued: ['--until', '--pause-before', '--deadline'],
  }).join(' ')
  return `${line}     goes on from here`
}

/** Each answer that arrives in `within` ms; undefined for those that fail or take longer. */
export async function readInTime<T extends readonly unknown[]>(
  clock: Clock,
  within: number,
  works: { readonly [K in keyof T]: Promise<T[K]> },
): Promise<{ [K in keyof T]: T[K] | undefined }> {
  const over = new AbortController()
  const giveUp = ownClock(clock)
    .sleep(within, over.signal)
    .catch(() => undefined)
  const answers = await Promise.all(
    works.map((work) => Promise.race([work.catch(() => undefined), giveUp.then(() => undefined)])),
  )
  over.abort()
  return answers as { [K in keyof T]: T[K] | undefined }
}
