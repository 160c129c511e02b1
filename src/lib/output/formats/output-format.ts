import { usageError } from '../../kube/errors.ts'
import type { ReportFormat } from '../printer.ts'
import { escapeUnsafe } from '../terminal.ts'

/** `-o`, understood. For `jsonpath-file` the template is the file's text, which the caller reads. */
export type OutputFormat =
  | { is: 'table' | 'wide' | 'json' | 'yaml' | 'name' | 'ndjson' }
  | { is: 'report'; format: ReportFormat }
  | { is: 'jsonpath'; template: string }
  | { is: 'jsonpath-file'; file: string }
  | { is: 'custom-columns'; spec: string }

const plain = ['table', 'wide', 'json', 'yaml', 'name', 'ndjson'] as const
const withArgument = ['jsonpath', 'jsonpath-file', 'custom-columns'] as const
type WithArgument = (typeof withArgument)[number]

const make: Record<WithArgument, (argument: string) => OutputFormat> = {
  jsonpath: (template) => ({ is: 'jsonpath', template }),
  'jsonpath-file': (file) => ({ is: 'jsonpath-file', file }),
  'custom-columns': (spec) => ({ is: 'custom-columns', spec }),
}
const examples: Record<WithArgument, string> = {
  jsonpath: "-o jsonpath='{.status}'",
  'jsonpath-file': '-o jsonpath-file=template.txt',
  'custom-columns': '-o custom-columns=NAMESPACE:.namespace,NAME:.name',
}

/** What `-o` asks for; nothing is a table. `offered` are those that only this command has. Throws a usage error (exit 2) that lists the formats. */
export function parseOutput(flag: string | undefined, offered: readonly ReportFormat[] = []): OutputFormat {
  const asked = flag ?? 'table'
  const simple = plain.find((name) => name === asked)
  if (simple !== undefined) return { is: simple }
  const report = offered.find((name) => name === asked)
  if (report !== undefined) return { is: 'report', format: report }
  const [, name, argument] = /^([a-z-]+)(?:=([\s\S]*))?$/.exec(asked) ?? []
  const known = withArgument.find((format) => format === name)
  if (known === undefined) throw unknownFormat(asked, offered)
  if (argument === undefined || argument === '') {
    throw usageError('output-format', `-o ${known} needs a template`, { remedy: examples[known] })
  }
  return make[known](argument)
}

/** The formats as they are typed: `table`, `jsonpath=` … */
export const formatNames: readonly string[] = [...plain, ...withArgument.map((name) => `${name}=`)]

function unknownFormat(asked: string, offered: readonly ReportFormat[]): Error {
  return usageError('output-format', `-o ${JSON.stringify(asked)} is not an output format here`, {
    remedy: `one of ${[...formatNames, ...offered].join(', ')}`,
  })
}

/**
 * The format that an argv asks for, read without parsing the rest of it: so that even a mistyped flag is answered in the
 * format that a script expects. Anything that is not understood is a table.
 */
export function formatAsked(argv: readonly string[]): OutputFormat {
  const end = argv.indexOf('--')
  const words = end < 0 ? argv : argv.slice(0, end)
  const found = words
    .map((word, index) => valueOf(word, words[index + 1]))
    .findLast((value) => value !== undefined)
  try {
    return parseOutput(found)
  } catch {
    return { is: 'table' }
  }
}

function valueOf(word: string, next: string | undefined): string | undefined {
  if (word === '-o' || word === '--output') return next
  return /^(?:--output=|-o=?)([^=].*)$/s.exec(word)?.[1]
}

/** Indented JSON and a newline; control and bidi characters are escaped, the content is untouched. */
export function jsonText(value: unknown): string {
  return `${escapeUnsafe(JSON.stringify(value, undefined, 2))}\n`
}

/** The same on one line, for ndjson. */
export function jsonLine(value: unknown): string {
  return `${escapeUnsafe(JSON.stringify(value))}\n`
}

type Template = 'jsonpath' | 'custom-columns' | 'sort-by'

/** Items of kvup's documents have their names beside the rest, without a `metadata` around them. */
const templateExamples: Record<Template, string> = {
  jsonpath: `a template looks like '{.status}{range .items[*]}{"\\n"}{.name}{end}'`,
  'custom-columns': 'columns look like NAMESPACE:.namespace,NAME:.name',
  'sort-by': 'a field looks like .name',
}

/** Runs a parser; its complaint becomes a usage error (exit 2) that quotes the template. */
export function templateError<T>(format: Template, template: string, parse: () => T): T {
  try {
    return parse()
  } catch (error) {
    if (!(error instanceof Error) || error.name !== 'JsonPathError') throw error
    throw usageError('output-template', `${format}=${template}: ${error.message}`, {
      remedy: [templateExamples[format], '-o json shows which fields there are'],
    })
  }
}
