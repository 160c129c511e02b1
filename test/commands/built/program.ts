import { spawn } from 'node:child_process'
import { setTimeout as pause } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'

/** The program as it is installed: bin/ starts what `npm run build` made. */
export const bin = fileURLToPath(new URL('../../../bin/kvup.js', import.meta.url))

/** A test fails on a process that hangs, and leaves none behind. */
const longest = 45_000

export interface Setting {
  kubeconfig?: string
  env?: Readonly<Record<string, string>>
  /** What it reads from standard input, nothing by default; `open`: what `type` says. */
  stdin?: string
  cwd?: string
  /** Another name to be called by: `kubectl-kvup`. */
  bin?: string
  /** ms after which it counts as one that hangs; 45,000 by default. */
  longest?: number
}

export interface Ended {
  code: number | null
  signal: NodeJS.Signals | null
  stdout: string
  stderr: string
  /** From its start to its end. */
  ms: number
}

/** A process that lives: what it has said so far, and what can be done to it. */
export interface Live {
  readonly pid: number
  readonly ended: Promise<Ended>
  said(): { stdout: string; stderr: string }
  /** Waits until stderr matches; rejects when the process ends first. */
  until(pattern: RegExp, from?: 'stdout' | 'stderr'): Promise<void>
  kill(signal: NodeJS.Signals): void
  closeStdout(): void
  /** Into its standard input. */
  type(text: string): void
}

/** Runs it to its end. */
export function kvup(argv: readonly string[], setting: Setting = {}): Promise<Ended> {
  return startKvup(argv, setting).ended
}

export function startKvup(argv: readonly string[], setting: Setting = {}): Live {
  return startProcess(process.execPath, [setting.bin ?? bin, ...argv], setting)
}

/** A line as kvup printed it, pasted into a shell: there `kvup` is this program. */
export function paste(line: string, setting: Setting = {}): Promise<Ended> {
  const script = `kvup() { "${process.execPath}" "${bin}" "$@"; }\n${line}`
  return startProcess('/bin/sh', ['-c', script], setting).ended
}

/** Any program, in the surroundings of a test: no terminal, no configuration of this machine. */
export function startProcess(file: string, argv: readonly string[], setting: Setting): Live {
  const began = performance.now()
  const child = spawn(file, argv, { env: environment(setting), cwd: setting.cwd, stdio: 'pipe' })
  const overdue = setTimeout(() => child.kill('SIGKILL'), setting.longest ?? longest)
  const said = { stdout: '', stderr: '' }
  child.stdout.setEncoding('utf8').on('data', (text: string) => (said.stdout += text))
  child.stderr.setEncoding('utf8').on('data', (text: string) => (said.stderr += text))
  child.stdin.on('error', () => undefined)
  if (setting.stdin !== 'open') child.stdin.end(setting.stdin ?? '')
  const ended = new Promise<Ended>((resolve, reject) => {
    child.on('error', reject)
    child.on('close', (code, signal) => {
      clearTimeout(overdue)
      resolve({ code, signal, ...said, ms: performance.now() - began })
    })
  })
  return {
    pid: child.pid ?? 0,
    ended,
    said: () => ({ ...said }),
    async until(pattern, from = 'stderr') {
      while (!pattern.test(said[from])) {
        const over = await Promise.race([ended, pause(10)])
        if (over && !pattern.test(said[from]))
          throw new Error(`ended with ${over.code} before ${pattern}:\n${over.stdout}${over.stderr}`)
      }
    },
    kill: (signal) => void child.kill(signal),
    closeStdout: () => child.stdout.destroy(),
    type: (text) => void child.stdin.write(text),
  }
}

/** Of this process only what starts programs; the rest is the test's. */
export function environment({ kubeconfig, env }: Setting): Record<string, string> {
  return {
    PATH: process.env['PATH'] ?? '',
    HOME: '/nonexistent',
    LANG: 'C.UTF-8',
    ...(process.env['NODE_COMPILE_CACHE'] && { NODE_COMPILE_CACHE: process.env['NODE_COMPILE_CACHE'] }),
    ...(kubeconfig !== undefined && { KUBECONFIG: kubeconfig }),
    ...env,
  }
}
