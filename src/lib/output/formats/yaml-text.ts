import { Document, isScalar, visit } from 'yaml'
import { escapeUnsafe, isUnsafe } from '../terminal.ts'

/** One YAML document that starts with `---` when it follows another. Control characters are escaped, never raw. */
export function yamlText(value: unknown, isFirst: boolean): string {
  const document = new Document(value, { aliasDuplicateObjects: false })
  visit(document, {
    Scalar(_, node) {
      if (isScalar(node) && typeof node.value === 'string' && isUnsafe(node.value)) node.type = 'QUOTE_DOUBLE'
    },
  })
  const text = document.toString({ lineWidth: 0 })
  return (isFirst ? '' : '---\n') + escapeUnsafe(text)
}
