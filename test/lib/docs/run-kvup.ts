import type { Context } from '../../../src/context.ts'
import type { Cluster } from '../../../src/lib/cluster/cluster.ts'
import { openPrinter } from '../../../src/lib/output/open-printer.ts'
import { main } from '../../../src/main.ts'
import type { Clock } from '../../../src/lib/system/clock.ts'

/** Where a command runs: on a simulated cluster, or on a cluster from a file, which is read only. */
export interface Place {
  cluster: Cluster
  clock: Clock
  /** The release's operator manifest, for `--manifest -`. */
  stdin?: string
}

/** Runs a whole command line in this process, and gives what it printed on stdout, parsed, line by line for ndjson. */
export async function runKvup(argv: readonly string[], { cluster, clock, stdin }: Place) {
  let out = ''
  const stdout = { write: (text: string) => (out += text) }
  const stderr = { write: () => true }
  const code = await main(argv, { stdout, stderr }, async (command, called) => {
    const flags = command.optsWithGlobals<Context['flags']>()
    const printer = await openPrinter({
      stdout: { write: stdout.write },
      stderr: { write: () => undefined },
      output: flags.output,
      headers: true,
      color: 'never',
      env: {},
      clock,
      watch: called.watch,
      failureKind: called.kind,
      beat: () => () => undefined,
    })
    const world = {
      who: 'admin@host',
      pid: 1,
      host: 'host',
      version: '0.0.0',
      commandLine: argv.join(' '),
      isAlive: () => true,
      env: {},
      readText: async () => Promise.reject(Object.assign(new Error('there is no file'), { code: 'ENOENT' })),
      writeText: async () => undefined,
      readStdin: async () => stdin ?? '',
      scratchFile: (name: string) => name,
    }
    const prompt = { confirm: async () => true }
    const signal = new AbortController().signal
    const cx: Context = { cluster: async () => cluster, clock, printer, prompt, signal, flags, world }
    return { cx, finish: async (error) => printer.finish(error) }
  })
  return { code, documents: parsed(out, argv.includes('ndjson')) }
}

function parsed(out: string, byLine: boolean): { kind: string }[] {
  const texts = byLine ? out.trimEnd().split('\n') : [out]
  return texts.map((text) => JSON.parse(text) as { kind: string })
}
