/**
 * The same value, changed in place, without the fields and the elements that are null: in an object of Kubernetes null says what absence says, and who writes YAML by hand or by a
 * template leaves some. What was read judges absence, as an API server has it.
 */
export function withoutNulls<T>(value: T): T {
  if (Array.isArray(value)) {
    const kept: unknown[] = value.filter((one) => one !== null)
    if (kept.length < value.length) value.splice(0, value.length, ...kept)
    for (const one of kept) withoutNulls(one)
  } else if (typeof value === 'object' && value !== null)
    for (const [name, below] of Object.entries(value))
      if (below === null) Reflect.deleteProperty(value, name)
      else withoutNulls(below)
  return value
}
