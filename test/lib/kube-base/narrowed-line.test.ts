import type { Command } from 'commander'
import { expect, test } from 'vitest'
import { program } from '../../../src/cli.ts'
import {
  canNarrow,
  narrowedBy,
  type NarrowedCommand,
  narrowedLine,
} from '../../../src/lib/output/kvup-words.ts'

const root = await program('kvup', () => async () => undefined, 'all')

function commandAt(line: string): Command | undefined {
  const path = line.split(' ').filter((word) => !word.startsWith('--'))
  return path
    .slice(1)
    .reduce<Command | undefined>((at, name) => at?.commands.find((one) => one.name() === name), root)
}

test.each(Object.entries(narrowedBy))('%s is narrowed by the flags that it has', (line, by) => {
  const own = commandAt(line)?.options.map(({ long }) => long) ?? []
  expect([...by]).toEqual([
    'namespace',
    ...(own.includes('--selector') ? ['labels'] : []),
    ...(own.includes('--node') ? ['node'] : []),
  ])
})

const asked = { namespace: 'demo', labels: 'app=db,tier!=test', node: 'worker-1' }

test.each<[NarrowedCommand, string]>([
  ['kvup workloads update', "kvup workloads update -n demo -l 'app=db,tier!=test' --node worker-1"],
  ['kvup workloads restart', "kvup workloads restart -n demo -l 'app=db,tier!=test'"],
  ['kvup workloads unblock --all', 'kvup workloads unblock --all -n demo'],
])('%s as it is pasted, as narrow as it can be', (command, line) => {
  expect(narrowedLine(command, asked)).toBe(line)
  expect(narrowedLine(command, {})).toBe(command)
})

test('what cannot be kept to the VMs that were asked for is known', () => {
  expect(canNarrow('kvup workloads unblock --all', { namespace: 'demo' })).toBe(true)
  expect(canNarrow('kvup workloads unblock --all', { namespace: 'demo', labels: 'app=db' })).toBe(false)
  expect(canNarrow('kvup workloads update', asked)).toBe(true)
})
