import type { Context } from '../../src/context.ts'
import type { Beat, Clock } from '../../src/lib/kube/clock.ts'
import type { Cluster } from '../../src/lib/kube/cluster.ts'
import { interrupted } from '../../src/lib/kube/errors.ts'
import { shellWord } from '../../src/lib/kube/shell-line.ts'
import type { Prompt } from '../../src/lib/kube/world.ts'
import { commandSpeech } from '../../src/lib/output/command-line.ts'
import { openPrinter, printerWithConnectionFlags } from '../../src/lib/output/open-printer.ts'
import { openPrompt } from '../../src/lib/output/prompt.ts'
import { main } from '../../src/main.ts'
import type { SimClock } from '../../src/simulator/simulated-clock.ts'
import type { Terminal } from './terminal.ts'

/** Where a command runs: a simulated cluster, its time, and a terminal. */
export interface Place {
  terminal: Terminal
  cluster: Cluster
  /** It stands still while somebody is asked. */
  time: SimClock
  /** The printer's; default `time`. */
  wall?: Clock
  files: Readonly<Record<string, string>>
  /** What a person does who is asked; `leave` is Ctrl-C. Absent: nobody is there. */
  onQuestion?: (leave: () => void) => Promise<void>
  /** Ctrl-C is pressed then, in ms of `time` after the start. Absent: never. */
  interruptedAfter?: number
}

type Flags = Context['flags']

interface AtTerminal {
  cx: Context
  readonly finish: (error?: unknown) => Promise<void>
}

/** Types a line at the prompt of a shell, runs it to its end, and leaves the next prompt. Returns the exit code. */
export async function type(argv: readonly string[], place: Place): Promise<number> {
  const io = {
    stdout: place.terminal.stdout,
    stderr: place.terminal.stdout,
    argv: ['node', 'kvup'],
    env: terminalEnv,
  }
  return atPrompt(argv, place, () =>
    main(argv, io, (command, called) =>
      contextAt(place, command.optsWithGlobals<Flags>(), { watch: called.watch, kind: called.kind, argv }),
    ),
  )
}

/** The same for what is no command line of its own. */
export async function act(
  argv: readonly string[],
  place: Place,
  run: (cx: Context) => Promise<number>,
): Promise<number> {
  const flags: Flags = { output: 'table', verbosity: 0, yes: true, color: 'auto', headers: true }
  return atPrompt(argv, place, async () => {
    const { cx, finish } = await contextAt(place, flags, { watch: false, kind: 'Error', argv })
    try {
      const code = await run(cx)
      await finish()
      return code
    } catch (error) {
      await finish(error)
      return error instanceof Error && 'exitCode' in error ? Number(error.exitCode) : 1
    }
  })
}

async function atPrompt(
  argv: readonly string[],
  { terminal }: Place,
  run: () => Promise<number>,
): Promise<number> {
  terminal.stdout.write(`\u001b[2J\u001b[H$ ${['kvup', ...argv.map(shellWord)].join(' ')}\n`)
  const code = await run()
  terminal.stdout.write('$ ')
  return code
}

const terminalEnv = { TERM: 'tmux-256color', LANG: 'C.UTF-8', HOME: '/nonexistent' }

async function contextAt(
  place: Place,
  flags: Flags,
  called: { watch: boolean; kind: string; argv: readonly string[] },
): Promise<AtTerminal> {
  const { terminal, cluster, time, files, wall = time } = place
  const stream = {
    write: (text: string) => void terminal.stdout.write(text),
    isTTY: true,
    columns: () => terminal.stdout.columns,
    rows: () => terminal.stdout.rows,
  }
  const screen = await openPrinter({
    stdout: stream,
    stderr: stream,
    output: flags.output,
    headers: true,
    color: 'auto',
    env: terminalEnv,
    clock: wall,
    watch: called.watch,
    failureKind: called.kind,
    beat: beatOf(wall instanceof OneMoment ? time : wall),
  })
  const printer = printerWithConnectionFlags(screen, commandSpeech({ name: 'kvup', connection: [] }))
  const ending = new AbortController()
  const interrupt = () => ending.abort(interrupted('SIGINT'))
  if (place.interruptedAfter !== undefined) void time.sleep(place.interruptedAfter).then(interrupt)
  const { stdin, questions } = terminal
  const asking = {
    yes: flags.yes,
    stdin,
    stderr: questions,
    signal: ending.signal,
    suspend: printer.live.suspend,
    typed: typedAs(called.argv),
  }
  const cx: Context = {
    cluster: async () => cluster,
    elsewhere: () => ({ cluster: async () => cluster, clock: wall }),
    clock: wall,
    printer,
    prompt: standingStill(openPrompt(asking), place, ending),
    signal: ending.signal,
    flags,
    world: {
      who: 'root@jump',
      pid: 4711,
      host: 'jump',
      machine: 'jump',
      version: '0.1.0',
      commandLine: typedAs(called.argv),
      isAlive: () => true,
      env: terminalEnv,
      readText: async (file) => {
        const text = files[file]
        if (text !== undefined) return text
        throw Object.assign(new Error('there is no such file'), { code: 'ENOENT' })
      },
      writeText: async () => undefined,
      readStdin: async () => '',
      scratchFile: (name) => name,
      randomSuffix: () => '0a1b2c3d',
    },
  }
  return { cx, finish: async (error) => printer.finish(error) }
}

/** Time that stands still but for what the command itself sleeps: one that only reads is at one moment of its cluster, however long it takes. */
export class OneMoment implements Clock {
  readonly #time: SimClock
  #goOn: () => void = () => undefined

  constructor(time: SimClock) {
    this.#time = time
    this.#hold()
  }

  now(): Date {
    return this.#time.now()
  }

  async sleep(ms: number, signal?: AbortSignal): Promise<void> {
    const slept = this.#time.sleep(ms, signal)
    this.#goOn()
    try {
      await slept
    } finally {
      this.#hold()
    }
  }

  over(): void {
    this.#goOn()
  }

  #hold(): void {
    this.#goOn()
    const { promise, resolve } = Promise.withResolvers<void>()
    void this.#time.during(promise)
    this.#goOn = resolve
  }
}

/** The seconds of the simulated time redraw the terminal, no more often than one by one. */
function beatOf(clock: Clock): Beat {
  return (ms, beat) => {
    const end = new AbortController()
    const beats = async () => {
      for (;;) {
        await clock.sleep(Math.max(1000, ms), end.signal)
        beat()
      }
    }
    beats().catch(() => undefined)
    return () => end.abort()
  }
}

/** Every kind of question: time stands still while somebody looks at it. */
function standingStill(prompt: Prompt, { time, onQuestion }: Place, ending: AbortController): Prompt {
  const held = Object.entries(prompt).map(
    ([name, ask]: [string, (...words: unknown[]) => Promise<unknown>]) => [
      name,
      (...words: unknown[]) => {
        if (onQuestion === undefined) return ask(...words)
        const asked = ask(...words)
        const seen = onQuestion(() => ending.abort(interrupted('SIGINT')))
        return time.during(Promise.all([asked, seen]).then(([answer]) => answer))
      },
    ],
  )
  return Object.fromEntries(held) as Prompt
}

const typedAs = (argv: readonly string[]): string => ['kvup', ...argv.map(shellWord)].join(' ')
