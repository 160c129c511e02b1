/** `KubeVirt v1.7.4 → v1.8.4`; where both are one it is said once. */
export function hopText(from: string | undefined, to: string, arrow = '→'): string {
  return from === to ? `KubeVirt ${to}` : `KubeVirt ${from ?? 'unknown'} ${arrow} ${to}`
}
