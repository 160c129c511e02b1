import type { Candidate } from './candidate.ts'

/** Which VM of a wave comes first. */
export const orders = ['name', 'oldest', 'newest', 'smallest', 'largest'] as const
export type Order = (typeof orders)[number]

type Compare = (a: Candidate, b: Candidate) => number

const byName: Compare = (a, b) => Number(a.vm > b.vm) - Number(a.vm < b.vm)

const compare: Readonly<Record<Order, Compare>> = {
  name: byName,
  oldest: (a, b) => a.bornAt - b.bornAt,
  newest: (a, b) => b.bornAt - a.bornAt,
  smallest: (a, b) => a.memory - b.memory,
  largest: (a, b) => b.memory - a.memory,
}

/** The same in every run: what is equal is ordered by name. Pure. */
export function inOrder(candidates: Iterable<Candidate>, order: Order): Candidate[] {
  return [...candidates].sort((a, b) => compare[order](a, b) || byName(a, b))
}
