import { spawn } from 'node:child_process'
import { createWriteStream } from 'node:fs'
import path from 'node:path'
import type { Lab } from './lab.ts'

const program = path.resolve(import.meta.dirname, '../../bin/kvup.js')

export interface Outcome {
  /** As a shell would say it: 128 + n when signal n killed it. */
  code: number
  stdout: string
  stderr: string
  tookMs: number
  /** Milliseconds since 1970. */
  endedAt: number
}

export interface Running {
  readonly pid: number
  readonly ended: Promise<Outcome>
  /** The first line, on either stream, that matches; the last ones too if it was printed already. Rejects when it ends before. */
  line(pattern: RegExp): Promise<string>
  signal(name: NodeJS.Signals): void
}

export interface KvupOptions {
  /** Default: the lab's admin. */
  kubeconfig?: string
  env?: Readonly<Record<string, string>>
  /** Under this host name, as on another machine. Needs root, or user namespaces. */
  host?: string
  /** Default: the lab's folder. */
  cwd?: string
  /** What is started in place of the built program: the file of `npm run package`. */
  program?: readonly string[]
}

const signalNumbers: Partial<Record<NodeJS.Signals, number>> = { SIGINT: 2, SIGKILL: 9, SIGTERM: 15 }
let runs = 0

/** Starts the built program against the lab. What it says is kept under the lab's `kvup/`, with times. */
export function startKvup(lab: Lab, args: readonly string[], options: KvupOptions = {}): Running {
  const started = options.program ?? [process.execPath, program]
  return follow(lab, [...onHost(options.host), ...started, ...args], options)
}

/** In place of a shell's exec the host name is set first, so that the process that is signalled is kvup. */
const onHost = (host: string | undefined): readonly string[] =>
  host === undefined ? [] : ['unshare', ...ownHost, 'sh', '-c', 'hostname "$0" && exec "$@"', host]

const ownHost = process.getuid?.() === 0 ? ['--uts'] : ['--user', '--map-root-user', '--uts']

function follow(lab: Lab, [command = '', ...args]: readonly string[], options: KvupOptions): Running {
  const began = Date.now()
  let endedAt = began
  const child = spawn(command, args, {
    cwd: options.cwd ?? lab.dir,
    stdio: ['ignore', 'pipe', 'pipe'],
    env: {
      PATH: process.env['PATH'],
      HOME: lab.dir,
      KUBECONFIG: options.kubeconfig ?? lab.kubeconfig,
      ...options.env,
    },
  })
  const log = createWriteStream(path.join(lab.dir, 'kvup', `${++runs}.log`))
  log.write(`${[command, ...args].join(' ')}\n`)
  const seconds = () => ((Date.now() - began) / 1000).toFixed(1).padStart(6)
  const said: string[] = []
  const listeners = new Set<(line: string) => void>()
  const gather = (stream: NodeJS.ReadableStream, name: string) => {
    let text = ''
    let rest = ''
    stream.setEncoding('utf8').on('data', (chunk: string) => {
      text += chunk
      const lines = (rest + chunk).split('\n')
      rest = lines.pop() ?? ''
      for (const line of lines) {
        log.write(`${seconds()} ${name} ${line}\n`)
        said.push(line)
        for (const listener of listeners) listener(line)
      }
    })
    return () => text
  }
  const stdout = gather(child.stdout, 'out')
  const stderr = gather(child.stderr, 'err')
  const ended = new Promise<Outcome>((resolve, reject) => {
    child.on('error', reject)
    child.on('exit', () => (endedAt = Date.now()))
    child.on('close', (code, signal) => {
      const number = code ?? 128 + (signal ? (signalNumbers[signal] ?? 0) : 0)
      log.end(`${seconds()} exit ${number}\n`)
      resolve({ code: number, stdout: stdout(), stderr: stderr(), tookMs: endedAt - began, endedAt })
    })
  })
  return {
    pid: child.pid ?? 0,
    ended,
    line: (pattern) => {
      const before = said.find((line) => pattern.test(line))
      if (before !== undefined) return Promise.resolve(before)
      const next = new Promise<string>((resolve) => {
        listeners.add((line) => {
          if (pattern.test(line)) resolve(line)
        })
      })
      const never = ended.then(({ code, stderr: story }) => {
        throw new Error(`kvup ended with ${code} before it said ${pattern}:\n${story}`)
      })
      return Promise.race([next, never])
    },
    signal: (name) => {
      child.kill(name)
    },
  }
}

/** Runs the built program to its end. */
export function kvup(lab: Lab, args: readonly string[], options: KvupOptions = {}): Promise<Outcome> {
  return startKvup(lab, args, options).ended
}

/** A command line in bash, where `kvup` is the built program: what a person does with a line that was printed. */
export function startPasted(lab: Lab, line: string, options: KvupOptions = {}): Running {
  return follow(
    lab,
    ['bash', '-c', `kvup() { exec '${process.execPath}' '${program}' "$@"; }; ${line}`],
    options,
  )
}

export const paste = (lab: Lab, line: string): Promise<Outcome> => startPasted(lab, line).ended

/** The last command in a text that looks like `pattern`, without the words that explain it. */
export function suggestion(text: string, pattern: RegExp): string {
  const commands = text.split('\n').map((line) =>
    line
      .slice(Math.max(0, line.indexOf('kvup ')))
      .replace(/\s{3,}.*$/, '')
      .trim(),
  )
  const found = commands.findLast((command) => pattern.test(command))
  if (found === undefined) throw new Error(`no command like ${pattern} in:\n${text}`)
  return found
}
