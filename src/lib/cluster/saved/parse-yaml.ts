import { type Document, LineCounter, parseAllDocuments } from 'yaml'
import type { SavedDocument } from './saved-document.ts'
import { unreadable } from './unreadable.ts'

/** An alias may stand for more than a machine can hold, and no cluster writes one. */
function plain(document: Document.Parsed, file: string, line: number): unknown {
  try {
    return document.toJS({ maxAliasCount: 0 }) as unknown
  } catch (error) {
    if (!(error instanceof ReferenceError)) throw error
    throw unreadable(
      file,
      line,
      'it has aliases (*NAME), which kvup does not read: write out what they stand for',
    )
  }
}

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
    const { line } = lines.linePos(document.range[0])
    return { value: plain(document, file, line), line }
  })
}
