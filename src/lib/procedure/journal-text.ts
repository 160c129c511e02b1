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

/** Throws `Error` naming the key and line that is no journal, so that nothing of it is overwritten. */
export function readJournal(text: Readonly<Record<string, string>>): JournalContent {
  const kept = parsed(text, 'kept', isKept)
  return {
    ...emptyJournal,
    entries: parsed(text, 'entries', isEntry),
    loans: parsed(text, 'loans', isLoan),
    kept: Object.fromEntries(kept.map(({ key, value }) => [key, value])),
  }
}

const lines = (values: readonly unknown[]): string => values.map((v) => `${JSON.stringify(v)}\n`).join('')

function parsed<T>(
  text: Readonly<Record<string, string>>,
  key: keyof JournalContent,
  fits: (value: unknown) => value is T,
): T[] {
  return (text[key] ?? '')
    .split('\n')
    .map((line, index) => ({ line: line.trim(), number: index + 1 }))
    .filter(({ line }) => line !== '')
    .map(({ line, number }) => parsedLine(line, `line ${number} of key "${key}"`, fits))
}

function parsedLine<T>(line: string, where: string, fits: (value: unknown) => value is T): T {
  let value: unknown
  try {
    value = JSON.parse(line)
  } catch (cause) {
    throw new Error(`${where} is not JSON`, { cause })
  }
  if (!fits(value)) throw new Error(`${where} is not what kvup writes there`)
  return value
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
