import { mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { hostname, tmpdir, userInfo } from 'node:os'
import { join } from 'node:path'
import { setFlagsFromString } from 'node:v8'
import type { Context, GlobalFlags, World } from './context.ts'
import { fillIn, type ParsedCommand } from './lib/config/fill-in.ts'
import { settledSettings } from './lib/config/settled.ts'
import type { Cluster } from './lib/cluster/cluster.ts'
import { type OpenPrinter, openPrinter } from './lib/output/open-printer.ts'
import type { ReportFormat } from './lib/output/printer.ts'
import { openPrompt } from './lib/output/prompt.ts'
import { onStreamError, type Stream } from './lib/output/stream.ts'
import { systemClock } from './lib/system/clock.ts'
import { interrupted } from './lib/system/errors.ts'
import { exitCode } from './lib/system/exit-codes.ts'
import { kvupVersion } from './lib/system/version.ts'

/** What the command line says besides the flags. */
export interface Called {
  /** `kvup`, `kubectl kvup`. */
  name: string
  argv: readonly string[]
  /** `kind` of the document that reports a failure. */
  kind: string
  /** Output formats that only this command has. */
  formats: readonly ReportFormat[]
  watch: boolean
}

/** A wait that hangs in a request must not keep Ctrl-C from ending us: exit within 2 s. */
const leaveWithin = 1800

/** The only maker of real adapters; what is heavy is imported at the first use. Throws `usage` for a bad setting or format. */
export async function openContext(
  command: ParsedCommand & { optsWithGlobals(): unknown },
  called: Called,
): Promise<{ cx: Context; finish(error?: unknown): Promise<void> }> {
  fillIn(command, await settledSettings(process.env, readText))
  const flags = command.optsWithGlobals() as GlobalFlags
  if (called.watch)
    process.stdout.on(
      'error',
      onStreamError(() => process.exit(exitCode.done)),
    )
  const printer = await printerFor(flags, called)
  restoreTerminal(printer)
  reportUncaught(printer)
  const signal = signalOf()
  let cluster: Promise<Cluster> | undefined
  const cx: Context = {
    cluster: () => (cluster ??= connect(flags, printer)),
    clock: systemClock,
    printer,
    prompt: openPrompt({ stdin: process.stdin, stderr: process.stderr, yes: flags.yes, signal }),
    signal,
    flags,
    world: world(called),
  }
  return {
    cx,
    async finish(error) {
      printer.finish(error)
      if (called.argv[0] === '__complete') leaveSoon()
    },
  }
}

/** Completion waits for no answer that nobody reads any more: a request or a login may still be under way. */
function leaveSoon(): void {
  setTimeout(() => process.exit(), 100).unref()
}

function printerFor(flags: GlobalFlags, { watch, kind, formats }: Called): Promise<OpenPrinter> {
  return openPrinter({
    ...flags,
    stdout: streamOf(process.stdout),
    stderr: streamOf(process.stderr),
    env: process.env,
    clock: systemClock,
    watch,
    failureKind: kind,
    formats,
    readText,
  })
}

async function connect(flags: GlobalFlags, printer: { warn(line: string): void }): Promise<Cluster> {
  const { openCluster } = await import('./lib/cluster/http/open-cluster.ts')
  // Pages of VMs come and go: V8 would let two thirds more memory pile up before it clears them away.
  setFlagsFromString('--optimize-for-size')
  return openCluster(flags, {
    clock: systemClock,
    random: Math.random,
    env: process.env,
    onWarning: (text) => printer.warn(`the API server says: ${text}`),
    trace: (line) => process.stderr.write(`${line}\n`),
    verbosity: flags.verbosity,
    userAgent: `kvup/${kvupVersion}`,
  })
}

function streamOf(stream: NodeJS.WriteStream): Stream {
  return {
    write: (text) => void stream.write(text),
    isTTY: stream.isTTY ?? false,
    // A terminal that was never told its size has 0.
    columns: () => stream.columns || undefined,
    rows: () => stream.rows || undefined,
    onResize(changed) {
      stream.on('resize', changed)
      return () => stream.off('resize', changed)
    },
  }
}

/** The cursor comes back however we end or pause. */
function restoreTerminal({ live }: OpenPrinter): void {
  process.on('exit', () => live.release())
  process.on('SIGCONT', () => live.resume())
  process.on('SIGTSTP', () => {
    live.suspend()
    process.kill(process.pid, 'SIGSTOP')
  })
}

/** What a callback of a library throws, nobody can catch: it is told as the bug it is, on a terminal that is whole again. */
function reportUncaught(printer: OpenPrinter): void {
  process.once('uncaughtException', (error) => {
    printer.finish(error)
    process.exit(exitCode.bug)
  })
}

/** The first Ctrl-C or SIGTERM ends the waits, the second leaves at once. */
function signalOf(): AbortSignal {
  const ending = new AbortController()
  for (const name of ['SIGINT', 'SIGTERM'] as const) {
    const code = name === 'SIGINT' ? exitCode.interrupted : exitCode.terminated
    process.on(name, () => {
      if (ending.signal.aborted) process.exit(code)
      ending.abort(interrupted(name))
      setTimeout(() => process.exit(code), leaveWithin).unref()
    })
  }
  return ending.signal
}

function world({ name, argv }: Called): World {
  const host = hostname()
  return {
    who: `${userName()}@${host}`,
    pid: process.pid,
    host,
    version: kvupVersion,
    commandLine: [name, ...argv.map(quoted)].join(' '),
    isAlive,
    env: process.env,
    readText,
    writeText,
    readStdin,
    scratchFile,
  }
}

/** Killed, or the disk full: there is the whole file or none. */
async function writeText(file: string, text: string): Promise<void> {
  const begun = `${file}.part`
  try {
    writeFileSync(begun, text, { mode: 0o600 })
    renameSync(begun, file)
  } catch (error) {
    rmSync(begun, { force: true })
    throw error
  }
}

function userName(): string {
  try {
    return userInfo().username
  } catch {
    return process.env['USER'] ?? 'unknown'
  }
}

/** EPERM: there is one, but it is not ours. */
function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return error instanceof Error && 'code' in error && error.code === 'EPERM'
  }
}

/** Not by node:fs/promises: loading it takes longer than a small file does. */
async function readText(file: string): Promise<string> {
  return readFileSync(file, 'utf8')
}

function scratchFile(name: string): string {
  const folder = mkdtempSync(join(tmpdir(), 'kvup-'))
  process.on('exit', () => rmSync(folder, { recursive: true, force: true }))
  return join(folder, name)
}

async function readStdin(): Promise<string> {
  const chunks: Buffer[] = []
  for await (const chunk of process.stdin) chunks.push(Buffer.from(chunk as Uint8Array))
  return Buffer.concat(chunks).toString('utf8')
}

/** For a shell. */
function quoted(word: string): string {
  return /^[\w./:@%+=,-]+$/u.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`
}
