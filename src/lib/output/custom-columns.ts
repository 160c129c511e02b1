import { usageError } from '../system/errors.ts'
import type { Path } from './jsonpath/path.ts'
import { parseRelaxedPath } from './jsonpath/template.ts'
import { walk } from './jsonpath/walk.ts'
import type { Column, Size } from './printer.ts'
import { sanitiseDeep } from './sanitise.ts'
import { table } from './table.ts'

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
