import { existsSync, readFileSync } from 'node:fs'
import { expect, test } from 'vitest'

interface Row {
  number: number
  says: string
  tests: readonly string[]
}

const page = readFileSync('docs/conventions.md', 'utf8')
const rows = rowsOf(page.slice(page.indexOf('\n## The 40 manners')))

function rowsOf(text: string): Row[] {
  return [...text.matchAll(/^\| (\d+) \| (.*) \| (\S.*) \|$/gmu)].map(([, number, says = '', held = '']) => ({
    number: Number(number),
    says,
    tests: [...held.matchAll(/`(test\/[^`]+)`/gu)].map(([, file = '']) => file),
  }))
}

/** What is wrong with a row: a test that is not there or does not name it, no test and no reason. */
function wrongWith({ number, says, tests }: Row): string[] {
  if (tests.length === 0)
    return /^does not apply: \S.{20,}/u.test(says) ? [] : [`${number}: neither a test nor a reason`]
  return tests
    .filter((file) => !existsSync(file) || !holds(readFileSync(file, 'utf8'), number))
    .map((file) => `${number}: no test of ${file} begins with manner ${number}:`)
}

function holds(code: string, number: number): boolean {
  return new RegExp(`(?:test|describe)[^;]*?['\`]manner ${number}: `, 'u').test(code)
}

test('there are 40 rows, in order', () => {
  expect(rows.map(({ number }) => number)).toEqual(Array.from({ length: 40 }, (_, index) => index + 1))
})

test('every row has its tests, or the reason why it does not apply', () => {
  expect(rows.flatMap(wrongWith)).toEqual([])
})

test('an open row would be found', () => {
  const open = rowsOf(
    '| 1 | something | - |\n| 2 | does not apply: | - |\n| 3 | gone | `test/gone.test.ts` |\n',
  )
  const unmarked = rowsOf('| 41 | unmarked | `test/lib/docs/manners.test.ts` |\n')
  expect([...open, ...unmarked].flatMap(wrongWith)).toHaveLength(4)
})
