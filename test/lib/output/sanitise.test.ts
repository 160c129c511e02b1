import { describe, expect, test } from 'vitest'
import { jsonLine, jsonText } from '../../../src/lib/output/formats/output-format.ts'
import { onlyColours, sanitise, sanitiseDeep, sanitiseLine } from '../../../src/lib/output/terminal.ts'
import { yamlText } from '../../../src/lib/output/formats/yaml-text.ts'
import { parse } from 'yaml'
import fixture from './sanitise.json' with { type: 'json' }

const { attacks } = fixture

describe('text of a cluster reaches a terminal without', () => {
  test.each(attacks)('%s', (_, evil, clean) => {
    expect(sanitise(evil)).toBe(clean)
  })
  test('losing newlines, tabs, accents, emoji, CJK', () => {
    const text = 'line\n\ttab é 漢字 👩‍🚀 ✔'
    expect(sanitise(text)).toBe(text)
  })
  test('breaking a line, where a line is asked for', () => {
    expect(sanitiseLine('one\r\n  two\tthree\n')).toBe('one two three')
    expect(sanitiseLine('one\ttwo')).toBe('one two')
    expect(sanitiseLine('one\n  two')).toBe('one two')
  })
  test('leaving anything deep inside a document', () => {
    expect(sanitiseDeep({ 'k\u001b[2J': ['a\u0007', { b: 'c\u001b]0;x\u0007', n: 1, z: null }] })).toEqual({
      k: ['a', { b: 'c', n: 1, z: null }],
    })
  })
  test('losing our own colours in a painted line', () => {
    expect(onlyColours('\u001b[32mok\u001b[39m \u001b[2J\u001b]0;x\u0007')).toBe('\u001b[32mok\u001b[39m ')
  })
  test('anything to act on in a line that is not painted', () => {
    expect(onlyColours('a\u0007b\u009b2Jc\u202ed')).toBe('abcd')
  })
})

describe('documents keep the content and escape it', () => {
  const evil = Object.fromEntries(attacks.map(([name, text]) => [name, text]))
  // oxlint-disable-next-line no-control-regex
  const raw = /[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069\u{e0041}]/u
  test.each([
    ['JSON', jsonText(evil), (json: string): unknown => JSON.parse(json)],
    ['ndjson', jsonLine(evil), (json: string): unknown => JSON.parse(json)],
    ['YAML', yamlText(evil, true), (yaml: string): unknown => parse(yaml)],
  ] as const)('%s', (_, text, read) => {
    expect(text).not.toMatch(raw)
    expect(read(text)).toEqual(evil)
  })
  test('a YAML key with an escape in it', () => {
    const text = yamlText({ 'k\u001b[2J': 1 }, true)
    expect(text).not.toMatch(raw)
    expect(parse(text)).toEqual({ 'k\u001b[2J': 1 })
  })
  test('documents after the first are parted', () => {
    expect(yamlText({ a: 1 }, true) + yamlText({ a: 2 }, false)).toBe('a: 1\n---\na: 2\n')
  })
})
