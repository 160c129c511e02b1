import {
  type Column,
  type Document,
  type DocumentStatus,
  type Observation,
  type Paint,
  type Rows,
  type RowsView,
  eventDocument,
  seal,
  type SealedDocument,
  type Size,
  type View,
} from '../printer.ts'
import { onSingleLine } from '../../kube/text.ts'
import { jsonLine, jsonText, type OutputFormat, templateError } from './output-format.ts'
import { escapeUnsafe, inLocale, printedLine, sanitise, sanitiseDeep, sanitiseLine } from '../terminal.ts'
import type { RunEvent } from '../../engine/step.ts'
import type { Making } from './reports.ts'
import type { PageLines } from '../progress/progress-output.ts'
import { table, tableInParts } from '../table.ts'
import { timeOfDay } from '../age.ts'

/** A document and what a person would be shown of it. */
interface Given {
  document: Document
  view: View<Document>
  status: DocumentStatus
}

/** How the answers of a command reach stdout in one format. */
interface Answer {
  give(given: Given): void
  /** What happens on the way, where that is part of the answer. */
  event?(event: RunEvent): void
  observe?(observation: Observation): void
  /** Nothing more comes; `error` is why, when the command failed. */
  end(error?: unknown): void
}

/** Text: each answer as it comes; an error belongs on the other stream. */
function textAnswer(write: (text: string) => void, text: (given: Given) => string): Answer {
  return { give: (given) => write(text(given)), end: () => undefined }
}

/**
 * Documents: the last answer is kept until the end, so that an error that follows is in it and stdout holds one document.
 * With `isWatch` each is written at once. A failure without any answer is a document of `failureKind`.
 */
function documentAnswer(
  write: (document: SealedDocument) => void,
  { isWatch, failureKind }: { isWatch: boolean; failureKind: string },
): Answer {
  let kept: Given | undefined
  const flush = (error?: unknown) => {
    if (kept !== undefined) write(seal(kept.document, kept.status, error))
    kept = undefined
  }
  return {
    give(given) {
      flush()
      kept = given
      if (isWatch) flush()
    },
    end(error) {
      if (kept === undefined && error !== undefined) {
        write(seal({ apiVersion: 'kvup.io/v1alpha1', kind: failureKind }, 'failed', error))
      } else flush(error)
    },
  }
}

export interface Answering {
  write: (text: string) => void
  warn: (text: string) => void
  paint: Paint
  /** Read again for each answer: a terminal may have been resized. */
  size: () => Size
  isWatch: boolean
  now: () => Date
  /** Where there is one, text takes the place of the text before. */
  draw: ((page: PageLines) => void) | undefined
  failureKind: string
  /** What was called: `kvup upgrade`. */
  command: string
  making: Making
  /** `-q`: of what is judged the verdict alone. */
  isQuiet: boolean
}

type Format<K extends OutputFormat['is']> = Extract<OutputFormat, { is: K }>
type Answers = {
  [K in Exclude<OutputFormat['is'], 'jsonpath-file'>]: (format: Format<K>, how: Answering) => Promise<Answer>
}

/** Each brings what it needs when it is asked for: `kvup status` loads neither yaml nor jsonpath. */
const answers: Answers = {
  table: async (_, how) => (how.isQuiet ? quietAnswer(how) : viewAnswer(how)),
  wide: async (_, how) => (how.isQuiet ? quietAnswer(how) : viewAnswer(how)),
  name: async (_, { write }) =>
    textAnswer(write, ({ document, view }) => joined(view.names(document).map(sanitiseLine))),
  json: async (_, how) => documentAnswer((document) => how.write(jsonText(document)), how),
  ndjson: async (_, how) => ({
    ...documentAnswer((document) => how.write(jsonLine(document)), how),
    event: (event) => how.write(jsonLine(eventDocument(event))),
    observe: onlyNews((observation) => how.write(jsonLine(eventDocument(observation)))),
  }),
  yaml: async (_, how) => {
    const { yamlText } = await import('./yaml-text.ts')
    let isFirst = true
    return documentAnswer((document) => {
      how.write(yamlText(document, isFirst))
      isFirst = false
    }, how)
  },
  report: async ({ format }, how) => (await import('./reports.ts')).reportAnswer(format, how),
  jsonpath: async ({ template }, how) => {
    const { templatePrinter } = await import('./jsonpath-formats.ts')
    const print = templateError('jsonpath', template, () => templatePrinter(template))
    return printedAnswer(how, (given) => sanitise(print(sealed(given))))
  },
  'custom-columns': async ({ spec }, how) => {
    const { parseColumns, printColumns } = await import('./jsonpath-formats.ts')
    const columns = templateError('custom-columns', spec, () => parseColumns(spec))
    return printedAnswer(how, (given) => joined(printColumns(sealed(given), columns, how.size())))
  },
}

/** The answer for a format. Throws a usage error for a template that does not parse. `jsonpath-file` has become `jsonpath` by then. */
export function answerIn(
  format: Exclude<OutputFormat, { is: 'jsonpath-file' }>,
  how: Answering,
): Promise<Answer> {
  return (answers[format.is] as (format: OutputFormat, how: Answering) => Promise<Answer>)(format, how)
}

function viewAnswer(how: Answering): Answer {
  const { draw } = how
  const shown = ({ document, view }: Given, size: Size) =>
    view
      .text(sanitiseDeep(document), how.paint, size)
      .map((line) => inLocale(printedLine(unbroken(line)), how.paint))
  const timed = (given: Given) => {
    const size = how.size()
    return timedLines(shown(given, { ...size, columns: atTime(size.columns) }), how.now())
  }
  if (draw === undefined)
    return textAnswer(how.write, (given) => joined(how.isWatch ? timed(given) : shown(given, how.size())))
  return {
    give: (given) => draw((columns) => shown(given, { ...how.size(), columns })),
    end: () => undefined,
  }
}

/** What is observed again and again, but for its time, is told once. */
function onlyNews(tell: (observation: Observation) => void): (observation: Observation) => void {
  let before = ''
  return (observation) => {
    const text = JSON.stringify({ ...observation, at: '' })
    if (text !== before) tell(observation)
    before = text
  }
}

/** The verdict alone, and with `-w` only where it reads differently; what has none is shown whole. */
async function quietAnswer(how: Answering): Promise<Answer> {
  const { verdictOf } = await import('./verdicts.ts')
  const all = viewAnswer(how)
  let said = ''
  return {
    give(given) {
      // Its error is the verdict.
      if (given.status === 'failed') return
      const verdict = verdictOf(sanitiseDeep(given.document))
      if (verdict === undefined) return all.give(given)
      const text = `${inLocale(printedLine(onSingleLine(verdict.text)), how.paint)}\n`
      if (text !== said) how.write(text)
      said = text
    },
    end: () => undefined,
  }
}

/** A template that does not fit the document is a warning: the work is done, its exit code is worth more. */
function printedAnswer(how: Answering, print: (given: Given) => string): Answer {
  return textAnswer(how.write, (given) => {
    try {
      return print(given)
    } catch (error) {
      if (!(error instanceof Error) || error.name !== 'JsonPathError') throw error
      how.warn(`cannot print the template: ${error.message}`)
      return ''
    }
  })
}

function sealed({ document, status }: Given): unknown {
  return seal(document, status)
}

/** What follows a newline inside a line is somebody's text: it must not look like a line of ours. Tabs stay, for scripts have them. */
const unbroken = onSingleLine

function joined(lines: readonly string[]): string {
  return lines.map((line) => `${line}\n`).join('')
}

/** Rows on their way to stdout. */
export interface OpenRows {
  readonly rows: Rows<unknown, Document>
  /** Nothing more comes. False: nothing was written, so that an error is a document of its own. */
  finish(error?: unknown): boolean
}

type Teller = (kind: string, view: RowsView<unknown, Document>) => OpenRows

/** Formats that are written row by row; the others need the whole document. Sorting does as well: then there is none. */
export function rowsIn(format: OutputFormat, how: Answering, give: (given: Given) => void): Teller {
  if (how.isQuiet && (format.is === 'table' || format.is === 'wide')) return collectedRows(give)
  if (format.is === 'json') return (kind) => jsonRows(kind, how)
  if (format.is === 'name') return (_, view) => nameRows(view, how)
  if (format.is === 'table' || format.is === 'wide')
    return (kind, view) =>
      view.whole && format.is === 'table' ? collectedRows(give)(kind, view) : tableRows(view, how)
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
    text: (document, paint, size) =>
      view.whole && !size.wide
        ? view.whole(document as WithItems, paint, size)
        : rowsText(view, document, { paint, size: () => size }),
    names: (document) => itemsOf(document).map((row) => view.name(row)),
  }
}

function rowsText(view: RowsView<unknown, Document>, document: Document, shown: Shown): readonly string[] {
  const items = itemsOf(document)
  const rows = items.length > 0 ? table(view.columns, items, { ...shown.size(), paint: shown.paint }) : []
  return [...rows, ...belowOf(view, document, shown, items.length > 0)]
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
    const text = lines.map((line) => `${inLocale(printedLine(line), how.paint)}\n`).join('')
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

/** `07:10:02 ` */
const timeColumns = 9

/** The room that is left beside the time. */
const atTime = (columns: number): number => Math.max(1, columns - timeColumns)

/**
 * With `-w` where nothing can be drawn in place: each line of an answer bears the time at which it was given, as the lines of a run do, so that one
 * found in a log tells when. Blank ones stay blank.
 */
function timedLines(lines: readonly string[], at: Date): readonly string[] {
  const time = timeOfDay(at)
  return lines.map((line) => (line === '' ? '' : `${time} ${line}`))
}
