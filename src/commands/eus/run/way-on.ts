import type { Context } from '../../../context.ts'
import { armedByOthersText, ourRequest } from '../../../lib/eus/steps/kept-request.ts'
import { readPlatform } from '../../../lib/eus/steps/read-platform.ts'
import { harmlessText } from '../../../lib/output/views/harmless-text.ts'
import type { Loan } from '../../../lib/procedure/journal.ts'
import { leavingSoon, leftOf } from '../../../lib/procedure/leaving-soon.ts'
import { ownClock } from '../../../lib/system/clock.ts'
import { formatDuration } from '../../../lib/system/duration.ts'
import { KvupError } from '../../../lib/system/errors.ts'
import type { SeenWindow } from '../see-window.ts'

/** For the farewell to journal and lock, and together with what is read then: less than the 2 s in which an interrupted run has to leave. */
const goodbyeWithin = 900
const allWithin = 1500

/** A run that ends early says what is borrowed, what is armed, and which line goes on. Before `began` nothing was changed, and a refusal has its own remedy. */
export async function withWindowLines<T>(
  cx: Context,
  seen: SeenWindow,
  run: (began: () => void) => Promise<T>,
): Promise<T> {
  let hasBegun = false
  let isLeft = false
  const { signal, clock } = cx
  const left = leftOf(allWithin, { signal, clock })
  try {
    const work = run(() => (hasBegun = true))
    return await leavingSoon(work, { signal, clock, within: goodbyeWithin, left: () => (isLeft = true) })
  } catch (error) {
    if (!hasBegun || !(error instanceof KvupError)) throw error
    const { object, notes, remedy } = error
    throw new KvupError(error.exitCode, error.reason, error.message, {
      object,
      notes: [...notes, ...(isLeft ? borrowedLines(cx, seen) : await leftBehind(cx, seen, left()))],
      remedy: [...remedy, ...sameLine(cx, error), 'kvup eus status'],
      cause: error,
    })
  }
}

/** The line that was typed goes on, but for one that ends at the same place again; what was not waited for long enough is waited for anew. */
function sameLine({ world }: Context, { reason }: KvupError): readonly string[] {
  if (reason === 'approval-needed') return []
  const anew = reason === 'timed-out' ? ', and waits anew' : ''
  return [`${world.commandLine}     goes on where the cluster stands${anew}`]
}

async function leftBehind(cx: Context, seen: SeenWindow, readWithin: number): Promise<readonly string[]> {
  const { clock } = cx
  const { hands, cluster, window } = seen
  const over = new AbortController()
  const giveUp = ownClock(clock)
    .sleep(readWithin, over.signal)
    .catch(() => undefined)
  const quickly = <T>(work: Promise<T>) =>
    Promise.race([work.catch(() => undefined), giveUp.then(() => undefined)])
  const [loans, platform] = await Promise.all([
    quickly(hands.journal.loans()),
    quickly(readPlatform(cluster.reader)),
  ])
  over.abort()
  return [
    ...borrowedLines(cx, seen, loans),
    ...(platform === undefined ? [] : await armedLine(window.name, platform, loans ?? [])),
  ]
}

/** Where nobody could be asked: what this run borrowed and read itself. */
function borrowedLines(
  { clock }: Context,
  { hands }: SeenWindow,
  asked?: readonly Loan[],
): readonly string[] {
  const loans = asked ?? hands.journal.known?.()
  if (loans === undefined) return ['what is borrowed could not be read']
  const now = clock.now().getTime()
  const lines = loans.map((loan) => loanLine(loan, now))
  return asked ? lines : [...lines, 'the API server does not answer: this is what the run itself knows']
}

async function armedLine(
  name: string,
  platform: Awaited<ReturnType<typeof readPlatform>>,
  loans: readonly Loan[],
): Promise<readonly string[]> {
  const { armed } = platform.standing
  if (armed === undefined) return []
  if (!(await ourRequest({ loans: async () => loans }, name, platform))) return [armedByOthersText(armed)]
  return [
    `the platform is asked for ${armed.version ?? armed.image} and has not begun: it starts by itself; kvup eus abort takes it back`,
  ]
}

function loanLine({ id, at, harmless = 'for now' }: Loan, now: number): string {
  return `borrowed ${formatDuration(now - Date.parse(at))} ago: ${id}; ${harmlessText(harmless)}`
}
