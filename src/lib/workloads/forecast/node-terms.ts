interface Expression {
  key: string
  operator: string
  values?: string[]
}

/** A term of required node affinity. */
export interface NodeTerm {
  matchExpressions?: Expression[]
  matchFields?: Expression[]
}

interface Place {
  name: string
  labels: Readonly<Record<string, string>>
}

/** True where there are none, or one of them holds; an empty term holds nowhere, as for the scheduler. */
export function fitsTerms(terms: readonly NodeTerm[], place: Place): boolean {
  return terms.length === 0 || terms.some((term) => holds(term, place))
}

function holds({ matchExpressions = [], matchFields = [] }: NodeTerm, { name, labels }: Place): boolean {
  if (matchExpressions.length + matchFields.length === 0) return false
  return (
    matchExpressions.every((one) => meets(one, labels[one.key])) &&
    matchFields.every((one) => one.key === 'metadata.name' && meets(one, name))
  )
}

const operators: Readonly<Record<string, (value: string | undefined, values: readonly string[]) => boolean>> =
  {
    In: (value, values) => value !== undefined && values.includes(value),
    NotIn: (value, values) => value === undefined || !values.includes(value),
    Exists: (value) => value !== undefined,
    DoesNotExist: (value) => value === undefined,
    Gt: (value, [limit]) => Number(value) > Number(limit),
    Lt: (value, [limit]) => Number(value) < Number(limit),
  }

const meets = ({ operator, values = [] }: Expression, value: string | undefined): boolean =>
  operators[operator]?.(value, values) ?? false
