import { describe, expect, test } from 'vitest'
import { ageAt, humanAge } from '../../../src/lib/output/age.ts'
import { cut, displayWidth } from '../../../src/lib/output/text.ts'
import { paintFor, printedLine } from '../../../src/lib/output/terminal.ts'
import type { Column } from '../../../src/lib/output/printer.ts'
import { table, tableInParts } from '../../../src/lib/output/table.ts'
import fixture from './table.json' with { type: 'json' }

interface Row {
  name: string
  node?: string
  why: string
}
const columns: Column<Row>[] = [
  { name: 'NAME', cell: ({ name }) => name },
  { name: 'NODE', cell: ({ node }) => node },
  { name: 'UID', cell: () => 'u-1', wide: true },
  { name: 'WHY', holds: 'text', cell: ({ why }) => why, tone: () => 'bad' },
]
const rows: Row[] = [
  { name: 'db-0', node: 'node-4', why: 'disk data is hostpath: not migratable' },
  { name: 'web-1', why: 'first line\n  second\tline' },
]

describe('a table', () => {
  test('manner 18: has no borders, says <none>, and keeps a row on a line', () => {
    expect(table(columns, rows, {})).toEqual([
      'NAME    NODE     WHY',
      'db-0    node-4   disk data is hostpath: not migratable',
      'web-1   <none>   first line second line',
    ])
  })
  test('shows wide columns when asked, and no headings when asked', () => {
    expect(table(columns, rows.slice(0, 1), { wide: true, headers: false })).toEqual([
      'db-0   node-4   u-1   disk data is hostpath: not migratable',
    ])
  })
  test.each([60, 40, 30, 20, 8, 1])('manner 18: fits into %i columns', (width) => {
    const lines = table(columns, rows, { columns: width })
    expect(lines.every((line) => displayWidth(line) <= width)).toBe(true)
  })
  test('never cuts on a pipe', () => {
    expect(table(columns, rows, { columns: Infinity })[1]).toMatch(/not migratable$/)
  })
  test('pads by what is seen: wide and combining characters, colours', () => {
    const paint = paintFor({ colour: true, unicode: true })
    const lines = table(
      [columns[0]!, { name: 'X', cell: () => 'x' }],
      [
        { name: '漢字', why: '' },
        { name: 'e\u0301a', why: '' },
        { name: 'abcd', why: '' },
      ],
      { paint },
    )
    expect(
      lines.map((line) =>
        displayWidth(line.slice(0, line.indexOf('x') < 0 ? line.indexOf('X') : line.indexOf('x'))),
      ),
    ).toEqual([7, 7, 7, 7])
    expect(table(columns, rows, { paint })[1]).toContain('\u001b[31mdisk')
  })
})

interface Vm {
  name: string
  node: string
  why?: string
  helps?: string
}
const vmColumns: Column<Vm>[] = [
  { name: 'NAME', cell: ({ name }) => name },
  { name: 'NODE', cell: ({ node }) => node },
  { name: 'WHY', holds: 'text', cell: ({ why }) => why, tone: () => 'bad' },
  { name: 'HELPS', holds: 'command', cell: ({ helps }) => helps, wide: true },
]
const disk = 'not migratable: a disk is not shared (DisksNotLiveMigratable)'
const restart = 'virtctl restart database-0 -n production'
const plain: Vm[] = ['a', 'b', 'c', 'd'].map((name) => ({ name, node: 'worker-1' }))
const database: Vm = { name: 'database-0', node: 'worker-12', why: disk, helps: restart }

describe('where a row has no room', () => {
  test('free text goes on in its column where few rows have much to say', () => {
    expect(table(vmColumns, [database, ...plain], { columns: 62 })).toEqual([
      'NAME         NODE        WHY',
      'database-0   worker-12   not migratable: a disk is not shared',
      '                         (DisksNotLiveMigratable)',
      ...plain.map(({ name }) => `${name}            worker-1    <none>`),
    ])
  })

  test('and below the row where that takes fewer lines, or its column would be too narrow', () => {
    const short = { name: 'web', node: 'worker-1' }
    expect(table(vmColumns, [database, short], { columns: 40 })).toEqual([
      'NAME         NODE',
      'database-0   worker-12',
      '  not migratable: a disk is not shared',
      '  (DisksNotLiveMigratable)',
      'web          worker-1',
    ])
    const four = { ...database, why: `${disk}; ${disk}` }
    expect(table(vmColumns, [four, four], { columns: 64 })).toHaveLength(7)
  })

  test('a command stands below the row before any text is broken, and can be pasted', () => {
    expect(
      table(vmColumns, [database, ...plain.slice(0, 1)], { columns: 100, wide: true }).map(printedLine),
    ).toEqual([
      'NAME         NODE        WHY',
      `database-0   worker-12   ${disk}`,
      `  → ${restart}`,
      'a            worker-1    <none>',
    ])
    const narrow = table(vmColumns, [database], { columns: 34, wide: true })
    expect(narrow.slice(-2).map(printedLine)).toEqual([
      '  → virtctl restart database-0 \\',
      '      -n production',
    ])
  })

  test('several texts below a row have their headings before them', () => {
    const more: Column<Vm>[] = [...vmColumns, { name: 'MESSAGE', holds: 'text', cell: () => `${disk}.` }]
    expect(table(more, [database], { columns: 50 })).toEqual([
      'NAME         NODE',
      'database-0   worker-12',
      '  why      not migratable: a disk is not shared',
      '           (DisksNotLiveMigratable)',
      '  message  not migratable: a disk is not shared',
      '           (DisksNotLiveMigratable).',
    ])
    expect(table(more, [database], { columns: 76 }).at(-1)).toBe(`  message  ${disk}.`)
  })

  test.each([80, 60, 40, 30, 20])('%i columns: every name and every word is there whole', (width) => {
    const lines = table(vmColumns, [database], { columns: width })
    expect(lines.join('\n')).toContain('database-0')
    expect(lines.join('\n')).toContain('worker-12')
    expect(lines.join(' ')).not.toContain('…')
    expect(lines.every((line) => displayWidth(line) <= width)).toBe(true)
  })

  test('names that have no room beside one another take several lines', () => {
    const lines = table(vmColumns.slice(0, 2), [database], { columns: 20 })
    expect(lines).toEqual(['NAME', '  NODE', 'database-0', '  worker-12'])
  })

  test('a colour begins and ends on each line', () => {
    const lines = table(vmColumns, [database], {
      columns: 40,
      paint: paintFor({ colour: true, unicode: true }),
    })
    const red = paintFor({ colour: true, unicode: true }).bad('|').split('|')
    const isRed = (line: string) => line.startsWith(`  ${red[0]}`) && line.endsWith(red[1] ?? '')
    expect(lines.slice(2).map(isRed)).toEqual([true, true])
  })

  test('what stands below the rows of one part stands there in all that follow', () => {
    const part = tableInParts(vmColumns, { columns: 50 })
    expect(part([plain[0]!])).toEqual(['NAME   NODE       WHY', 'a      worker-1   <none>'])
    expect(part([database]).slice(0, 2)).toEqual([
      'database-0   worker-12',
      '  not migratable: a disk is not shared',
    ])
    expect(part([{ ...plain[0]!, why: 'paused' }])).toEqual(['a            worker-1', '  paused'])
  })
})

test.each([
  ['abc', 3, 'abc'],
  ['abcd', 3, 'ab…'],
  ['漢字漢字', 5, '漢字…'],
  ['漢字漢字', 4, '漢…'],
  ['abc', 0, ''],
  ['abc', 1, '…'],
])('%s cut to %i', (text, width, shown) => {
  expect(cut(text, width)).toBe(shown)
})

// The table of kubectl's AGE column.
test.each<[number, string]>(fixture.ages as never)('%i ms is an age of %s', (ms, text) => {
  expect(humanAge(ms)).toBe(text)
})

test('an age needs a time', () => {
  expect(ageAt('2026-11-09T07:00:00Z', '2026-11-21T07:00:00Z')).toBe('12d')
  expect(ageAt(undefined, '2026-11-21T07:00:00Z')).toBe('<unknown>')
  expect(ageAt('yesterday', '2026-11-21T07:00:00Z')).toBe('<unknown>')
})
