import type { Command } from 'commander'
import { expect, test } from 'vitest'
import { program } from '../../src/cli.ts'
import { main } from '../../src/main.ts'

/** What a whole line ends with that must not get as far as a cluster. */
async function ended(argv: readonly string[]) {
  let err = ''
  const io = { stdout: { write: () => undefined }, stderr: { write: (text: string) => (err += text) } }
  const code = await main(argv, io, async () => {
    throw new Error('it was let through')
  })
  return { code, err }
}

const root = await program('kvup', () => async () => undefined, 'all')

/** Each command that does something, with its words. */
function leaves(command: Command, words: readonly string[] = []): [string[], Command][] {
  const own: [string[], Command][] = command.commands.length === 0 ? [[[...words], command]] : []
  return [...own, ...command.commands.flatMap((child) => leaves(child, [...words, child.name()]))]
}

const takesValue = ({ options }: Command) => options.filter(({ required }) => required)

test('an empty value, as an unset variable of a script leaves it, is exit 2 for every flag of every command', async () => {
  const lines = leaves(root)
    .filter(([words]) => !words[0]?.startsWith('__') && words[0] !== 'options')
    .flatMap(([words, command]) => takesValue(command).map(({ long = '' }) => words.concat(long, '')))
  expect(lines.length).toBeGreaterThan(150)
  for (const line of lines) {
    const { code, err } = await ended(line)
    expect([line.join(' '), code]).toEqual([line.join(' '), 2])
    expect(err).toMatch(/ is empty$| argument '' is invalid| missing required argument|required option/mu)
  }
})

test('so it is for the flags of the connection and of the output', async () => {
  const judgedAlone = new Set(['--color', '--verbosity'])
  for (const { short, long = '' } of takesValue(root)) {
    const { code, err } = await ended(['status', long, ''])
    const words = judgedAlone.has(long) ? `error: option '` : `error: ${short ?? long} is empty\n`
    expect([long, code, err]).toEqual([long, 2, expect.stringContaining(words)])
  }
  expect((await ended(['status', '--context='])).err).toBe(
    'error: --context is empty\n  leave --context out, or set the variable that its value comes from\n',
  )
})

test('as for kubectl, all namespaces win over an empty one', async () => {
  expect((await ended(['workloads', 'outdated', '-n', ''])).err).toContain('error: -n is empty')
  expect((await ended(['workloads', 'outdated', '-A', '-n', ''])).err).toContain('it was let through')
})
