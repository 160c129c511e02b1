/** `a, b, c and 4 more`: a sentence names a few, the objects of a finding are the rest. */
export function someOf(names: readonly string[], count: number = names.length): string {
  const shown = names.slice(0, 3)
  const rest = count - shown.length
  return rest > 0 ? `${shown.join(', ')} and ${rest} more` : shown.join(', ')
}

/** `1 VM runs`, `3 VMs run`. */
export function counted(count: number, noun: string, [one, many]: readonly [string, string]): string {
  return count === 1 ? `1 ${noun} ${one}` : `${count} ${noun}s ${many}`
}
