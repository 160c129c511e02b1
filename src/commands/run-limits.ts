import type { Context } from '../context.ts'
import type { RunLimits } from '../lib/engine/run-context.ts'
import { ensureDeadline, parseDeadline, parseDuration } from '../lib/kube/duration.ts'

/** As commander hands them over. */
interface LimitOptions {
  timeout: string
  deadline?: string
  until?: string
  pauseBefore: readonly string[]
}

/**
 * Before the look at the cluster: a time of day is meant from when it was typed, not from when the look is over. It is the cluster's, which has to
 * have answered; what is no time at all is refused before. Throws `usage`.
 */
export async function limitsBefore(
  cx: Context,
  { timeout, deadline, until, pauseBefore }: LimitOptions,
): Promise<RunLimits> {
  const timeoutMs = parseDuration(timeout)
  const by = deadline === undefined ? {} : { deadline: await deadlineOf(cx, deadline) }
  return { timeoutMs, ...by, until, pauseBefore }
}

async function deadlineOf(cx: Context, text: string): Promise<Date> {
  ensureDeadline(text)
  await (await cx.cluster()).reader.version()
  return parseDeadline(text, cx.clock.now())
}
