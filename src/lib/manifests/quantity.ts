const suffixes: Readonly<Record<string, number>> = {
  n: 1e-9,
  u: 1e-6,
  m: 1e-3,
  '': 1,
  k: 1e3,
  M: 1e6,
  G: 1e9,
  T: 1e12,
  Ki: 2 ** 10,
  Mi: 2 ** 20,
  Gi: 2 ** 30,
  Ti: 2 ** 40,
}

/** The server writes quantities in its own way: `1000m` comes back as `1`. */
export function sameQuantity(a: unknown, b: unknown): boolean {
  const [one, other] = [amount(a), amount(b)]
  return one !== undefined && other !== undefined && Math.abs(one - other) <= 1e-12 * Math.abs(one)
}

function amount(quantity: unknown): number | undefined {
  const [, number, suffix] = /^(\d+(?:\.\d+)?)([a-zA-Z]*)$/.exec(String(quantity)) ?? []
  const factor = suffixes[suffix ?? '?']
  return number === undefined || factor === undefined ? undefined : Number(number) * factor
}
