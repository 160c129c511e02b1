type Labels = Readonly<Record<string, string>>
export type LabelTest = (labels: Labels | undefined) => boolean

const setBased = /^(?<key>[^\s!=,()]+)\s+(?<not>not)?in\s*\((?<values>[^()]*)\)$/
const equality = /^(?<key>[^\s!=,()]+)\s*(?<operator>==|=|!=)\s*(?<value>[^\s!=,()]*)$/
const presence = /^(?<not>!)?\s*(?<key>[^\s!=,()]+)$/

/** kubectl's whole grammar: `a=b,c!=d,e in (f,g),h notin (i),j,!k`. Throws what `refuse` makes on anything else. */
export function parseLabels(selector: string | undefined, refuse: (why: string) => Error): LabelTest {
  if (selector === undefined || selector.trim() === '') return () => true
  const tests = requirements(selector).map((part) => requirement(part.trim(), selector, refuse))
  return (labels) => tests.every((test) => test(labels))
}

/** Commas inside parentheses separate values, not requirements. */
function requirements(selector: string): string[] {
  return selector.split(/,(?![^(]*\))/)
}

function requirement(source: string, whole: string, refuse: (why: string) => Error): LabelTest {
  const test =
    inTest(setBased.exec(source)?.groups) ??
    equalTest(equality.exec(source)?.groups) ??
    presenceTest(presence.exec(source)?.groups)
  if (test !== undefined) return test
  throw refuse(
    `unable to parse requirement: found '${source}', expected: in, notin, =, ==, !=, gt, lt in selector '${whole}'`,
  )
}

type Groups = Record<string, string | undefined> | undefined

function inTest(groups: Groups): LabelTest | undefined {
  if (!groups) return undefined
  const key = groups['key'] ?? ''
  const values = new Set((groups['values'] ?? '').split(',').map((v) => v.trim()))
  const negated = groups['not'] !== undefined
  return (labels) => {
    const value = labels?.[key]
    return negated ? value === undefined || !values.has(value) : value !== undefined && values.has(value)
  }
}

function equalTest(groups: Groups): LabelTest | undefined {
  if (!groups) return undefined
  const { key = '', operator, value = '' } = groups
  return operator === '!=' ? (labels) => labels?.[key] !== value : (labels) => labels?.[key] === value
}

function presenceTest(groups: Groups): LabelTest | undefined {
  if (!groups) return undefined
  const key = groups['key'] ?? ''
  const wanted = groups['not'] === undefined
  return (labels) => (labels?.[key] !== undefined) === wanted
}
