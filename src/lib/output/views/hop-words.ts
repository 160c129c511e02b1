/** From where to where; by OLM it is HyperConverged that moves, and KubeVirt with it. */
interface Versions {
  from?: string | undefined
  to: string
  operator?: { from: string; to: string } | undefined
}

/** `KubeVirt v1.7.4 → v1.8.4`; where both are one it is said once. By OLM: `HyperConverged 1.17.3 → 1.18.1, KubeVirt v1.7.4 → v1.8.4`. */
export function hopText({ from, to, operator }: Versions, arrow = '→'): string {
  const kubevirt = from === to ? `KubeVirt ${to}` : `KubeVirt ${from ?? 'unknown'} ${arrow} ${to}`
  if (operator === undefined) return kubevirt
  const { from: before, to: after } = operator
  const moves = before === after ? `HyperConverged ${after}` : `HyperConverged ${before} ${arrow} ${after}`
  return isOfKubeVirt(to) ? `${moves}, ${kubevirt}` : moves
}

/** Where no table says which KubeVirt a release of HyperConverged brings, its own version stands in the place. */
const isOfKubeVirt = (to: string): boolean => to.startsWith('v')
