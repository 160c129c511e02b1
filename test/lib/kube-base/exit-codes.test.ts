import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { exitCode } from '../../../src/lib/kube/errors.ts'

const page = readFileSync(new URL('../../../docs/exit-codes.md', import.meta.url), 'utf8')

test('manner 37: docs/exit-codes.md lists exactly the codes that there are, by their names', () => {
  const rows = [...page.matchAll(/^\| (\d+) \| (\w+) \|/gm)]
  const documented = Object.fromEntries(rows.map(([, code, name]) => [name, Number(code)]))
  expect(documented).toEqual(exitCode)
  expect(rows).toHaveLength(Object.keys(exitCode).length)
})

test('every code says what it means and what to do', () => {
  for (const row of page.split('\n').filter((line) => /^\| \d/.test(line))) {
    const cells = row.replaceAll('\\|', '').split('|').slice(3, -1)
    expect(cells.map((cell) => cell.trim().length > 5)).toEqual([true, true])
  }
})
