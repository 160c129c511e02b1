import { goDuration } from '../../system/go-duration.ts'
import { quantity } from '../../system/quantity.ts'
import { sameMethods } from '../update-methods.ts'
import type { Setting } from './settings.ts'

/** The same setting, however it is written: `60s` is `1m0s`, `1024Mi` is `1Gi`, and methods have no order. */
export function sameValue({ is }: Pick<Setting, 'is'>, one: unknown, other: unknown): boolean {
  if (is === 'methods') return sameMethods(methodsFrom(one), methodsFrom(other))
  const [a, b] = [one, other].map((value) => comparable(is, value))
  return JSON.stringify(a ?? null) === JSON.stringify(b ?? null)
}

/** HyperConverged passes an empty list on as none (hco 5). */
function methodsFrom(value: unknown): readonly string[] {
  return Array.isArray(value) ? value.map(String) : []
}

function comparable(is: Setting['is'], value: unknown): unknown {
  if (is === 'quantity') return quantity(value) ?? value
  return is === 'duration' && typeof value === 'string' ? (goDuration(value) ?? value) : value
}
