import { escapeUnsafe } from './sanitise.ts'

/** Indented JSON and a newline; control and bidi characters are escaped, the content is untouched. */
export function jsonText(value: unknown): string {
  return `${escapeUnsafe(JSON.stringify(value, undefined, 2))}\n`
}

/** The same on one line, for ndjson. */
export function jsonLine(value: unknown): string {
  return `${escapeUnsafe(JSON.stringify(value))}\n`
}
