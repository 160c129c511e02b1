import type { Context } from '../../context.ts'
import { nearest } from '../../lib/system/nearest.ts'
import type { WaveRunWanted } from '../../lib/workloads/waves/wanted.ts'
import type { Wave } from '../../lib/workloads/waves/waves.ts'

/** `--waves` may name what is done already, so that the same line goes on: told, and not refused. */
export function warnOfWaves(
  { printer }: Pick<Context, 'printer'>,
  { waves: { first } }: Pick<WaveRunWanted, 'waves'>,
  waves: readonly Wave[],
): void {
  const there = waves.flatMap(({ value }) => value ?? [])
  const without = first.filter((name) => !there.includes(name))
  if (without.length === 0 || waves.length === 0) return
  const others = there.filter((name) => !first.includes(name))
  const meant = without.map((name) => ({ name, near: nearest(name, others) }))
  const words = meant.map(({ name, near }) => (near === undefined ? name : `${name} (did you mean ${near}?)`))
  printer.warn(`no VM that is left is in these waves of --waves: ${words.join(', ')}`)
}
