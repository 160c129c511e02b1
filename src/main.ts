import { type Command, CommanderError } from 'commander'
import { connection, outputOptions, typedConnection } from './commands/command-options.ts'
import { type Context, kvupVersion, type Wire } from './context.ts'
import { leavingSoon } from './lib/kube/interruption.ts'
import { exitCode, KvupError, usageError } from './lib/kube/errors.ts'
import type { Called } from './open.ts'
import { program } from './cli.ts'
import { entryOf } from './commands/entries.ts'
import { refuseFormer } from './commands/former.ts'
import { helpWords } from './lib/output/usage-remedy.ts'

/** What `main` needs of a process; `process` itself is one. */
interface Invocation {
  stdout: { write(text: string): unknown }
  stderr: { write(text: string): unknown }
  argv?: readonly string[]
  env?: Readonly<Record<string, string | undefined>>
}

/** A context, and the way to end its output: with the error, in the asked format, if there was one. */
interface Opened {
  cx: Context
  finish(error?: unknown): Promise<void>
}

type OpenContext = (command: Command, called: Called) => Promise<Opened>

const openLate: OpenContext = async (flags, called) => (await import('./open.ts')).openContext(flags, called)

function withBareDryRun(argv: readonly string[]): readonly string[] {
  const end = argv.indexOf('--')
  return argv.map((word, index) =>
    word === '--dry-run' && (end < 0 || index < end) && isNoValue(argv[index + 1])
      ? '--dry-run=server'
      : word,
  )
}

/** A bare `--dry-run`, as kubectl once had it, is the one that tells the most: the server judges each change, and makes none. */
const isNoValue = (next: string | undefined): boolean => next === undefined || next.startsWith('-')

/** argv -> exit code. The only place that reports errors; never throws, never exits. */
export async function main(
  typed: readonly string[],
  io: Invocation,
  open: OpenContext = openLate,
): Promise<number> {
  const argv = withBareDryRun(typed)
  const words = isBare(argv) ? [...argv, '__head'] : argv
  const run: Running = { argv, io, open, opened: undefined, code: exitCode.done }
  let cli: Command | undefined
  try {
    const name = calledAs(io.argv?.[1])
    cli = await program(name, wireFor(run, name), words)
    prepare(cli, io)
    refuseFormer(cli, words)
    refuseVersionOfCommand(cli, words)
    await cli.parseAsync(wordsFor(cli, words), { from: 'user' })
    await run.opened?.finish()
    return run.code
  } catch (error) {
    return await report(error, run, cli)
  }
}

/** Nothing but flags that every command takes: where the cluster stands is asked. */
function isBare(argv: readonly string[]): boolean {
  const known = [...connection, ...outputOptions]
  for (let at = 0; at < argv.length; at++) {
    const word = argv[at] ?? ''
    const [flag = word] = word.split('=')
    const whole = known.find(({ long, short }) => flag === long || flag === short)
    const joined = known.find(
      ({ short, required }) => required && short && /^-[^-]/u.test(word) && word.startsWith(short),
    )
    if ((whole ?? joined) === undefined) return false
    if (whole?.required && flag === word) at++
  }
  return true
}

/** commander's own `help` takes any word for a command. */
function wordsFor(cli: Command, argv: readonly string[]): string[] {
  const help = helpWords(cli, argv)
  if ('words' in help) return [...help.words]
  throw usageError('usage', `unknown command '${help.unknown}'`, {
    remedy: [...(help.meant ? [`did you mean ${help.meant}?`] : []), `${cli.name()} --help`],
  })
}

/** `--version` is of kvup itself: behind a command a version to go to is meant. */
function refuseVersionOfCommand(cli: Command, argv: readonly string[]): void {
  const end = argv.indexOf('--')
  const at = argv.findIndex((word) => /^--version(?:=|$)/u.test(word))
  if (at < 1 || (end >= 0 && end < at)) return
  if (!cli.commands.some((command) => command.name() === argv[0])) return
  throw new CommanderError(1, 'commander.unknownOption', `error: unknown option '${argv[at]}'`)
}

const lastWordsWithin = 1550

interface Running {
  argv: readonly string[]
  io: Invocation
  open: OpenContext
  opened: Opened | undefined
  code: number
}

function wireFor(running: Running, name: string): Wire {
  return (run) =>
    async (...all) => {
      const command = all.at(-1) as Command
      const opened = await running.open(command, calledFor(command, { name, argv: running.argv }))
      running.opened = opened
      const act = run as (cx: Context, options: object, ...args: string[]) => Promise<number | void>
      const work = act(opened.cx, command.opts(), ...(all.slice(0, -2) as string[]))
      const { signal, clock } = opened.cx
      // Whatever a command waits for: its last words, and its document, are out before it has to be gone.
      running.code = (await leavingSoon(work, { signal, clock, within: lastWordsWithin })) ?? exitCode.done
    }
}

async function report(error: unknown, { argv, io, opened }: Running, cli?: Command): Promise<number> {
  if (isCommanderExit(error) && error.exitCode === 0) return exitCode.done
  if (opened) {
    await opened.finish(error)
    return error instanceof KvupError ? error.exitCode : exitCode.bug
  }
  const { reportEarly, reportUsage } = await import('./early-failure.ts')
  if (cli && isCommanderExit(error)) return reportUsage(error, { argv, cli, io })
  return reportEarly(error, argv, io)
}

function prepare(command: Command, io: Invocation): void {
  command.exitOverride().configureOutput({
    writeOut: (text) => io.stdout.write(text),
    writeErr: (text) => io.stderr.write(text),
    // Said once, by `report`.
    outputError: () => undefined,
  })
  for (const child of command.commands) prepare(child, io)
}

function calledFor(command: Command, words: Pick<Called, 'name' | 'argv'>): Called {
  const { kind = 'Error', formats = [] } = entryOf(command) ?? {}
  return {
    ...words,
    connection: typedConnection(command, connection),
    kind,
    formats,
    watch: command.opts()['watch'] === true,
    making: {
      version: kvupVersion,
      ...(command.optsWithGlobals()['full'] !== true && { redact: redaction }),
    },
    command: pathOf(command),
  }
}

const redaction = async () => (await import('./commands/report/redacted-source.ts')).redactedSource

/** `eus run`. */
function pathOf(command: Command): string {
  const { parent } = command
  if (parent === null) return ''
  return `${pathOf(parent)} ${command.name()}`.trim()
}

/** `kubectl kvup` when kubectl started us as its plug-in. */
function calledAs(path = 'kvup'): string {
  const file = path
    .slice(Math.max(path.lastIndexOf('/'), path.lastIndexOf('\\')) + 1)
    .replace(/\.(?:js|exe)$/u, '')
  const plugin = /^(?<host>kubectl|oc)-(?<rest>.+)$/u.exec(file)?.groups
  return plugin ? `${plugin['host']} ${plugin['rest']}` : 'kvup'
}

function isCommanderExit(error: unknown): error is Error & { exitCode: number; code: string } {
  return (
    error instanceof Error &&
    'code' in error &&
    typeof error.code === 'string' &&
    error.code.startsWith('commander.')
  )
}
