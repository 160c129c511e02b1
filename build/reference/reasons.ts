import { readdirSync, readFileSync } from 'node:fs'
import { exitCode } from '../../src/lib/kube/errors.ts'

const makers = {
  usageError: exitCode.usage,
  cannotRead: exitCode.usage,
  blocked: exitCode.blocked,
  timedOut: exitCode.timedOut,
  drifted: exitCode.drifted,
  locked: exitCode.locked,
  forbidden: exitCode.forbidden,
  unreachable: exitCode.unreachable,
  lost: exitCode.lost,
} as const

const made = new RegExp(`(?<![\\w.])(${Object.keys(makers).join('|')})\\(\\s*'([a-z0-9-]+)'`, 'gu')
/** Of a step that is blocked. */
const stops = /\bis: 'blocked',\s*reason: '([a-z0-9-]+)'/gu

/** Those that are worked out where they are thrown. */
const others: Readonly<Record<string, readonly number[]>> = {
  bug: [exitCode.bug],
  'cluster-unknown': [exitCode.usage],
  'context-unknown': [exitCode.usage],
  'user-unknown': [exitCode.usage],
  'hyperconverged-deleting': [exitCode.blocked],
  'hyperconverged-gone': [exitCode.blocked],
  'hyperconverged-replaced': [exitCode.blocked],
  'kubevirt-deleting': [exitCode.blocked],
  'kubevirt-gone': [exitCode.blocked],
  'kubevirt-replaced': [exitCode.blocked],
  interrupted: [exitCode.interrupted, exitCode.terminated],
  refused: [exitCode.blocked],
  unauthorized: [exitCode.forbidden],
  unreachable: [exitCode.unreachable],
  usage: [exitCode.usage],
}

/** Every `error.reason` with the exit codes that it comes with, from the code that throws it: what `kvup explain` takes besides the names of docs/checks.md. */
export function errorReasons(): string {
  const found = new Map(Object.entries(others).map(([name, codes]) => [name, new Set(codes)]))
  const add = (name: string, code: number) => found.set(name, (found.get(name) ?? new Set()).add(code))
  for (const file of readdirSync('src', { recursive: true, encoding: 'utf8' }).toSorted()) {
    if (!file.endsWith('.ts') || file.startsWith('simulator')) continue
    const text = readFileSync(`src/${file}`, 'utf8')
    for (const [, maker = '', name = ''] of text.matchAll(made))
      add(name, makers[maker as keyof typeof makers])
    for (const [, name = ''] of text.matchAll(stops)) if (!found.has(name)) add(name, exitCode.blocked)
  }
  const sorted = [...found].toSorted(([a], [b]) => (a < b ? -1 : 1))
  const lines = sorted.map(([name, codes]) => `  ${JSON.stringify(name)}: [${[...codes].join(', ')}]`)
  return `{\n${lines.join(',\n')}\n}\n`
}
