import { usageError } from '../system/errors.ts'
import type { Path } from './jsonpath/path.ts'
import { parseRelaxedPath } from './jsonpath/template.ts'
import { walk } from './jsonpath/walk.ts'
import type { Document } from './printer.ts'
import { templateError } from './template-error.ts'

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
