import type { Answering } from './answer-format.ts'
import type { Given } from './answer.ts'
import { seal } from './document.ts'
import type { OutputFormat } from './format.ts'
import { inLocale } from './paint.ts'
import type { Column, Document, DocumentStatus, Rows, RowsView, View } from './printer.ts'
import { escapeUnsafe, onlyColours, sanitise, sanitiseDeep, sanitiseLine } from './sanitise.ts'
import { table, tableInParts } from './table.ts'

/** Rows on their way to stdout. */
export interface OpenRows {
  readonly rows: Rows<unknown, Document>
  /** Nothing more comes. False: nothing was written, so that an error is a document of its own. */
  finish(error?: unknown): boolean
}

type Teller = (kind: string, view: RowsView<unknown, Document>) => OpenRows

/** Formats that are written row by row; the others need the whole document. Sorting does as well: then there is none. */
export function rowsIn(format: OutputFormat, how: Answering, give: (given: Given) => void): Teller {
  if (format.is === 'json') return (kind) => jsonRows(kind, how)
  if (format.is === 'name') return (_, view) => nameRows(view, how)
  if (format.is === 'table' || format.is === 'wide') return (_, view) => tableRows(view, how)
  return collectedRows(give)
}

/** For formats that are not written row by row. */
export function collectedRows(give: (given: Given) => void): Teller {
  return (kind, view) => {
    const items: unknown[] = []
    return {
      rows: {
        add: (rows) => void items.push(...rows),
        end: (document, status = 'complete') =>
          give({ document: whole(kind, items, document), view: wholeView(view), status }),
      },
      finish: () => false,
    }
  }
}

interface WithItems extends Document {
  items: readonly unknown[]
}

/** `items` stand where the streamed ones do. */
function whole(kind: string, items: readonly unknown[], document: Document): WithItems {
  const { apiVersion, kind: _, ...rest } = document
  return { apiVersion, kind, items, ...rest }
}

const itemsOf = (document: Document) => (document as WithItems).items

function wholeView(view: RowsView<unknown, Document>): View<Document> {
  return {
    text: (document, paint, size) => [
      ...(itemsOf(document).length > 0 ? table(view.columns, itemsOf(document), { ...size, paint }) : []),
      ...belowOf(view, document, { paint, size: () => size }, itemsOf(document).length > 0),
    ],
    names: (document) => itemsOf(document).map((row) => view.name(row)),
  }
}

type Shown = Pick<Answering, 'paint' | 'size'>

function belowOf(
  view: RowsView<unknown, Document>,
  document: Document,
  { paint, size }: Shown,
  afterRows: boolean,
): readonly string[] {
  if (size().headers === false) return []
  const lines = view.below(document, paint, size())
  return afterRows && lines.length > 0 ? ['', ...lines] : lines
}

function tableRows(view: RowsView<unknown, Document>, how: Answering): OpenRows {
  const write = (lines: readonly string[]) => {
    const text = lines.map((line) => `${inLocale(onlyColours(line), how.paint)}\n`).join('')
    if (text !== '') how.write(text)
  }
  const part = tableInParts(view.columns.map(sanitised), { ...how.size(), paint: how.paint })
  let some = false
  return {
    rows: {
      add(rows) {
        if (rows.length === 0) return
        some = true
        write(part(rows))
      },
      end: (document) => write(belowOf(view, sanitiseDeep(document), how, some)),
    },
    finish: () => false,
  }
}

/** The cells are all that is shown of a row: the rest of thousands of them need not be looked at. */
function sanitised(column: Column<unknown>): Column<unknown> {
  const cell = (row: unknown) => {
    const text = column.cell(row)
    return typeof text === 'string' ? sanitise(text) : text
  }
  return { ...column, cell }
}

function nameRows(view: RowsView<unknown, Document>, { write }: Answering): OpenRows {
  const add = (rows: readonly unknown[]) => {
    if (rows.length > 0) write(rows.map((row) => `${sanitiseLine(view.name(row))}\n`).join(''))
  }
  return { rows: { add, end: () => undefined }, finish: () => false }
}

/** To the letter what `jsonText` makes of the whole document. The last part waits for the end: it holds the error, if there is one. */
function jsonRows(kind: string, { write }: Answering): OpenRows {
  let written = 0
  let last: { document: Document; status: DocumentStatus } | undefined
  const begin = () =>
    `{\n  "apiVersion": "kvup.io/v1alpha1",\n  "kind": ${JSON.stringify(kind)},\n  "items": [`
  return {
    rows: {
      add(rows) {
        if (rows.length === 0) return
        write(`${written === 0 ? begin() : ','}\n${itemsText(rows)}`)
        written += rows.length
      },
      end: (document, status = 'complete') => void (last = { document, status }),
    },
    finish(error) {
      if (written === 0 && last === undefined) return false
      const { document = bare(kind), status = 'failed' } = last ?? {}
      write(`${written === 0 ? `${begin()}]` : '\n  ]'},\n${tailText(seal(document, status, error))}`)
      return true
    },
  }
}

const bare = (kind: string): Document => ({ apiVersion: 'kvup.io/v1alpha1', kind })

/** The rows as they stand inside of `items`, without the brackets. */
function itemsText(rows: readonly unknown[]): string {
  const text = escapeUnsafe(JSON.stringify({ items: rows }, undefined, 2))
  return text.slice('{\n  "items": [\n'.length, -'\n  ]\n}'.length)
}

function tailText(document: Document): string {
  const { apiVersion: _, kind: __, ...rest } = document
  return `${escapeUnsafe(JSON.stringify(rest, undefined, 2)).slice('{\n'.length)}\n`
}
