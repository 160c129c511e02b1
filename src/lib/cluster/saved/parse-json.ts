import type { SavedDocument } from './saved-document.ts'
import { unreadable } from './unreadable.ts'

/** One object, or a list of them. Throws `usage` with the line. */
export function parseJson(text: string, file: string): SavedDocument[] {
  try {
    const value = JSON.parse(text) as unknown
    return Array.isArray(value)
      ? value.map((one: unknown) => ({ value: one, line: 1 }))
      : [{ value, line: 1 }]
  } catch (error) {
    throw broken(file, lineOf(text, error), error)
  }
}

/** An object per line. Throws `usage` with the line. */
export function parseLines(text: string, file: string): SavedDocument[] {
  return text.split('\n').flatMap((source, index) => {
    if (source.trim() === '') return []
    try {
      return [{ value: JSON.parse(source) as unknown, line: index + 1 }]
    } catch (error) {
      throw broken(file, index + 1, error)
    }
  })
}

/** JSON.parse names the position, or quotes the place with ten characters before it, or means the end. */
function lineOf(text: string, error: unknown): number {
  const said = String(error)
  const at = /position (?<at>\d+)/.exec(said)?.groups?.['at']
  const { cut, quoted = '' } =
    /, (?<cut>\.\.\.)?"(?<quoted>[^]*)"(\.\.\.)? is not valid JSON$/.exec(said)?.groups ?? {}
  const place = quoted === '' ? -1 : text.indexOf(quoted)
  const quotedAt = place < 0 ? text.length : place + (cut === undefined ? quoted.length : 10)
  const end = at === undefined ? quotedAt : Number(at)
  return text.slice(0, end).trimEnd().split('\n').length
}

function broken(file: string, line: number, error: unknown): Error {
  const said = error instanceof Error ? error.message : String(error)
  const truncated = /Unexpected end|Unterminated/.test(said)
  return unreadable(file, line, truncated ? 'it is truncated here' : `it is no JSON: ${said.slice(0, 120)}`)
}
