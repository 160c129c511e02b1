import { quantity } from '../../system/quantity.ts'

/** The server writes quantities in its own way: `1000m` comes back as `1`. */
export function sameQuantity(a: unknown, b: unknown): boolean {
  const [one, other] = [quantity(a), quantity(b)]
  return one !== undefined && other !== undefined && Math.abs(one - other) <= 1e-12 * Math.abs(one)
}
