import type { Context } from '../../src/context.ts'
import type { PodIdentity } from '../../src/lib/kube/world.ts'
import type { Cluster } from '../../src/lib/kube/cluster.ts'
import { openPrinter } from '../../src/lib/output/open-printer.ts'
import { main } from '../../src/main.ts'
import type { Clock } from '../../src/lib/kube/clock.ts'

/** Where a command runs: on a simulated cluster, or on a cluster from a file, which is read only. */
export interface Place {
  cluster: Cluster
  clock: Clock
  /** The release's operator manifest, for `--manifest -`. */
  stdin?: string
  /** What `readText` finds. */
  files?: Readonly<Record<string, string>>
  /** Told of what `writeText` writes. */
  onWrite?: (file: string, text: string) => unknown
  /** A UTF-8 terminal that is so wide; a pipe without. */
  columns?: number
  /** Default: never; auto as on a command line without --color. */
  color?: 'auto' | 'never'
  /** What every question is answered; default yes. */
  answer?: boolean
  /** What a person on a terminal answers where a flag would decide as well; absent: there is none. */
  decide?: (question: string) => boolean
  /** In place of `answer` and `decide`. */
  prompt?: Context['prompt']
  /** Of the environment what output obeys. */
  env?: Readonly<Record<string, string>>
  /** Absent: nobody interrupts. */
  signal?: AbortSignal
  /** What a command that is run beside kvup ends with. */
  run?: () => Promise<number>
  /** The pod that it runs in. */
  pod?: PodIdentity
  /** What names of what it makes end with. */
  suffix?: string
  /** Told of each write to stdout. */
  onOut?: (text: string) => void
}

/** Runs a whole command line in this process, and gives what it printed. */
export async function runText(
  argv: readonly string[],
  {
    cluster,
    clock,
    stdin,
    files = {},
    columns,
    color = 'never',
    answer = true,
    decide,
    prompt: asked,
    env = {},
    signal = new AbortController().signal,
    onOut,
    run,
    onWrite,
    pod,
    suffix = '0a1b2c3d',
  }: Place,
) {
  let out = ''
  let err = ''
  const stdout = {
    write: (text: string) => {
      out += text
      onOut?.(text)
    },
  }
  const stderr = { write: (text: string) => (err += text) }
  const code = await main(argv, { stdout, stderr }, async (command, called) => {
    const flags = command.optsWithGlobals<Context['flags']>()
    const printer = await openPrinter({
      stdout: { write: stdout.write, ...(columns && { isTTY: true, columns: () => columns }) },
      stderr: { write: stderr.write },
      output: flags.output,
      headers: true,
      color,
      env: { ...env, ...(columns !== undefined && { LANG: 'C.UTF-8' }) },
      clock,
      watch: called.watch,
      failureKind: called.kind,
      formats: called.formats,
      making: called.making,
      command: `kvup ${called.command}`,
      quiet: flags.quiet ?? false,
      beat: () => () => undefined,
    })
    const world = {
      who: pod === undefined ? 'admin@host' : `${pod.namespace}@${pod.name}`,
      pid: 1,
      host: 'host',
      machine: 'host',
      version: '0.0.0',
      commandLine: ['kvup', ...argv].join(' '),
      isAlive: () => true,
      env: {},
      readText: async (file: string) => {
        const text = files[file]
        if (text !== undefined) return text
        throw Object.assign(new Error('there is no file'), { code: 'ENOENT' })
      },
      writeText: async (file: string, text: string) => void onWrite?.(file, text),
      readStdin: async () => stdin ?? '',
      scratchFile: (name: string) => name,
      randomSuffix: () => suffix,
      ...(run && { run }),
      ...(pod && { pod }),
    }
    const prompt = asked ?? {
      confirm: async () => answer,
      ...(decide && { isAttended: true, decide: async (question: string) => decide(question) }),
    }
    const elsewhere = () => ({ cluster: async () => cluster, clock })
    const cx: Context = {
      cluster: elsewhere().cluster,
      elsewhere,
      clock,
      printer,
      prompt,
      signal,
      flags,
      world,
    }
    return { cx, finish: async (error) => printer.finish(error) }
  })
  return { code, out, err }
}
