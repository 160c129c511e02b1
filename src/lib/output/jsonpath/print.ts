import { parseTemplate, type TemplateNode } from './template.ts'
import { walk } from './walk.ts'

/** Parses a template once; what is returned prints documents with it. Both throw JsonPathError. */
export function templatePrinter(source: string): (document: unknown) => string {
  const nodes = parseTemplate(source)
  return (document) => printTemplate(document, nodes)
}

/** The text of a template over one document, as `kubectl get -o jsonpath` prints it. Throws JsonPathError. */
function printTemplate(document: unknown, nodes: readonly TemplateNode[]): string {
  return nodes.map((node) => printNode(document, node)).join('')
}

function printNode(value: unknown, node: TemplateNode): string {
  if (node.is === 'text') return node.text
  const found = walk(value, node.path)
  if (node.is === 'path') return found.map(printValue).join(' ')
  return found.map((element) => printTemplate(element, node.body)).join('')
}

/** Objects and lists as compact JSON with sorted keys and Go's escapes for `<>&`; the rest as it is. */
function printValue(value: unknown): string {
  if (typeof value !== 'object' || value === null) return String(value)
  return JSON.stringify(sorted(value)).replace(/[<>&]/g, (c) => `\\u00${c.charCodeAt(0).toString(16)}`)
}

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted)
  if (typeof value !== 'object' || value === null) return value
  const entries = Object.entries(value).filter(([, inner]) => inner !== undefined)
  return Object.fromEntries(
    entries.sort(([a], [b]) => (a < b ? -1 : 1)).map(([key, inner]) => [key, sorted(inner)]),
  )
}
