import { parseAllDocuments } from 'yaml'
import { usageError } from '../system/errors.ts'

type Fields = Readonly<Record<string, unknown>>

/**
 * The objects of a file: YAML documents, one JSON value, or JSON objects one after the other as `opm render` prints them. Throws
 * `usage` that names the file.
 */
export function documentsOf(text: string, origin: string): readonly Fields[] {
  try {
    const values = text.trimStart().startsWith('{') ? jsonObjects(text) : yamlDocuments(text)
    return values.flatMap((value) => (Array.isArray(value) ? (value as unknown[]) : [value])).filter(isFields)
  } catch (cause) {
    const why = cause instanceof Error ? (cause.message.split('\n')[0] ?? '') : String(cause)
    throw usageError('catalog-invalid', `${origin} is no file-based catalog: ${why}`, {
      cause,
      remedy: 'opm render CATALOG-IMAGE -o yaml > catalog.yaml     makes one',
    })
  }
}

function yamlDocuments(text: string): unknown[] {
  const documents = parseAllDocuments(text)
  if (!Array.isArray(documents)) return []
  return documents.map((document) => {
    const [error] = document.errors
    if (error !== undefined) throw error
    return document.toJS() as unknown
  })
}

function jsonObjects(text: string): unknown[] {
  const values: unknown[] = []
  let from = 0
  for (const end of endsOfObjects(text)) {
    values.push(JSON.parse(text.slice(from, end)))
    from = end
  }
  if (text.slice(from).trim() !== '') values.push(JSON.parse(text.slice(from)))
  return values
}

/** Where each object of the outermost level ends. */
function endsOfObjects(text: string): readonly number[] {
  const ends: number[] = []
  let depth = 0
  for (const { index, 0: token } of text.matchAll(/"(?:[^"\\]|\\.)*"|[{}]/gu)) {
    if (token === '{') depth++
    else if (token === '}' && --depth === 0) ends.push(index + 1)
  }
  return ends
}

const isFields = (value: unknown): value is Fields => typeof value === 'object' && value !== null
