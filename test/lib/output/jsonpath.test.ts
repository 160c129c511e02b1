import { describe, expect, test } from 'vitest'
import {
  itemSorter,
  parseColumns,
  printColumns,
  templatePrinter,
} from '../../../src/lib/output/formats/jsonpath-formats.ts'
import type { Document } from '../../../src/lib/output/printer.ts'
import golden from './golden/kubectl.json' with { type: 'json' }
import fixture from './jsonpath.json' with { type: 'json' }

const print = (template: string, document: unknown = golden.document) => templatePrinter(template)(document)

/** Where kvup is meant to differ from kubectl, and what it prints instead; null is an error. */
const ours = fixture.ours as unknown as readonly (readonly [
  template: string,
  prints: string | null,
  why?: string,
])[]
const same = golden.cases.filter(({ template }) => !ours.some(([one]) => one === template))

describe('jsonpath prints what kubectl prints', () => {
  test.each(same.filter((c) => c.out !== undefined))('$template', ({ template, out }) => {
    expect(print(template)).toBe(out)
  })
  test.each(same.filter((c) => c.out === undefined))(
    '$template is an error, as in kubectl',
    ({ template }) => {
      expect(() => print(template)).toThrow(expect.objectContaining({ name: 'JsonPathError' }))
    },
  )
})

describe('jsonpath where kvup is meant to differ', () => {
  const printed = ours.flatMap(([template, out]) => (out === null ? [] : [[template, out] as const]))
  test.each(printed)('%s', (template, out) => {
    expect(print(template)).toBe(out)
  })
  test('an open range is an error', () => {
    expect(() => print('{range .items[*]}{.kind}')).toThrow('range without {end}')
  })
})

describe('jsonpath never acts on names of the JavaScript world', () => {
  test.each(['{.constructor}', '{.__proto__}', '{.items.length}', '{.kind.length}', "{['toString']}"])(
    '%s',
    (path) => {
      expect(print(path)).toBe('')
    },
  )
  test.each([`it's`, 'a]b', 'a;b', '^', '~', '@string()', '#1', '`x', '$', '*x', 'a,b'])(
    'the key %s',
    (key) => {
      const escaped = key.replace(/[^\w]/g, (c) => `\\${c}`)
      expect(print(`{.${escaped}}`, { [key]: 'found' })).toBe('found')
    },
  )
})

describe('custom columns print what kubectl prints', () => {
  test.each(golden.columns.filter((c) => c.out !== undefined))('$spec', ({ spec, out }) => {
    const lines = printColumns(golden.document, parseColumns(spec), { columns: Infinity, wide: false })
    // An empty string is shown as unknown, like every empty cell; kubectl leaves a hole.
    const expected = spec.includes('.spec.e,')
      ? out?.replace('true              map', 'true     <none>   map')
      : out
    expect(`${lines.join('\n')}\n`).toBe(expected)
  })
  test.each(golden.columns.filter((c) => c.out === undefined))('$spec is refused', ({ spec }) => {
    expect(() => parseColumns(spec)).toThrow(/unexpected custom-columns spec/)
  })
  test.each(golden.noHeaders)('$spec without headers', ({ spec, out }) => {
    const lines = printColumns(golden.document, parseColumns(spec), {
      columns: Infinity,
      wide: false,
      headers: false,
    })
    // kubectl keeps the width of the headers it does not print.
    expect(lines.map((line) => line.split(/ {3,}/))).toEqual(
      out
        .trimEnd()
        .split('\n')
        .map((line) => line.split(/ {3,}/)),
    )
  })
})

describe('--sort-by', () => {
  const document = golden.document as unknown as Document & { items: { metadata: { name: string } }[] }
  const names = (by: string) =>
    itemSorter(by)(document).items.map(({ metadata }) => `thing.x.io/${metadata.name}\n`)
  test.each(golden.sorts.filter((s) => s.out !== undefined && s.by !== '.spec.t'))(
    '$by sorts as kubectl does',
    ({ by, out }) => {
      expect(names(by).join('')).toBe(out)
    },
  )
  test('a field that no item has is a usage error', () => {
    expect(() => names('.spec.missing')).toThrow(expect.objectContaining({ exitCode: 2 }))
  })
  test.each([
    [{ total: 1, namespace: 'a', name: 'b' }, '.name'],
    [{ frozen: [], vm: 'b', since: '2026-01-03' }, '.vm'],
  ])('and a field that %j has is advised', (item, field) => {
    const things = { apiVersion: 'kvup.io/v1alpha1', kind: 'Things', items: [item] } as const
    expect(() => itemSorter('.nope')(things)).toThrow(
      expect.objectContaining({ remedy: [`--sort-by=${field}`] }),
    )
    expect(itemSorter(field)(things)).toEqual(things)
  })
})
