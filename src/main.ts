import type { Command } from 'commander'
import type { Context, GlobalFlags } from './context.ts'
import { exitCode } from './lib/system/exit-codes.ts'
import { KvupError } from './lib/system/errors.ts'
import { reportEarly, reportUsage } from './early-failure.ts'
import type { Called } from './open.ts'
import { program } from './program.ts'
import type { Wire } from './wire.ts'

/** What `main` needs of a process; `process` itself is one. */
export interface Invocation {
  stdout: { write(text: string): unknown }
  stderr: { write(text: string): unknown }
  argv?: readonly string[]
}

/** A context, and the way to end its output: with the error, in the asked format, if there was one. */
export interface Opened {
  cx: Context
  finish(error?: unknown): Promise<void>
}

export type OpenContext = (flags: GlobalFlags, called: Called) => Promise<Opened>

const openLate: OpenContext = async (flags, called) => (await import('./open.ts')).openContext(flags, called)

/** argv -> exit code. The only place that reports errors; never throws, never exits. */
export async function main(
  argv: readonly string[],
  io: Invocation,
  open: OpenContext = openLate,
): Promise<number> {
  let opened: Opened | undefined
  let code: number = exitCode.done
  const name = calledAs(io.argv?.[1])
  const wire: Wire =
    (run) =>
    async (...all) => {
      const command = all.at(-1) as Command
      opened = await open(command.optsWithGlobals<GlobalFlags>(), calledFor(command, { name, argv }))
      const act = run as (cx: Context, options: object, ...args: string[]) => Promise<number | void>
      code = (await act(opened.cx, command.opts(), ...(all.slice(0, -2) as string[]))) ?? exitCode.done
    }
  try {
    const cli = await program(name, wire, argv)
    prepare(cli, io)
    if (argv.length === 0) cli.outputHelp()
    else await cli.parseAsync([...argv], { from: 'user' })
    await opened?.finish()
    return code
  } catch (error) {
    if (isCommanderExit(error))
      return error.exitCode === 0 ? exitCode.done : reportUsage(error.message, argv, io)
    if (!opened) return reportEarly(error, argv, io)
    await opened.finish(error)
    return error instanceof KvupError ? error.exitCode : exitCode.bug
  }
}

function prepare(command: Command, io: Invocation): void {
  command.exitOverride().configureOutput({
    writeOut: (text) => io.stdout.write(text),
    writeErr: (text) => io.stderr.write(text),
  })
  for (const child of command.commands) prepare(child, io)
}

/** Kind of the document in which a command reports a failure. */
const kinds: Readonly<Record<string, string>> = {
  status: 'Status',
  upgrade: 'UpgradeReport',
  history: 'History',
  version: 'Version',
  restore: 'GiveBack',
}

function calledFor(command: Command, words: Pick<Called, 'name' | 'argv'>): Called {
  return { ...words, kind: kinds[command.name()] ?? 'Error', watch: command.opts()['watch'] === true }
}

/** `kubectl kvup` when kubectl started us as its plug-in. */
function calledAs(path = 'kvup'): string {
  const file = path.slice(Math.max(path.lastIndexOf('/'), path.lastIndexOf('\\')) + 1).replace(/\.js$/u, '')
  const plugin = /^(?<host>kubectl|oc)-(?<rest>.+)$/u.exec(file)?.groups
  return plugin ? `${plugin['host']} ${plugin['rest']}` : 'kvup'
}

function isCommanderExit(error: unknown): error is Error & { exitCode: number } {
  return (
    error instanceof Error &&
    'code' in error &&
    typeof error.code === 'string' &&
    error.code.startsWith('commander.')
  )
}
