import type { Cluster } from './cluster.ts'
import type { Clock } from './clock.ts'

/** A pod, as its own environment names it (downward API). */
export interface PodIdentity {
  namespace: string
  name: string
  uid: string
}

/** What of this process a command may know. */
export interface World {
  /** `user@host`, for journal and lock. */
  readonly who: string
  readonly pid: number
  readonly host: string
  /** Whose processes `isAlive` knows: see `Holder`. */
  readonly machine: string | undefined
  /** The pod that this process is in. Absent outside of one, and where the environment does not say. */
  readonly pod?: PodIdentity
  readonly version: string
  /** As it was typed, quoted so that it works when pasted: what resumes it. */
  readonly commandLine: string
  isAlive(pid: number): boolean
  readonly env: Readonly<Record<string, string | undefined>>
  readText(file: string): Promise<string>
  /** Makes a file that only this user can read: all of it or nothing. */
  writeText(file: string, text: string): Promise<void>
  readStdin(): Promise<string>
  /** What no name in a cluster ends with: eight letters and digits, others each time. */
  randomSuffix(): string
  /** A path in a folder of its own that is removed when the process ends. */
  scratchFile(name: string): string
}

/** One of several things to choose from. */
export interface Choice {
  value: string
  /** What a person reads. */
  name: string
}

/** A question to a person. Nobody there to answer is a usage error that names the flag. */
export interface Prompt {
  /** A person is at the terminal and may be asked: `--yes` was not given. Absent: nobody is there. */
  readonly isAttended?: boolean
  /** `--yes` answers with true. `line`: what to type where nobody can be asked, in place of what was typed. */
  confirm(question: string, line?: string): Promise<boolean>
  /** What only a person can say: `--yes` is no answer. Undefined where there is nobody to ask. */
  decide?(question: string): Promise<boolean | undefined>
  /** Any of them, none included, chosen from a list. Undefined where there is nobody to ask; `--yes` chooses nothing. */
  chooseSome?(question: string, choices: readonly Choice[]): Promise<readonly string[] | undefined>
  /** One of them, the first unless a person moves on. Undefined where there is nobody to ask; `--yes` chooses nothing. */
  chooseOne?(question: string, choices: readonly Choice[]): Promise<string | undefined>
}

/** What lib may know of the command that runs, and say for it: a `Context` without its document printer and its other flags. */
export interface CommandContext {
  /** Opened at the first call. Throws `unreachable`, `usage` (no such context). */
  cluster(): Promise<Cluster>
  readonly clock: Clock
  /** Lines of the story, as they come. */
  readonly printer: {
    note(line: string): void
    warn(line: string): void
    /** What is waited for until the next line; nobody has to show it. */
    awaiting?(what: string): void
  }
  readonly prompt: Prompt
  /** Aborted by Ctrl-C, SIGTERM and SIGHUP; the reason is a KvupError with the exit code. */
  readonly signal: AbortSignal
  readonly flags: { readonly namespace?: string; readonly yes: boolean }
  readonly world: World
}
