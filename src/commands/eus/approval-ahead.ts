import type { EusPlan } from '../../lib/eus/eus-plan.ts'

/** The Subscription is Manual and a release of the operator is still to come: without `--approve` a run ends before it. */
export const approvalIsAhead = ({ operator, hops }: Pick<EusPlan, 'operator' | 'hops'>): boolean =>
  operator?.approval === 'Manual' && hops.some(({ operators }) => operators.some(({ done }) => !done))

/** A line of `kvup eus run` or `abort` as it comes to its end. */
export function typedFor(plan: Pick<EusPlan, 'operator' | 'hops'>, line: string): string {
  return approvalIsAhead(plan) && !/ --approve(?: |$)/u.test(line) ? `${line} --approve` : line
}
