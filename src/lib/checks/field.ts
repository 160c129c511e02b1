/** What lies at a dotted path (`spec.configuration.vmRolloutStrategy`); undefined where there is nothing. */
export function at(object: unknown, path: string): unknown {
  let found = object
  for (const name of path.split('.')) {
    if (typeof found !== 'object' || found === null) return undefined
    found = (found as Readonly<Record<string, unknown>>)[name]
  }
  return found ?? undefined
}

/** An object with this value at that path: a merge patch. */
export function patchOf(path: string, value: unknown): unknown {
  return path.split('.').reduceRight<unknown>((inner, name) => ({ [name]: inner }), value)
}
