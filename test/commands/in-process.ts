import { AsyncLocalStorage } from 'node:async_hooks'
import { EventEmitter } from 'node:events'
import { Readable } from 'node:stream'
import { main } from '../../src/main.ts'
import { shellWords } from '../scenario/shell-words.ts'
import {
  bin,
  type Ended,
  environment,
  kvup as processOf,
  paste as pasteInShell,
  type Setting,
} from './built/program.ts'

/** The process that a run in this process believes it has; what it does not name is the real one's. */
type Played = Record<string | symbol, unknown>

const played = new AsyncLocalStorage<Played>()
const real = globalThis.process

/** `process`, as each run of `kvup` below sees it: several may be under way. */
const seen = new Proxy(real, {
  get(_, name) {
    const own = played.getStore()
    if (own && name in own) return own[name]
    const value: unknown = Reflect.get(real, name, real)
    return typeof value === 'function' ? value.bind(real) : value
  },
  set(_, name, value) {
    const own = played.getStore()
    return own ? Reflect.set(own, name, value) : Reflect.set(real, name, value, real)
  },
})

/**
 * A whole command line with the real adapters of src/open.ts and sockets, without a process of its own, which takes twenty times as long: for all that is no question of signals,
 * terminals, broken pipes or how a program is loaded. Nobody types, and nothing is a terminal. Options of Node that are asked for take a process all the same.
 */
export async function kvup(argv: readonly string[], setting: Setting = {}): Promise<Ended> {
  if (setting.cwd !== undefined || setting.env?.['NODE_OPTIONS'] !== undefined)
    return processOf(argv, setting)
  const began = performance.now()
  const said = { stdout: '', stderr: '' }
  const events = new EventEmitter().setMaxListeners(0)
  const { promise: left, resolve: leave } = Promise.withResolvers<number>()
  const own: Played = {
    argv: [real.execPath, setting.bin ?? bin, ...argv],
    env: environment(setting),
    stdout: stream((text) => (said.stdout += text)),
    stderr: stream((text) => (said.stderr += text)),
    stdin: Readable.from(setting.stdin ? [setting.stdin] : []),
    exitCode: undefined,
    exit: (code?: number) => leave(code ?? Number(own['exitCode'] ?? 0)),
    ...Object.fromEntries(
      (['on', 'once', 'off', 'removeListener', 'listenerCount'] as const).map((name) => [
        name,
        (...args: unknown[]) => Reflect.apply(events[name] as () => unknown, events, args),
      ]),
    ),
  }
  globalThis.process = seen
  const run = played.run(own, () => main(argv, own as unknown as typeof real))
  const code = await Promise.race([run, left])
  events.emit('exit', code)
  return { code, signal: null, ...said, ms: performance.now() - began }
}

/** A line as kvup printed it; one that is no plain command of kvup goes to a shell. */
export function paste(line: string, setting: Setting = {}): Promise<Ended> {
  const [program, ...argv] = plainWords(line)
  return program === 'kvup' ? kvup(argv, setting) : pasteInShell(line, setting)
}

function plainWords(line: string): string[] {
  try {
    return shellWords(line)
  } catch {
    return []
  }
}

function stream(write: (text: string) => void) {
  return Object.assign(new EventEmitter(), {
    write(text: string | Uint8Array, ...rest: unknown[]) {
      write(String(text))
      for (const one of rest) if (typeof one === 'function') one()
      return true
    },
  })
}
