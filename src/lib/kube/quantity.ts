const suffixes = new Map([
  ...['n', 'u', 'm', '', 'k', 'M', 'G', 'T', 'P', 'E'].map((name, at) => [name, 10 ** (3 * at - 9)] as const),
  ...['Ki', 'Mi', 'Gi', 'Ti', 'Pi', 'Ei'].map((name, at) => [name, 2 ** (10 * at + 10)] as const),
])

/** A quantity of Kubernetes as a number, `1500m` as 1.5 and `2Gi` in bytes; undefined where it is none. */
export function quantity(text: unknown): number | undefined {
  const [, number, suffix] = /^(\d+(?:\.\d+)?(?:[eE][+-]?\d+)?)([a-zA-Z]*)$/.exec(String(text)) ?? []
  const factor = suffixes.get(suffix ?? '?')
  return number === undefined || factor === undefined ? undefined : Number(number) * factor
}

/** The server writes quantities in its own way: `1000m` comes back as `1`. */
export function sameQuantity(a: unknown, b: unknown): boolean {
  const [one, other] = [quantity(a), quantity(b)]
  return one !== undefined && other !== undefined && Math.abs(one - other) <= 1e-12 * Math.abs(one)
}
