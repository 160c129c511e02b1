import { Document, isCollection, isMap, isSeq } from 'yaml'
import type { Role } from '../cluster/kinds/extension.ts'

/** A role as a person would write it: above every rule what it is for, its lists in one line. */
export function roleYaml(role: Role, reasons: readonly string[]): string {
  const document = new Document(role)
  const rules = document.get('rules')
  if (isSeq(rules)) rules.items.forEach((rule, index) => annotate(rule, reasons[index] ?? ''))
  return document.toString({ lineWidth: 0, flowCollectionPadding: false })
}

function annotate(rule: unknown, reason: string): void {
  if (!isMap(rule)) return
  rule.commentBefore = ` ${reason}`
  for (const { value } of rule.items) if (isCollection(value)) value.flow = true
}
