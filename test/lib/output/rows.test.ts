import { describe, expect, test } from 'vitest'
import { parse } from 'yaml'
import { jsonText } from '../../../src/lib/output/formats/output-format.ts'
import { openPrinter } from '../../../src/lib/output/open-printer.ts'
import type { Document, DocumentStatus, RowsView } from '../../../src/lib/output/printer.ts'
import { SimClock } from '../../../src/simulator/simulated-clock.ts'
import { forbidden } from '../../../src/lib/kube/errors.ts'

interface Thing {
  name: string
  note?: string
}
interface Things extends Document {
  kind: 'Things'
  total: number
}

const view: RowsView<Thing, Things> = {
  columns: [
    { name: 'NAME', cell: ({ name }) => name },
    { name: 'NOTE', cell: ({ note }) => note },
  ],
  name: ({ name }) => `thing/${name}`,
  below: ({ total }) => [`${total} things`],
}
const pages: readonly (readonly Thing[])[] = [
  [{ name: 'a', note: 'says \u001b]0;owned\u0007 → "this"' }, { name: 'b' }],
  [],
  [{ name: 'longer-than-before', note: 'two\nlines\u202e' }],
]
const end: Things = { apiVersion: 'kvup.io/v1alpha1', kind: 'Things', total: 3 }

interface Told {
  output: string
  given?: readonly (readonly Thing[])[]
  document?: Things | undefined
  status?: DocumentStatus
  error?: Error
  more?: object
  view?: RowsView<Thing, Things>
}

/** What is on stdout after each page, and in the end. */
async function tell({
  output,
  given = pages,
  document = end,
  status,
  error,
  more,
  view: shown = view,
}: Told) {
  let out = ''
  const printer = await openPrinter({
    stdout: { write: (text) => void (out += text) },
    stderr: { write: () => undefined },
    output,
    headers: true,
    color: 'never',
    env: { LANG: 'C.UTF-8' },
    clock: new SimClock(),
    failureKind: 'Things',
    beat: () => () => undefined,
    ...more,
  })
  const rows = printer.rows('Things', shown)
  const after = given.map((page) => {
    rows.add(page)
    return out
  })
  if (document !== noEnd) rows.end(document, status)
  printer.finish(error)
  return { out, after }
}
const noEnd: Things = { ...end, total: -1 }
const no = forbidden('forbidden', 'may not list things in namespace b')
const failure = { code: 7, reason: 'forbidden', message: 'may not list things in namespace b' }

describe('contract: items stream, status and error come last', () => {
  test('JSON is written page by page, to the letter as if it were whole', async () => {
    const { out, after } = await tell({ output: 'json' })
    const { apiVersion, kind, ...rest } = end
    expect(out).toBe(jsonText({ apiVersion, kind, items: pages.flat(), ...rest, status: 'complete' }))
    expect(after.map((text) => text.length > 0 && text.includes('"a"'))).toEqual([true, true, true])
    expect(after[1]).not.toContain('longer')
    for (const raw of ['\u001b', '\u202e']) expect(out).not.toContain(raw)
  })

  test('without a row the list is empty and not absent', async () => {
    const { out } = await tell({ output: 'json', given: [[]] })
    expect(JSON.parse(out)).toEqual({ ...end, items: [], status: 'complete' })
  })

  test('a failure on the way ends the same document', async () => {
    const broken = await tell({ output: 'json', document: noEnd, error: no })
    expect(JSON.parse(broken.out)).toMatchObject({
      kind: 'Things',
      items: pages.flat(),
      status: 'failed',
      error: failure,
    })
    const partial = await tell({ output: 'json', status: 'partial', error: no })
    expect(JSON.parse(partial.out)).toMatchObject({ total: 3, status: 'partial', error: failure })
    const none = await tell({ output: 'json', given: [], document: noEnd, error: no })
    expect(JSON.parse(none.out)).toEqual({
      apiVersion: end.apiVersion,
      kind: 'Things',
      outcome: 'failed',
      status: 'failed',
      error: failure,
    })
  })

  test.each(['yaml', 'ndjson'])('%s says the same', async (output) => {
    const [json, other] = [await tell({ output: 'json' }), await tell({ output })]
    expect(parse(other.out)).toEqual(JSON.parse(json.out))
  })
})

test('a table is written page by page: one heading, and what is wider later moves nothing that was printed', async () => {
  const { out, after } = await tell({ output: 'table' })
  expect(after[0]).toBe(['NAME   NOTE', 'a      says  → "this"', 'b      <none>', ''].join('\n'))
  expect(out.slice(after[1]?.length)).toBe(['longer-than-before   two lines', '', '3 things', ''].join('\n'))
})

test('a view that tells all of a table keeps the rows until the end; -o wide is told as before', async () => {
  const shown: RowsView<Thing, Things> = {
    ...view,
    whole: ({ items, total }, _, { headers }) => [
      ...(headers === false ? [] : [`${total} things first`]),
      ...items.map(({ name }) => name),
    ],
  }
  const { out, after } = await tell({ output: 'table', view: shown })
  expect([after.at(-1), out]).toEqual(['', '3 things first\na\nb\nlonger-than-before\n'])
  const rows = await tell({ output: 'table', view: shown, more: { headers: false } })
  expect(rows.out).toBe('a\nb\nlonger-than-before\n')
  expect((await tell({ output: 'wide', view: shown })).out).toBe((await tell({ output: 'wide' })).out)
  const sorted = { sortBy: '.name' }
  expect((await tell({ output: 'wide', view: shown, more: sorted })).out).toContain('\n3 things\n')
  expect((await tell({ output: 'table', view: shown, more: sorted })).out).toMatch(/^3 things first\na\n/u)
})

test('where there are no rows only the last line is said, and with --no-headers only rows', async () => {
  expect((await tell({ output: 'table', given: [] })).out).toBe('3 things\n')
  expect((await tell({ output: 'table', given: [], more: { headers: false } })).out).toBe('')
  expect((await tell({ output: 'wide', more: { headers: false } })).out).toMatch(
    /^a .*\nb .*\nlonger.* lines\n$/u,
  )
})

test('names come page by page as well; columns of one’s own and a sorted list when all are known', async () => {
  const { after } = await tell({ output: 'name' })
  expect(after[0]).toBe('thing/a\nthing/b\n')
  const columns = await tell({ output: 'custom-columns=N:.name' })
  expect([columns.after.at(-1), columns.out]).toEqual(['', 'N\na\nb\nlonger-than-before\n'])
  const sorted = await tell({
    output: 'table',
    given: [[{ name: 'z' }], [{ name: 'y' }]],
    more: { sortBy: '.name' },
  })
  expect(sorted.out).toBe('NAME   NOTE\ny      <none>\nz      <none>\n\n3 things\n')
})
