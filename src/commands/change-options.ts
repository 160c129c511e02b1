import { type Command, InvalidArgumentError, Option } from 'commander'
import type { Context } from '../context.ts'
import type { DryRun } from '../lib/engine/change.ts'
import type { RunLimits } from '../lib/engine/step.ts'
import { ensureDeadline, parseDeadline, parseDuration } from '../lib/kube/duration.ts'

/** Their flags, behind those that the command has already. `limits`: what --timeout is about; `timeout`: its default. */
export const withChangeFlags = (command: Command, limits: string, timeout: string): Command =>
  command
    .addOption(acceptOption())
    .addOption(dryRunOption())
    .option('--timeout <duration>', limits, timeout)
    .option('--take-over <holder>', 'take the lock of this holder')

/** As kubectl has it; bare it would take the flag behind it for its value. */
export const dryRunOption = (): Option =>
  new Option('--dry-run <none|client|server>', 'show what would change, change nothing').argParser(
    (value: string): DryRun => {
      if (value === 'none' || value === 'client' || value === 'server') return value
      throw new InvalidArgumentError('It takes none, client or server.')
    },
  )

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

/** The same words in every command that has findings. */
const acceptOption = (): Option => accepting('take risks by finding name, with commas (repeatable)')

/** Where a plan or a report keeps why a risk was taken. */
export const acceptWithReason = (): Option =>
  accepting('take risks by finding name, with commas; ID=reason is kept (repeatable)')

const accepting = (help: string): Option =>
  new Option('--accept <id>', help).argParser(acceptedWords).default([], 'none')

/** What `--accept` takes, each time that it is given: names with commas between them. A reason runs to the end, commas and all. */
export function acceptedWords(value: string, before: readonly string[]): readonly string[] {
  const at = value.indexOf('=')
  const names = (at < 0 ? value : value.slice(0, at)).split(',').map((name) => name.trim())
  const words = names.map((name, i) => (at >= 0 && i === names.length - 1 ? name + value.slice(at) : name))
  return [...before, ...words.filter((word) => word !== '')]
}
