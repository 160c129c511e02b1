import { type FieldPath, type Fields, isFields, mergeKey } from './field-path.ts'
import { sameQuantity } from './quantity.ts'

/**
 * Where the live object does not yet say what is wanted. What only the live one has is no difference: defaults and other
 * managers' fields stay through a server-side apply. Not so inside of rules and schemas: they are replaced as a whole, and have no defaults.
 */
export function differences(wanted: unknown, live: unknown, at: FieldPath = []): FieldPath[] {
  if (live === undefined || live === null) return isZero(wanted) ? [] : [at]
  if (Array.isArray(wanted) && Array.isArray(live)) return inList(wanted, live, at)
  if (isFields(wanted) && isFields(live)) return inFields(wanted, live, at)
  return sameValue(wanted, live, at) ? [] : [at]
}

const sameValue = (wanted: unknown, live: unknown, at: FieldPath) =>
  wanted === null || wanted === live || (at.includes('resources') && sameQuantity(wanted, live))

/** The server leaves out what is empty: absent and zero are the same answer. */
export function isZero(value: unknown): boolean {
  if (Array.isArray(value)) return value.length === 0
  if (isFields(value)) return Object.values(value).every(isZero)
  return value === undefined || value === null || value === '' || value === false || value === 0
}

function inFields(wanted: Fields, live: Fields, at: FieldPath): FieldPath[] {
  const differing = Object.entries(wanted).flatMap(([key, value]) =>
    differences(value, live[key], [...at, key]),
  )
  if (!isReplaced(at)) return differing
  const more = Object.keys(live).filter((key) => !Object.hasOwn(wanted, key) && !isZero(live[key]))
  return differing.concat(more.map((key) => at.concat(key)))
}

/** In the rules of a role, or the schema of a CustomResourceDefinition. */
function isReplaced([first, second, , fourth]: FieldPath): boolean {
  return first === 'rules' || (first === 'spec' && second === 'versions' && fourth === 'schema')
}

function inList(wanted: readonly unknown[], live: readonly unknown[], at: FieldPath): FieldPath[] {
  const key = mergeKey(at, wanted)
  if (key === undefined) {
    if (wanted.length !== live.length) return [at]
    return wanted.flatMap((element, index) => differences(element, live[index], [...at, { index }]))
  }
  return (wanted as Fields[]).flatMap((element) => {
    const counterpart = live.find((l) => isFields(l) && l[key] === element[key])
    return differences(element, counterpart, [...at, { by: key, value: element[key] }])
  })
}
