/** A LabelSelector as objects have it. */
export interface LabelSelector {
  matchLabels?: Record<string, string>
  matchExpressions?: { key: string; operator: string; values?: string[] }[]
}

/** The same in kubectl's words; empty selects everything. */
export function selectorText({ matchLabels = {}, matchExpressions = [] }: LabelSelector): string {
  const expressions = matchExpressions.map(({ key, operator, values = [] }) => {
    if (operator === 'Exists') return key
    if (operator === 'DoesNotExist') return `!${key}`
    return `${key} ${operator === 'In' ? 'in' : 'notin'} (${values.join()})`
  })
  return [...Object.entries(matchLabels).map(([key, value]) => `${key}=${value}`), ...expressions].join()
}
