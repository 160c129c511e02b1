const suffixes: Readonly<Record<string, number>> = {
  n: 1e-9,
  u: 1e-6,
  m: 1e-3,
  '': 1,
  k: 1e3,
  M: 1e6,
  G: 1e9,
  T: 1e12,
  P: 1e15,
  E: 1e18,
  Ki: 2 ** 10,
  Mi: 2 ** 20,
  Gi: 2 ** 30,
  Ti: 2 ** 40,
  Pi: 2 ** 50,
  Ei: 2 ** 60,
}

/** A quantity of Kubernetes as a number, `1500m` as 1.5 and `2Gi` in bytes; undefined where it is none. */
export function quantity(text: unknown): number | undefined {
  const [, number, suffix] = /^(\d+(?:\.\d+)?(?:[eE][+-]?\d+)?)([a-zA-Z]*)$/.exec(String(text)) ?? []
  const factor = suffixes[suffix ?? '?']
  return number === undefined || factor === undefined ? undefined : Number(number) * factor
}

/** The server writes quantities in its own way: `1000m` comes back as `1`. */
export function sameQuantity(a: unknown, b: unknown): boolean {
  const [one, other] = [quantity(a), quantity(b)]
  return one !== undefined && other !== undefined && Math.abs(one - other) <= 1e-12 * Math.abs(one)
}
