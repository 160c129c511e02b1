import { globSync, readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import fixture from './names.json' with { type: 'json' }

/**
 * Words that were kvup's own: the field has another for each (docs/glossary.md). None of them stands in the name of a file, a type, a function, a
 * variable or a field.
 */
const ours = new Set(fixture.ours.flatMap((line) => line.split(' ')))

const words = (name: string): string[] =>
  (name.match(/[A-Z]?[a-z0-9]+|[A-Z]+(?![a-z])/gu) ?? []).map((word) => word.toLowerCase())

/** The identifiers of a TypeScript text: neither comments nor what is quoted; of a template what stands in `${}`. */
function identifiersOf(text: string): Set<string> {
  const code = text
    .replaceAll(/\/\*[\s\S]*?\*\//gu, '')
    .replaceAll(/^\s*\/\/.*$|\s\/\/ .*$/gmu, '')
    .replaceAll(/`(?:[^`\\]|\\[\s\S])*`/gu, (quoted) => [...quoted.matchAll(/\$\{([^}]*)\}/gu)].join(' '))
    .replaceAll(/'(?:[^'\\\n]|\\.)*'|"(?:[^"\\\n]|\\.)*"/gu, "''")
  return new Set(code.match(/[A-Za-z_$][\w$]*/gu))
}

const isOurs = (name: string): boolean => words(name).some((word) => ours.has(word))

const files = globSync('src/**/*.ts').toSorted()

test('no name in the code has a word that is kvup’s alone', () => {
  const found = files.flatMap((file) =>
    [...identifiersOf(readFileSync(file, 'utf8'))].filter(isOurs).map((name) => `${file}: ${name}`),
  )
  expect(found).toEqual([])
})

test('no file is called by such a word', () => {
  expect(files.filter((file) => isOurs(file.replaceAll(/^src\/|\.ts$/gu, '')))).toEqual([])
})

test.each<[string, string[]]>(fixture.guard as never)('the guard itself: %s', (code, found) => {
  expect([...identifiersOf(code)].filter(isOurs)).toEqual(found)
})

/** Where a fact of `docs/facts`, a night or a promise is referred to: behind the sentence, never instead of it. */
test('no comment begins with a reference', () => {
  const reference =
    /^\s*(?:\/\*\*|\*|\/\/) *(?:(?:night|facts|manner|ocp|lab|trust) [A-Z]?\d|[\d.]+ \((?:#|PR|facts))/iu
  const found = files.flatMap((file) => {
    const lines = readFileSync(file, 'utf8').split('\n')
    return lines.flatMap((line, index) =>
      reference.test(line) && !goesOn(line, lines[index - 1]) ? [`${file}:${index + 1}: ${line.trim()}`] : [],
    )
  })
  expect(found).toEqual([])
})

/** In the middle of a comment a line goes on with the sentence of the one above. */
const goesOn = (line: string, above = ''): boolean => /^\s*\* /u.test(line) && !/^\s*\/\*\*$/u.test(above)

const glossary = readFileSync('docs/glossary.md', 'utf8')
const rows = [...glossary.matchAll(/^\| ([^|]+) \| ([^|]+) \| ([^|]+) \|$/gmu)]
  .map(([, word = '', meaning = '', where = '']) => ({ word: word.trim(), meaning: meaning.trim(), where }))
  .filter(({ word }) => word !== 'word')

test('the glossary has its words once, each with a sentence', () => {
  expect(rows.length).toBeGreaterThanOrEqual(40)
  expect(new Set(rows.map(({ word }) => word)).size).toBe(rows.length)
  expect(rows.filter(({ meaning }) => !meaning.endsWith('.'))).toEqual([])
})

test.each(rows)('glossary: $word is where it is said to be', ({ where }) => {
  const paths = [...where.matchAll(/`((?:src|test)\/[^`]+)`/gu)].map(([, path = '']) => path)
  expect(paths.filter((path) => globSync(path).length === 0)).toEqual([])
  const [, name, file = ''] = /^`(\w+)` in `([^`]+)`/u.exec(where) ?? []
  const declares = new RegExp(`\\b(?:interface|type|class|function|const) ${name}\\b`, 'u')
  expect(name === undefined || declares.test(readFileSync(file, 'utf8'))).toBe(true)
})

const architecture = readFileSync('docs/architecture.md', 'utf8')
const named = [...architecture.matchAll(/`(\w+)`\s(?:in\s|\()`(src\/[^`\s]+\.ts)`/gu)].map(
  ([, name = '', file = '']) => ({ name, file }),
)

test('the architecture page names what is declared, and where', () => {
  expect(named.length).toBeGreaterThanOrEqual(40)
  expect(
    named.filter(
      ({ name, file }) =>
        !new RegExp(String.raw`\b(?:interface|type|class|function\*?|const) #?${name}\b`, 'u').test(
          readFileSync(file, 'utf8'),
        ),
    ),
  ).toEqual([])
})
