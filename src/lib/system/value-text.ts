/** A value of the API on one line: `LiveMigrate, Evict`, `10`, and `none` for an empty list and for nothing. */
export function valueText(value: unknown): string {
  if (Array.isArray(value)) return value.join(', ') || 'none'
  if (value === null || value === undefined) return 'none'
  return typeof value === 'string' ? value : JSON.stringify(value)
}
