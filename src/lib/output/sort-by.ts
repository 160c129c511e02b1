import { usageError } from '../system/errors.ts'
import { parseRelaxedPath } from './jsonpath/template.ts'
import { walk } from './jsonpath/walk.ts'
import type { Document } from './printer.ts'

/** The document with its `items` sorted by a path into each; missing values first. A path that no item has is a usage error. */
export function sortItems<T extends Document>(document: T, sortBy: string): T {
  const { items } = document as { items?: unknown }
  if (!Array.isArray(items)) return document
  const path = parseRelaxedPath(sortBy)
  const keyed = items.map((item: unknown) => ({ item, key: walk(item, path)[0] }))
  if (items.length > 0 && keyed.every(({ key }) => key === undefined)) {
    throw usageError('sort-by', `no item has a field ${sortBy}`, { remedy: '--sort-by=.metadata.name' })
  }
  return { ...document, items: keyed.sort((a, b) => order(a.key, b.key)).map(({ item }) => item) }
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
