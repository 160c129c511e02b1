import type { Condition } from '../../cluster/object.ts'

/** What a condition is to say; `undefined` takes it away. */
export type Said = Readonly<Record<string, Omit<Condition, 'type' | 'lastTransitionTime'> | undefined>>

/** The conditions with these set or taken away, the same array where nothing changes. `now` is RFC 3339. */
export function saying(conditions: Condition[] | undefined, said: Said, now: string): Condition[] {
  const before = conditions ?? []
  const changed = Object.keys(said).filter((type) => !saysSo(before, type, said[type]))
  if (changed.length === 0) return before
  const rest = before.filter(({ type }) => !changed.includes(type))
  const added = changed.flatMap((type) => {
    const next = said[type]
    return next === undefined
      ? []
      : [{ type, ...next, lastTransitionTime: sinceOf(before, type, next.status) ?? now }]
  })
  return [...rest, ...added]
}

function saysSo(before: readonly Condition[], type: string, next: Said[string]): boolean {
  const there = before.find((one) => one.type === type)
  if (there === undefined || next === undefined) return there === next
  return there.status === next.status && there.reason === next.reason && there.message === next.message
}

function sinceOf(
  before: readonly Condition[],
  type: string,
  status: Condition['status'],
): string | undefined {
  return before.find((one) => one.type === type && one.status === status)?.lastTransitionTime
}
