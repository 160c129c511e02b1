import { describe, expect, test } from 'vitest'
import {
  type CommandTree,
  complete,
  completionLines,
  tellable,
  typedOptions,
  wanted,
} from '../../../src/lib/output/completion/completion.ts'
import { completionScript, shells } from '../../../src/lib/output/completion/completion-scripts.ts'
import fixture from './completion.json' with { type: 'json' }

const leaf = (name: string, more: Partial<CommandTree> = {}): CommandTree => ({
  name,
  description: `does ${name}`,
  options: [],
  arguments: [],
  subcommands: [],
  ...more,
})
const tree: CommandTree = fixture.tree
const many = leaf('kvup', {
  subcommands: [leaf('unblock', { arguments: [[]], repeats: true }), leaf('one', { arguments: [[]] })],
})
const candidates = (...all: string[]) => all.map((value) => ({ value, description: '' }))
const values = (...words: string[]) => complete(tree, words).candidates.map(({ value }) => value)

test('of an argument that may be repeated each value is offered once; of another only the first is asked for', () => {
  const offered = (...words: string[]) =>
    complete(many, words, candidates('a', 'b')).candidates.map(({ value }) => value)
  expect(offered('unblock', '')).toEqual(['a', 'b'])
  expect(offered('unblock', 'a', '')).toEqual(['b'])
  expect(wanted(many, ['unblock', 'a', ''])).toEqual({ command: 'unblock', typed: '' })
  expect(wanted(many, ['one', 'a', ''])).toBeUndefined()
})

describe('what may stand at the cursor', () => {
  test.each<[string[], string[]]>(fixture.offered as never)('%j', (words, expected) => {
    expect(values(...words)).toEqual(expected)
  })

  test('a file is left to the shell, a name is not', () => {
    expect(complete(tree, ['--kubeconfig', '']).files).toBe(true)
    expect(complete(tree, ['--kubeconfig=/e']).files).toBe(true)
    expect(complete(tree, ['-o', 'jsonpath-file=/e']).files).toBe(true)
    expect(complete(tree, ['--output=jsonpath-file=']).files).toBe(true)
    expect(complete(tree, ['-o', 'jsonpath={.a}']).files).toBe(false)
    expect(complete(tree, ['--yes=']).files).toBe(false)
    expect(complete(tree, ['--context', '']).files).toBe(false)
    expect(complete(tree, ['status', '']).files).toBe(false)
  })

  test('is told in the words that kubectl reads', () => {
    expect(completionLines(complete(tree, ['st']))).toEqual(['status\tdoes status', ':4'])
    expect(completionLines(complete(tree, ['--kubeconfig', '']))).toEqual([':0'])
    expect(completionLines(complete(tree, ['-o', 'jsonpath-']))).toEqual(['jsonpath-file=', ':6'])
    expect(completionLines(complete(tree, ['-o', 'js'])).at(-1)).toBe(':4')
  })
})

describe('what is asked elsewhere', () => {
  test.each<[string[], object | null]>(fixture.asked as never)('%j', (words, expected) => {
    expect(wanted(tree, words) ?? null).toEqual(expected)
  })

  test('its answer takes the place of what is known without', () => {
    const known = candidates('sim', 'prod')
    const sim = { candidates: candidates('sim'), files: false }
    expect(complete(tree, ['--context', 's'], known)).toEqual(sim)
    expect(complete(tree, ['--context=s'], known)).toEqual(sim)
  })

  test('with the options that stand before it, each way to write them', () => {
    const words = '--context a -ojson --output=yaml status -y --context=b -- --yes -o x '.split(' ')
    expect(Object.fromEntries(typedOptions(tree, words))).toEqual({
      '--context': ['a', 'b'],
      '--output': ['json', 'yaml'],
      '--yes': [''],
    })
  })
})

const told = (unquoted: boolean, ...all: string[]) =>
  tellable({ candidates: candidates(...all), files: false }, unquoted).candidates.map(({ value }) => value)

describe('what may be told to a shell', () => {
  const plain = ['v1.8.4', 'arn:aws:eks:eu-1:cluster/a', 'admin@b', 'jsonpath=']
  const quoted = ['two words', '$(x)', "it's", 'a;b', 'ünï', '~', '*']

  test('nothing that ends a line or moves a cursor', () => {
    const unsayable = ['', 'a\nb', 'a\tb', 'a\u001b[2J', 'a\u0000', 'a\u202eb', 'a\u009b']
    expect(told(false, ...plain, ...quoted, ...unsayable)).toEqual([...plain, ...quoted])
  })

  test('only what needs no quotes to one that may put it on its line as it is', () => {
    expect(told(true, ...plain, ...quoted)).toEqual(plain)
  })

  test('a description is one line', () => {
    const one = { value: 'a', description: 'b\n:0\tc' }
    expect(completionLines({ candidates: [one], files: false })).toEqual(['a\tb :0 c', ':4'])
  })
})

test.each(shells)('the script of %s asks kvup and leaves no placeholder', (shell) => {
  const script = completionScript(shell, 'kvup')
  expect(script).toMatch(/kvup __complete ('--'|--) /)
  expect(script).not.toMatch(/NAME|\$\{'\$'\}/)
})

test.each([
  ['bash', 'kvup.bash'],
  ['zsh', '_kvup'],
  ['fish', 'kvup.fish'],
  ['powershell', 'kvup.ps1'],
] as const)('completions for %s are not stale', async (shell, file) => {
  await expect(completionScript(shell, 'kvup')).toMatchFileSnapshot(`../../../completions/${file}`)
})
