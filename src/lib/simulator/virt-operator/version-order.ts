const numbers = (version: string): number[] | undefined =>
  /^v?(\d+)\.(\d+)\.(\d+)/.exec(version)?.slice(1).map(Number)

/** Negative when `a` is older than `b`; undefined when one of them is no version. */
export function versionOrder(a: string, b: string): number | undefined {
  const [left, right] = [numbers(a), numbers(b)]
  if (left === undefined || right === undefined) return undefined
  const different = left.findIndex((part, i) => part !== right[i])
  return different === -1 ? 0 : (left[different] ?? 0) - (right[different] ?? 0)
}

/** True for that minor of v1 and all later ones; something that is no version counts as new. */
export function isAtLeast(version: string, minor: number): boolean {
  return (versionOrder(version, `v1.${minor}.0`) ?? 1) >= 0
}

const minorOf = (version: string): string => version.replace(/^(v?\d+\.\d+)\..*$/, '$1.0')

/** True when the minor of `a` is older than that of `b`. */
export function isOlderMinor(a: string, b: string): boolean {
  return (versionOrder(minorOf(a), minorOf(b)) ?? 0) < 0
}
