import type { Command } from 'commander'
import type { Context, Wire } from '../context.ts'
import { type ExitCode, exitCode } from '../lib/kube/errors.ts'

/** A command with its arguments, and the line that is printed where it has to be typed again. */
export interface Typed {
  line: string
  command: (wire: Wire) => Command
  args: readonly string[]
}

/** A command as it would be typed on the simulated cluster, through its own flags and defaults. */
export async function runInside(inside: Context, { line, command, args }: Typed): Promise<ExitCode> {
  let code: ExitCode = exitCode.done
  const here = { ...inside, world: { ...inside.world, commandLine: line } }
  const wire: Wire =
    (run) =>
    async (...all) => {
      const act = run as unknown as (cx: Context, options: object) => Promise<ExitCode | void>
      code = (await act(here, (all.at(-1) as { opts(): object }).opts())) ?? exitCode.done
    }
  await command(wire).parseAsync([...args], { from: 'user' })
  return code
}
