/** A few by name, all by number: what is kept of many objects. */
export interface Named {
  count: number
  /** `namespace/name`, with what is to be said of it in brackets; the first `namedAtMost`. */
  names: string[]
}

const namedAtMost = 100

export const nobody = (): Named => ({ count: 0, names: [] })

/** Counts it, and keeps its name while there is room. */
export function add(to: Named, name: string): void {
  to.count++
  if (to.names.length < namedAtMost) to.names.push(name)
}
