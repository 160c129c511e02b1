import type { Cluster } from './lib/kube/cluster.ts'
import type { Connection } from './lib/kube/http/target.ts'
import type { Printer } from './lib/output/printer.ts'
import type { Prompt, World } from './lib/kube/world.ts'
import type { Clock } from './lib/kube/clock.ts'
import type { ExitCode } from './lib/kube/errors.ts'

/** Everything a command may touch besides its own options. Tests build one by hand. */
export interface Context {
  /** Opened at the first call, so that `--help` never reads a kubeconfig. Throws `unreachable`, `usage` (no such context). */
  cluster(): Promise<Cluster>
  /** Another cluster, opened at the first call, with the flags of this one but for these, and what its time is. `ending` cuts what is asked of it. */
  elsewhere(
    connection: Partial<Connection>,
    heard: { warn: (line: string) => void; ending: AbortSignal },
  ): Pick<Context, 'cluster' | 'clock'>
  readonly clock: Clock
  readonly printer: Printer
  readonly prompt: Prompt
  /** Aborted by Ctrl-C, SIGTERM and SIGHUP; the reason is a KvupError with the exit code. */
  readonly signal: AbortSignal
  readonly flags: GlobalFlags
  readonly world: World
}

/** Flags of every command: kubectl's connection flags, output and manners. */
export interface GlobalFlags extends Connection {
  namespace?: string
  output: string
  headers: boolean
  sortBy?: string
  color: 'auto' | 'always' | 'never'
  yes: boolean
  /** False with `--no-input`; absent: true. */
  input?: boolean
  verbosity: number
  /** `-q`: the verdict and errors alone; nobody is asked. */
  quiet?: boolean
  logFile?: string
  /** `--verbose`; absent: false. */
  verbose?: boolean
}

/** What a command does: options and positional arguments in (a list for `[name...]`), an exit code out (none is 0). */
export type Run<O, A extends (string | string[])[]> = (
  cx: Context,
  options: O,
  ...args: A
) => Promise<ExitCode | void>

/** Turns a `Run` into a commander action; `main` supplies it. */
export type Wire = <O, A extends (string | string[])[]>(
  run: Run<O, A>,
) => (...all: unknown[]) => Promise<void>

declare const KVUP_VERSION: string | undefined

/** Of kvup itself; written in by the build. */
export const kvupVersion: string = typeof KVUP_VERSION === 'undefined' ? '0.0.0-source' : KVUP_VERSION
