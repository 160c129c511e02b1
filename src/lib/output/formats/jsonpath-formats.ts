import { parseRelaxedPath, parseTemplate, type Path, type TemplateNode, walk } from './jsonpath.ts'
import { usageError } from '../../kube/errors.ts'
import type { Column, Document, Size } from '../printer.ts'
import { sanitiseDeep } from '../terminal.ts'
import { table } from '../table.ts'
import { templateError } from './output-format.ts'

/** Parses a template once; what is returned prints documents with it. Both throw JsonPathError. */
export function templatePrinter(source: string): (document: unknown) => string {
  const nodes = parseTemplate(source)
  return (document) => printTemplate(document, nodes)
}

/** The text of a template over one document, as `kubectl get -o jsonpath` prints it. Throws JsonPathError. */
function printTemplate(document: unknown, nodes: readonly TemplateNode[]): string {
  return nodes.map((node) => printNode(document, node)).join('')
}

function printNode(value: unknown, node: TemplateNode): string {
  if (node.is === 'text') return node.text
  const found = walk(value, node.path)
  if (node.is === 'path') return found.map(printValue).join(' ')
  return found.map((element) => printTemplate(element, node.body)).join('')
}

/** Objects and lists as compact JSON with sorted keys and Go's escapes for `<>&`; the rest as it is. */
function printValue(value: unknown): string {
  if (typeof value !== 'object' || value === null) return String(value)
  return JSON.stringify(sorted(value)).replace(/[<>&]/g, (c) => `\\u00${c.charCodeAt(0).toString(16)}`)
}

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted)
  if (typeof value !== 'object' || value === null) return value
  const entries = Object.entries(value).filter(([, inner]) => inner !== undefined)
  return Object.fromEntries(
    entries.sort(([a], [b]) => (a < b ? -1 : 1)).map(([key, inner]) => [key, sorted(inner)]),
  )
}

export type PathColumns = readonly { header: string; path: Path }[]

/** Parses `NAME:.name,NODE:.node`. Throws a usage error. */
export function parseColumns(spec: string): PathColumns {
  return splitSpec(spec).map((part) => {
    const colon = part.indexOf(':')
    if (colon < 0) {
      throw usageError(
        'custom-columns',
        `unexpected custom-columns spec: ${part}, expected <header>:<json-path-expr>`,
      )
    }
    return { header: part.slice(0, colon), path: parseRelaxedPath(part.slice(colon + 1)) }
  })
}

/** Commas inside brackets and quotes belong to the path. */
function splitSpec(spec: string): string[] {
  const parts = ['']
  let depth = 0
  for (const character of spec) {
    if (character === '[' || character === '(') depth++
    if (character === ']' || character === ')') depth--
    if (character === ',' && depth === 0) parts.push('')
    else parts[parts.length - 1] += character
  }
  return parts
}

/** One line per item, or one for a document without items, as kubectl prints them. */
export function printColumns(document: unknown, columns: PathColumns, size: Size): string[] {
  const rows = sanitiseDeep(rowsOf(document))
  return table<unknown>(
    columns.map(({ header, path }): Column<unknown> => ({ name: header, cell: (row) => cell(row, path) })),
    rows,
    { headers: size.headers ?? true },
  )
}

function rowsOf(document: unknown): readonly unknown[] {
  const { items } = document as { items?: unknown }
  return Array.isArray(items) ? items : [document]
}

function cell(row: unknown, path: Path): string | undefined {
  const found = walk(row, path)
  return found.length === 0 ? undefined : found.map((value) => goText(value)).join(',')
}

/** How Go prints a value with `%v`, which is what kubectl's custom columns show. */
function goText(value: unknown): string {
  if (value === null) return '<nil>'
  if (Array.isArray(value)) return `[${value.map(goText).join(' ')}]`
  if (typeof value !== 'object') return `${value as string | number | boolean}`
  const keys = Object.keys(value).sort()
  return `map[${keys.map((key) => `${key}:${goText((value as Record<string, unknown>)[key])}`).join(' ')}]`
}

/** Sorts the `items` of documents by a path into each, missing values first. Throws a usage error when the path does not parse. */
export function itemSorter(sortBy: string): <T extends Document>(document: T) => T {
  const path = templateError('sort-by', sortBy, () => parseRelaxedPath(sortBy))
  return (document) => {
    const { items } = document as { items?: unknown }
    if (!Array.isArray(items)) return document
    const keyed = items.map((item: unknown) => ({ item, key: sortKey(item, path) }))
    if (items.length > 0 && keyed.every(({ key }) => key === undefined)) throw noSuchField(sortBy, items)
    return { ...document, items: keyed.sort((a, b) => order(a.key, b.key)).map(({ item }) => item) }
  }
}

/** An index out of bounds is a missing value here. */
function sortKey(item: unknown, path: Path): unknown {
  try {
    return walk(item, path)[0]
  } catch {
    return undefined
  }
}

function noSuchField(sortBy: string, items: readonly unknown[]): Error {
  const field = usualField(items)
  return usageError('sort-by', `no item has a field ${sortBy}`, {
    remedy: field === undefined ? '-o json shows which there are' : `--sort-by=.${field}`,
  })
}

/** Of the fields that hold a text or a number; every kind of item has others. */
function usualField(items: readonly unknown[]): string | undefined {
  const fields = items.flatMap((item) =>
    Object.entries(Object(item) as object).flatMap(([name, value]) =>
      /^\w+$/u.test(name) && ['string', 'number'].includes(typeof value) ? [name] : [],
    ),
  )
  return fields.find((name) => name === 'name') ?? fields[0]
}

function order(a: unknown, b: unknown): number {
  if (a === undefined || b === undefined) return Number(a !== undefined) - Number(b !== undefined)
  if (typeof a === 'number' && typeof b === 'number') return a - b
  return naturalOrder.compare(text(a), text(b))
}

function text(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value)
}

const naturalOrder = new Intl.Collator('en', { numeric: true })
