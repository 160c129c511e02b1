import type { Condition } from '../../cluster/object.ts'

/** A condition that is to be true from now on; the time of its last change follows by itself. */
export type Claim = Pick<Condition, 'type' | 'status'> & { reason?: string; message?: string }

/** With that condition set; its transition time is that of the last change of status. `at`: RFC 3339. */
export function withCondition(conditions: readonly Condition[], claim: Claim, at: string): Condition[] {
  const before = conditions.find(({ type }) => type === claim.type)
  const unchanged = before !== undefined && before.status === claim.status
  const lastTransitionTime = (unchanged ? before.lastTransitionTime : undefined) ?? at
  const next: Condition = { ...claim, lastTransitionTime }
  if (!before) return [...conditions, next]
  return conditions.map((c) => (c === before ? next : c))
}

export function withConditions(
  conditions: readonly Condition[],
  claims: readonly Claim[],
  at: string,
): Condition[] {
  return claims.reduce<Condition[]>((all, claim) => withCondition(all, claim, at), [...conditions])
}

export function isTrue(conditions: readonly Condition[] | undefined, type: string): boolean {
  return conditions?.find((c) => c.type === type)?.status === 'True'
}

/** ms since a condition became what it is; 0 where nobody knows. */
export function msSince(conditions: readonly Condition[] | undefined, type: string, now: Date): number {
  const at = conditions?.find((c) => c.type === type)?.lastTransitionTime
  return at === undefined ? 0 : now.getTime() - Date.parse(at)
}
