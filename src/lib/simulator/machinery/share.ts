/** A number, or a percentage of `total` rounded up or down as the field asks. */
export function share(value: number | string | undefined, total: number, round: 'up' | 'down'): number {
  if (typeof value === 'number') return value
  if (value === undefined) return 1
  const part = (Number.parseFloat(value) * total) / 100
  return round === 'up' ? Math.ceil(part) : Math.floor(part)
}
