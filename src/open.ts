import { createHash, randomUUID } from 'node:crypto'
import {
  mkdtempSync,
  readFileSync,
  readlinkSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { hostname, release, tmpdir, userInfo } from 'node:os'
import { join } from 'node:path'
import { type Context, type GlobalFlags, kvupVersion } from './context.ts'
import type { World } from './lib/kube/world.ts'
import { fillIn, type ParsedCommand, settledSettings } from './settings.ts'
import { ClusterClock, listenerOf } from './lib/kube/http/cluster-clock.ts'
import type { Cluster } from './lib/kube/cluster.ts'
import {
  type OpenPrinter,
  openPrinter,
  type PrinterOptions,
  printerWithConnectionFlags,
} from './lib/output/open-printer.ts'
import type { Making } from './lib/output/formats/reports.ts'
import type { ReportFormat } from './lib/output/printer.ts'
import { openLogFile, withLog } from './log-file.ts'
import { openPrompt } from './lib/output/prompt.ts'
import { sanitise, sanitiseLine, type Stream } from './lib/output/terminal.ts'
import { commandSpeech, type ConnectionFlag } from './lib/output/command-line.ts'
import { mostBytes, readBounded, tooLarge } from './lib/kube/bounded-file.ts'
import { type Clock, systemClock } from './lib/kube/clock.ts'
import { exitCode, interrupted, KvupError, Unforeseen, usageError } from './lib/kube/errors.ts'
import { shellWord } from './lib/kube/shell-line.ts'
import { redactBody } from './lib/kube/http/trace.ts'

/** What the command line says besides the flags. */
export interface Called {
  /** `kvup`, `kubectl kvup`. */
  name: string
  argv: readonly string[]
  /** Connection flags that were typed. */
  connection: readonly ConnectionFlag[]
  /** `kind` of the document that reports a failure. */
  kind: string
  formats: readonly ReportFormat[]
  making: Making
  watch: boolean
  /** Its name with those above it: `eus run`. */
  command: string
}

/** A wait that hangs in a request must not keep Ctrl-C from ending us: exit within 2 s. */
const leaveWithin = 1800

/** The only maker of real adapters; what is heavy is imported at the first use. Throws `usage` for a bad setting or format. */
export async function openContext(
  command: ParsedCommand & { optsWithGlobals(): unknown },
  called: Called,
): Promise<{ cx: Context; finish(error?: unknown): Promise<void> }> {
  const settled = settledSettings(process.env, readText)
  // Completion is silent: where a setting is broken, it does without.
  fillIn(command, await (isCompletion(called) ? settled.catch(() => []) : settled))
  const flags = flagsOf(command)
  // What is wrong with it is told where it was opened.
  if (called.watch) process.stdout.on('error', () => process.exit(process.exitCode ?? exitCode.done))
  const clock = new ClusterClock(systemClock)
  const printer = await printerFor(flags, called, clock)
  restoreTerminal(printer)
  const finish = (error?: unknown) => printer.finish(isBug(error) ? logged(error, called) : error)
  reportUncaught(finish)
  const signal = signalOf()
  let cluster: Promise<Cluster> | undefined
  const over = new AbortController()
  const cx: Context = {
    cluster: () => (cluster ??= connect(flags, { printer, clock, ending: over.signal })),
    elsewhere(connection, { warn, ending }) {
      const there = new ClusterClock(systemClock)
      let opened: Promise<Cluster> | undefined
      const telling = { ...printer, warn }
      const how = { printer: telling, clock: there, ending: AbortSignal.any([over.signal, ending]) }
      return { clock: there, cluster: () => (opened ??= connect({ ...flags, ...connection }, how)) }
    },
    clock,
    printer,
    prompt: openPrompt({
      ...flags,
      quiet: flags.quiet ?? false,
      stdin: process.stdin,
      stderr: process.stderr,
      signal,
      suspend: printer.live.suspend,
      typed: typedLine(called),
    }),
    signal,
    flags,
    world: world(called),
  }
  return {
    cx,
    async finish(error) {
      finish(error)
      // What is still asked nobody waits for: a silent server and a login that hangs must not keep us.
      over.abort(new Error('kvup has ended'))
      if (isCompletion(called)) leaveSoon()
    },
  }
}

/** `--no-color` sets `color` to false. */
function flagsOf(command: { optsWithGlobals(): unknown }): GlobalFlags {
  const flags = command.optsWithGlobals() as Omit<GlobalFlags, 'color'> & {
    color: GlobalFlags['color'] | false
  }
  return { ...flags, color: flags.color === false ? 'never' : flags.color }
}

function isBug(error: unknown): boolean {
  return error !== undefined && !(error instanceof KvupError)
}

function logged(error: unknown, called: Called): unknown {
  const { version: node, platform } = process
  return withBugLog(error, { commandLine: typedLine(called), node, platform, at: systemClock.now() })
}

const isCompletion = ({ argv }: Called) => argv[0] === '__complete'

/** Completion waits for no answer that nobody reads any more: a request or a login may still be under way. */
function leaveSoon(): void {
  setTimeout(() => process.exit(), 100).unref()
}

async function printerFor(flags: GlobalFlags, called: Called, clock: Clock): Promise<OpenPrinter> {
  const { watch, kind, formats, making, command } = called
  const options = {
    ...flags,
    stdout: streamOf(process.stdout),
    stderr: streamOf(process.stderr),
    env: process.env,
    clock,
    watch,
    failureKind: kind,
    formats,
    making,
    command: `kvup ${command}`,
    readText,
  }
  const screen = await openPrinter(options)
  const isPiped = !process.stdout.isTTY || !process.stderr.isTTY
  const printer =
    flags.logFile === undefined ? screen : await logging(screen, options, { file: flags.logFile, called })
  return printerWithConnectionFlags(printer, commandSpeech({ ...called, isPiped }))
}

/** Beside the screen, whatever that shows: the lines that a pipe would have, whole and without colour. */
async function logging(
  screen: OpenPrinter,
  options: PrinterOptions,
  { file, called }: { file: string; called: Called },
): Promise<OpenPrinter> {
  const stream = openLogFile(file, {
    clock: options.clock,
    uid: process.getuid?.(),
    failed: (why) => screen.warn(`nothing more is written to ${file}: ${why}`),
  })
  const plain = { output: 'table', color: 'never', watch: false, quiet: false, sortBy: undefined } as const
  const log = await openPrinter({ ...options, ...plain, stdout: stream, stderr: stream })
  stream.write(`kvup ${kvupVersion}: ${sanitiseLine(redactBody(typedLine(called), ''))}\n`)
  process.on('exit', (code) => stream.write(`exit ${code}\n`))
  return withLog(screen, log)
}

interface Connecting {
  printer: OpenPrinter
  clock: ClusterClock
  ending: AbortSignal
}

async function connect(flags: GlobalFlags, { printer, clock, ending }: Connecting): Promise<Cluster> {
  const { openCluster } = await import('./lib/kube/http/http-cluster.ts')
  return openCluster(flags, {
    clock: systemClock,
    heard: listenerOf(clock, printer),
    paced: (speed) => clock.runAt(speed),
    random: Math.random,
    env: process.env,
    onWarning: (text) => printer.warn(`the API server says: ${text}`),
    warn: (text) => printer.warn(text),
    // Lines of an answer stand deeper, so that none of them looks like one of ours.
    trace: (line) => process.stderr.write(`${sanitise(line).replaceAll('\n', '\n    ')}\n`),
    verbosity: flags.verbosity,
    userAgent: `kvup/${kvupVersion}`,
    ending,
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
function reportUncaught(finish: (error: unknown) => void): void {
  process.once('uncaughtException', (error) => {
    finish(error)
    process.exit(exitCode.bug)
  })
}

/** The first Ctrl-C, SIGTERM or SIGHUP (a terminal that was closed, a connection that was lost) ends the waits, the second leaves at once. */
function signalOf(): AbortSignal {
  const ending = new AbortController()
  for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
    const code = name === 'SIGINT' ? exitCode.interrupted : exitCode.terminated
    process.on(name, () => {
      if (ending.signal.aborted) process.exit(code)
      ending.abort(interrupted(name))
      setTimeout(() => process.exit(code), leaveWithin).unref()
    })
  }
  // The terminal is gone: what is said goes to the log file alone.
  process.on('SIGHUP', () => {
    for (const stream of [process.stdout, process.stderr]) stream.on('error', () => undefined)
  })
  return ending.signal
}

/** As it was typed, for a shell. */
function typedLine({ name, argv }: Called): string {
  return [name, ...argv.map(shellWord)].join(' ')
}

function world(called: Called): World {
  const host = hostname()
  const pod = ownPod(process.env)
  return {
    who: pod === undefined ? `${userName()}@${host}` : `${pod.namespace}@${pod.name}`,
    ...(pod && { pod }),
    pid: process.pid,
    host,
    machine: thisHost(),
    version: kvupVersion,
    commandLine: typedLine(called),
    isAlive,
    env: process.env,
    readText,
    writeText: writeWhole,
    readStdin,
    scratchFile,
    randomSuffix: () => randomUUID().slice(0, 8),
  }
}

/** As `kvup job` names it in the environment of its pods; undefined where not all of it is there. */
function ownPod(env: NodeJS.ProcessEnv): World['pod'] {
  const { POD_NAME: name = '', POD_NAMESPACE: namespace = '', POD_UID: uid = '' } = env
  const isName = [name, namespace].every((text) => /^[a-z0-9][a-z0-9.-]*$/u.test(text))
  return isName && /^[0-9a-zA-Z-]+$/u.test(uid) && env['KUBERNETES_SERVICE_HOST']
    ? { name, namespace, uid }
    : undefined
}

/** This boot of this machine, and the PID namespace that this process is in; only Linux tells both. */
function thisHost(): string | undefined {
  try {
    const boot = readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim()
    return createHash('sha256')
      .update(`${boot} ${readlinkSync('/proc/self/ns/pid')}`)
      .digest('hex')
      .slice(0, 12)
  } catch {
    return undefined
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
  return readBounded(file).toString('utf8')
}

function scratchFile(name: string): string {
  const folder = scratchFolder()
  process.on('exit', () => rmSync(folder, { recursive: true, force: true }))
  return join(folder, name)
}

/** Throws `usage` where there is none, as in a container whose root is read-only. */
function scratchFolder(): string {
  try {
    return mkdtempSync(join(tmpdir(), 'kvup-'))
  } catch (cause) {
    throw usageError('temporary-folder', `nothing can be written to the temporary folder ${tmpdir()}`, {
      remedy: 'name a folder that you can write to: TMPDIR=FOLDER',
      cause,
    })
  }
}

async function readStdin(): Promise<string> {
  const chunks: Buffer[] = []
  let size = 0
  for await (const chunk of process.stdin) {
    size += (chunk as Uint8Array).length
    if (size > mostBytes) throw tooLarge(0)
    chunks.push(Buffer.from(chunk as Uint8Array))
  }
  return Buffer.concat(chunks).toString('utf8')
}

export interface Circumstances {
  /** As it was typed. */
  commandLine: string
  node: string
  platform: string
  at: Date
}

/**
 * What was not foreseen, with the file that holds its stack and its circumstances: readable by this user alone, nothing secret in
 * it. Where no file can be written the error is returned as it is.
 */
export function withBugLog(error: unknown, circumstances: Circumstances): unknown {
  try {
    const file = join(mkdtempSync(join(tmpdir(), 'kvup-bug-')), 'kvup.log')
    writeFileSync(file, logOf(error, circumstances), { mode: 0o600, flag: 'wx' })
    return new Unforeseen(error, file)
  } catch {
    return error
  }
}

function logOf(error: unknown, { commandLine, node, platform, at }: Circumstances): string {
  const lines = [
    `kvup ${kvupVersion}, Node ${node}, ${platform} ${release()}, ${at.toISOString()}`,
    commandLine,
    ...causes(error),
  ]
  return `${sanitise(redactBody(lines.join('\n'), ''))}\n`
}

function causes(error: unknown): string[] {
  if (!(error instanceof Error)) return [String(error)]
  const text = error.stack ?? error.message
  return error.cause === undefined ? [text] : [text, 'caused by', ...causes(error.cause)]
}

/**
 * Writes a file that only this user can read. Killed, or the disk full: there is the whole file or none. A link stays one, and what is no
 * file (a pipe, a device) is written into and never replaced. Throws what the file system says.
 */
export async function writeWhole(file: string, text: string): Promise<void> {
  const there = statSync(file, { throwIfNoEntry: false })
  if (there !== undefined && !there.isFile()) return writeFileSync(file, text)
  const target = there ? realpathSync(file) : file
  const begun = `${target}.${randomUUID()}.part`
  try {
    writeFileSync(begun, text, { mode: 0o600, flag: 'wx' })
    renameSync(begun, target)
  } catch (error) {
    rmSync(begun, { force: true })
    throw error
  }
}
