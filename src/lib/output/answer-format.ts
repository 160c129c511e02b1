import { type Answer, documentAnswer, type Given, textAnswer } from './answer.ts'
import { seal } from './document.ts'
import type { OutputFormat } from './format.ts'
import { jsonLine, jsonText } from './json-text.ts'
import { inLocale } from './paint.ts'
import type { Paint, Size } from './printer.ts'
import type { PageLines } from './live-page.ts'
import { onlyColours, sanitise, sanitiseDeep, sanitiseLine } from './sanitise.ts'
import { templateError } from './template-error.ts'
import { besideTime, timedLines } from './timed-lines.ts'

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
}

type Format<K extends OutputFormat['is']> = Extract<OutputFormat, { is: K }>
type Answers = {
  [K in Exclude<OutputFormat['is'], 'jsonpath-file'>]: (format: Format<K>, how: Answering) => Promise<Answer>
}

/** Each brings what it needs when it is asked for: `kvup status` loads neither yaml nor jsonpath. */
const answers: Answers = {
  table: async (_, how) => viewAnswer(how),
  wide: async (_, how) => viewAnswer(how),
  name: async (_, { write }) =>
    textAnswer(write, ({ document, view }) => joined(view.names(document).map(sanitiseLine))),
  json: async (_, how) => documentAnswer((document) => how.write(jsonText(document)), how),
  ndjson: async (_, how) => documentAnswer((document) => how.write(jsonLine(document)), how),
  yaml: async (_, how) => {
    const { yamlText } = await import('./yaml-text.ts')
    let isFirst = true
    return documentAnswer((document) => {
      how.write(yamlText(document, isFirst))
      isFirst = false
    }, how)
  },
  report: async ({ format }, { write }) =>
    textAnswer(write, ({ document, view }) => view.formats?.[format]?.(sanitiseDeep(document)) ?? ''),
  jsonpath: async ({ template }, how) => {
    const { templatePrinter } = await import('./jsonpath/print.ts')
    const print = templateError('jsonpath', template, () => templatePrinter(template))
    return printedAnswer(how, (given) => sanitise(print(sealed(given))))
  },
  'custom-columns': async ({ spec }, how) => {
    const { parseColumns, printColumns } = await import('./custom-columns.ts')
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
      .map((line) => inLocale(unbroken(onlyColours(line)), how.paint))
  const timed = (given: Given) => {
    const size = how.size()
    return timedLines(shown(given, { ...size, columns: besideTime(size.columns) }), how.now())
  }
  if (draw === undefined)
    return textAnswer(how.write, (given) => joined(how.isWatch ? timed(given) : shown(given, how.size())))
  return {
    give: (given) => draw((columns) => shown(given, { ...how.size(), columns })),
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
function unbroken(line: string): string {
  return line.replaceAll(/\s*\n\s*/gu, ' ')
}

function joined(lines: readonly string[]): string {
  return lines.map((line) => `${line}\n`).join('')
}
