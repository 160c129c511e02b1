import { LineCounter, parseAllDocuments } from 'yaml'
import type { SavedDocument } from './saved-document.ts'
import { unreadable } from './unreadable.ts'

/** Every document of a YAML text; times stay text. Throws `usage` with the line. */
export function parseYaml(text: string, file: string): SavedDocument[] {
  const lines = new LineCounter()
  const documents = parseAllDocuments(text, { lineCounter: lines })
  if ('empty' in documents) return []
  return documents.map((document) => {
    const [error] = document.errors
    if (error) {
      const [{ line }] = error.linePos ?? [{ line: 1 }]
      throw unreadable(file, line, `it is no YAML, or truncated: ${error.message.split('\n', 1)[0]}`)
    }
    return {
      value: document.toJS({ maxAliasCount: 0 }) as unknown,
      line: lines.linePos(document.range[0]).line,
    }
  })
}
