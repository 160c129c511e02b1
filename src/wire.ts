import type { Context } from './context.ts'
import type { ExitCode } from './lib/system/exit-codes.ts'

/** What a command does: options and positional arguments in (a list for `[name...]`), an exit code out (none is 0). */
type Run<O, A extends (string | string[])[]> = (
  cx: Context,
  options: O,
  ...args: A
) => Promise<ExitCode | void>

/** Turns a `Run` into a commander action; `main` supplies it. */
export type Wire = <O, A extends (string | string[])[]>(
  run: Run<O, A>,
) => (...all: unknown[]) => Promise<void>
