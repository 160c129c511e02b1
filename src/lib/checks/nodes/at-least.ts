/** `v1.33.4+k3s1`, `1.35`, `containerd://2.2.3-rc.1`: by its numbers alone. Undefined where there are none. */
export function atLeast(has: string | undefined, needs: string): boolean | undefined {
  const found = numbers(has ?? '')
  if (found === undefined) return undefined
  const wanted = numbers(needs) ?? []
  for (const [i, want] of wanted.entries()) {
    const have = found[i] ?? 0
    if (have !== want) return have > want
  }
  return true
}

function numbers(text: string): readonly number[] | undefined {
  return /\d+(?:\.\d+)*/u.exec(text)?.[0].split('.').map(Number)
}
