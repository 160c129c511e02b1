/** `a, b, c and 4 more`: a finding names a few, its objects are the rest. */
export function someOf(names: readonly string[], count: number = names.length): string {
  const shown = names.slice(0, 3)
  const rest = count - shown.length
  return rest > 0 ? `${shown.join(', ')} and ${rest} more` : shown.join(', ')
}
