import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { parse, stringify } from 'yaml'
import { plainYaml } from '../../../../src/lib/kube/http/plain-yaml.ts'

const asKubectlWritesIt = readFileSync(new URL('kubeconfig.yaml', import.meta.url), 'utf8')

describe('plain YAML', () => {
  test.each([
    ['what kubectl writes', asKubectlWritesIt],
    ['lists that are indented', 'a:\n  - b: c\n    d: e\n  - f\nk: v\n'],
    ['lists in lists', '- - a\n  - b\n-\n  - c\n- d: e\n'],
    ['keys without a value', 'a:\nb:\n  c:\n'],
    ['comments and blank lines', '# one\na: b\n\n  # two\nc: d\n'],
    ['carriage returns', 'a: b\r\nc:\r\n- d\r\n'],
    ['text below its key', 'a:\n  text\nb: c'],
    ['empty items', 'a:\n-\n- b\n'],
    ['words that are no booleans here', 'a: yes\nb: Off\nc: n\n'],
    ['a colon or a hash in a text', 'a: b:c#d\nc: http://x\n'],
  ])('%s is read as the parser reads it', (_, text) => {
    const read = plainYaml(text)
    expect(read).toBeDefined()
    expect(read).toEqual(parse(text))
  })

  test.each([
    ['numbers', 'a: 1'],
    ['numbers of YAML', 'a: .5\n'],
    ['other words for null', 'a: ~'],
    ['other spellings of true', 'a: True'],
    ['anchors', 'a: &b c'],
    ['aliases', 'a: *b'],
    ['tags', 'a: !!str b'],
    ['mappings in braces', 'a: {b: c}'],
    ['lists in brackets', 'a: [b]'],
    ['long texts', 'a: |\n  b\n'],
    ['texts that go on', 'a: b\n  c\n'],
    ['texts that go on in a list', '- a\n  b\n'],
    ['escapes', 'a: "b\\n"'],
    ['doubled quotes', "a: 'it''s'"],
    ['a comment behind a text', 'a: b # c'],
    ['a key in a text', 'a: b: c'],
    ['a colon at the end', 'a: b:'],
    ['quoted keys', '"a": b'],
    ['merge keys', '<<: a'],
    ['the same key twice', 'a: b\na: c'],
    ['null as a key', 'null: b'],
    ['several documents', 'a: b\n---\nc: d'],
    ['directives', '%YAML 1.2\n---\na: b'],
    ['tabs', 'a:\n\tb: c'],
    ['uneven columns', 'a:\n    b: c\n  d: e'],
    ['a list behind a value', 'a: b\n- c'],
    ['nothing', '\n# only this\n'],
  ])('%s are left to the parser', (_, text) => {
    expect(plainYaml(text)).toBeUndefined()
  })

  test('whatever it reads, it reads as the parser does', () => {
    const random = numbers(7)
    let read = 0
    for (let i = 0; i < 20_000; i++) {
      const text = scribble(random)
      const value = plainYaml(text)
      if (value === undefined) continue
      read++
      expect({ text, value }).toEqual({ text, value: parse(text) as unknown })
    }
    expect(read).toBeGreaterThan(2_000)
  })

  test('what is written out in blocks is read back', () => {
    const value = {
      users: [{ name: 'a', user: { token: 'abc.def', exec: { args: ['x', '-y'], env: null } } }],
    }
    expect(plainYaml(stringify(value))).toEqual(value)
  })
})

/** Lines of pieces that mean something to YAML, at columns that mostly make sense. */
function scribble(random: () => number): string {
  const pick = <T>(all: readonly T[]): T => all[Math.floor(random() * all.length)] as T
  const values = [
    'b',
    '"q"',
    "'s'",
    'true',
    'null',
    '{}',
    '[]',
    'x y',
    'u:v',
    '-y',
    '--f=g',
    'w#',
    '- z',
    '',
    '-',
    'k: v',
    '#',
    '1',
  ]
  const line = () => {
    const key = random() < 0.7 ? `${pick(['a', 'b', 'c', 'd', 'e', 'f'])}:` : ''
    const dash = random() < 0.3 ? '- ' : ''
    return `${'  '.repeat(pick([0, 0, 0, 1, 1, 2]))}${dash}${[key, random() < 0.7 ? pick(values) : ''].join(' ').trim()}`
  }
  return Array.from({ length: 1 + Math.floor(random() * 5) }, line).join('\n')
}

/** The same numbers at every run. */
function numbers(seed: number): () => number {
  let state = seed
  return () => {
    state = (state * 1_103_515_245 + 12_345) % 2_147_483_648
    return state / 2_147_483_648
  }
}
