import { parseSync } from 'rolldown/utils'

/** A text that stands in the code: what `${}` will be is `…`. */
export interface Text {
  text: string
  line: number
}

interface Node {
  type: string
  start: number
  [field: string]: unknown
}

/** What is never printed: where a module comes from, and what TypeScript alone reads. */
const unseen = /^(?:Import|ExportAll|TS(?!AsExpression|SatisfiesExpression|NonNullExpression))/u

/** Every string and template of a TypeScript text, those that `+` joins as one; neither comments nor types nor imports. */
export function textsOf(file: string, code: string): Text[] {
  const found: Text[] = []
  const lineAt = (start: number): number => code.slice(0, start).split('\n').length
  const walk = (value: unknown): void => {
    if (Array.isArray(value)) return value.forEach(walk)
    if (!isNode(value) || unseen.test(value.type)) return
    const text = textOf(value)
    if (text !== undefined) found.push({ text, line: lineAt(value.start) })
    for (const part of text === undefined ? Object.values(value) : insideOf(value)) walk(part)
  }
  walk(parseSync(file, code).program)
  return found
}

const isNode = (value: unknown): value is Node =>
  typeof value === 'object' && value !== null && typeof (value as { type?: unknown }).type === 'string'

const isString = (value: unknown): value is string => typeof value === 'string'

/** The text of a literal, of a template, or of a sum with one of them in it. */
function textOf(node: Node): string | undefined {
  if (node.type === 'Literal') return isString(node['value']) ? node['value'] : undefined
  if (node.type === 'TemplateLiteral') {
    const quasis = node['quasis'] as { value: { cooked: string } }[]
    return quasis.map(({ value }) => value.cooked).join('…')
  }
  if (node.type !== 'BinaryExpression' || node['operator'] !== '+') return undefined
  const [left, right] = [node['left'], node['right']].map((side) => (isNode(side) ? textOf(side) : undefined))
  return left === undefined && right === undefined ? undefined : `${left ?? '…'}${right ?? '…'}`
}

/** What stands in the `${}` of a text, and the parts of a sum that are no text. */
function insideOf(node: Node): unknown[] {
  if (node.type === 'TemplateLiteral') return node['expressions'] as unknown[]
  if (node.type !== 'BinaryExpression') return []
  return [node['left'], node['right']].flatMap((side) =>
    isNode(side) && textOf(side) !== undefined ? insideOf(side) : [side],
  )
}
