import type { KubeVirt } from '../cluster/kinds/kubevirt.ts'

/** `configuration.evictionStrategy`: what holds for VMIs that were created without one of their own (facts 1.3). */
export function clusterEvictionOf({ spec }: KubeVirt): string | undefined {
  const strategy = spec?.configuration?.['evictionStrategy']
  return typeof strategy === 'string' ? strategy : undefined
}
