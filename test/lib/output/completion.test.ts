import { describe, expect, test } from 'vitest'

import type { CommandTree } from '../../../src/lib/output/completion/command-tree.ts'
import { complete } from '../../../src/lib/output/completion/complete.ts'
import { completionLines } from '../../../src/lib/output/completion/protocol.ts'
import { completionScript, shells } from '../../../src/lib/output/completion/scripts.ts'

const leaf = (name: string, more: Partial<CommandTree> = {}): CommandTree => ({
  name,
  description: `does ${name}`,
  options: [],
  arguments: [],
  subcommands: [],
  ...more,
})
const tree = leaf('kvup', {
  options: [
    { flags: '-o, --output <format>', description: 'format', values: ['table', 'json', 'jsonpath='] },
    { flags: '--kubeconfig <file>', description: 'kubeconfig' },
    { flags: '--context <name>', description: 'context' },
    { flags: '-y, --yes', description: 'do not ask' },
    { flags: '--no-headers', description: 'no headings' },
  ],
  subcommands: [
    leaf('status', { options: [{ flags: '-w, --watch', description: 'go on' }] }),
    leaf('upgrade', {
      options: [{ flags: '--method <method>', description: 'how', values: ['auto', 'image-tag'] }],
    }),
    leaf('workloads', { subcommands: [leaf('restore'), leaf('outdated')] }),
    leaf('rbac', { arguments: [['kvup-view', 'kvup-upgrade']] }),
  ],
})
const values = (...words: string[]) => complete(tree, words).candidates.map(({ value }) => value)

describe('what may stand at the cursor', () => {
  test.each<[string[], string[]]>([
    [[''], ['status', 'upgrade', 'workloads', 'rbac']],
    [['u'], ['upgrade']],
    [
      ['workloads', ''],
      ['restore', 'outdated'],
    ],
    [['workloads', 'restore', ''], []],
    [['status', '--w'], ['--watch']],
    [['status', '--no'], ['--no-headers']],
    [['--y'], ['--yes']],
    [
      ['status', '-'],
      ['-w', '--watch', '-o', '--output', '--kubeconfig', '--context', '-y', '--yes', '--no-headers'],
    ],
    [
      ['-o', ''],
      ['table', 'json', 'jsonpath='],
    ],
    [
      ['-o', 'js', 'status', '-o', 'js'],
      ['json', 'jsonpath='],
    ],
    [
      ['status', '--output=j'],
      ['--output=json', '--output=jsonpath='],
    ],
    [['--context', 'status', 'work'], ['workloads']],
    [['--context', ''], []],
    [['upgrade', '--method', 'i'], ['image-tag']],
    [
      ['upgrade', '-y', '--method', ''],
      ['auto', 'image-tag'],
    ],
    [['rbac', 'kvup-v'], ['kvup-view']],
    [['rbac', 'kvup-view', ''], []],
    [['rbac', '--', '-'], []],
    [['nonsense', ''], []],
    [['upgrade', '""'], []],
    [['""'], ['status', 'upgrade', 'workloads', 'rbac']],
    [[], ['status', 'upgrade', 'workloads', 'rbac']],
  ])('%j', (words, expected) => {
    expect(values(...words)).toEqual(expected)
  })

  test('a file is left to the shell, a name is not', () => {
    expect(complete(tree, ['--kubeconfig', '']).files).toBe(true)
    expect(complete(tree, ['--kubeconfig=/e']).files).toBe(true)
    expect(complete(tree, ['--context', '']).files).toBe(false)
    expect(complete(tree, ['status', '']).files).toBe(false)
  })

  test('is told in the words that kubectl reads', () => {
    expect(completionLines(complete(tree, ['st']))).toEqual(['status\tdoes status', ':4'])
    expect(completionLines(complete(tree, ['--kubeconfig', '']))).toEqual([':0'])
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
