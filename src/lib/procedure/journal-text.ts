import type { Entry, Loan } from './journal.ts'
import { emptyJournal, type JournalContent } from './journal-content.ts'

/** How a journal is stored: JSON lines that a person can read with `kubectl get -o yaml`. */
export type JournalText = Record<keyof JournalContent, string>

export function writeJournal({ entries, loans, kept }: JournalContent): JournalText {
  return {
    entries: lines(entries),
    loans: lines(loans),
    kept: lines(Object.entries(kept).map(([key, value]) => ({ key, value }))),
  }
}

/** A line that is no journal's, and why. */
export interface Garbled {
  line: string
  why: string
}

/** What can be read of it, line by line, and the lines that cannot: history lacks them, and nothing else depends on them. */
export function readJournal(text: Readonly<Record<string, string>>): {
  content: JournalContent
  garbled: readonly Garbled[]
} {
  const entries = parsed(text, 'entries', isEntry)
  const loans = parsed(text, 'loans', isLoan)
  const kept = parsed(text, 'kept', isKept)
  const content = {
    ...emptyJournal,
    entries: entries.values,
    loans: loans.values,
    kept: Object.fromEntries(kept.values.map(({ key, value }) => [key, value])),
  }
  return { content, garbled: [...entries.garbled, ...loans.garbled, ...kept.garbled] }
}

const lines = (values: readonly unknown[]): string => values.map((v) => `${JSON.stringify(v)}\n`).join('')

function parsed<T>(
  text: Readonly<Record<string, string>>,
  key: keyof JournalContent,
  fits: (value: unknown) => value is T,
): { values: readonly T[]; garbled: readonly Garbled[] } {
  const values: T[] = []
  const garbled: Garbled[] = []
  for (const [index, whole] of (text[key] ?? '').split('\n').entries()) {
    const line = whole.trim()
    if (line === '') continue
    const where = `line ${index + 1} of key "${key}"`
    const value = jsonIn(line)
    if (value === undefined) garbled.push({ line, why: `${where} is not JSON` })
    else if (fits(value)) values.push(value)
    else garbled.push({ line, why: `${where} is not what kvup writes there` })
  }
  return { values, garbled }
}

function jsonIn(line: string): unknown {
  try {
    return JSON.parse(line)
  } catch {
    return undefined
  }
}

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

const hasTexts = (value: unknown, ...keys: string[]): value is Record<string, unknown> =>
  isRecord(value) && keys.every((key) => typeof value[key] === 'string')

const isEntry = (value: unknown): value is Entry =>
  hasTexts(value, 'at', 'by', 'procedure', 'step', 'what', 'text')

const isLoan = (value: unknown): value is Loan =>
  hasTexts(value, 'id', 'procedure', 'path', 'by', 'at') &&
  hasTexts(value['object'], 'apiVersion', 'kind', 'name', 'uid') &&
  isRecord(value['was']) &&
  typeof value['was']['present'] === 'boolean' &&
  value['was']['present'] === Object.hasOwn(value['was'], 'value')

const isKept = (value: unknown): value is { key: string; value: unknown } => hasTexts(value, 'key')
