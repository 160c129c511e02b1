import type { Installation } from '../facts/installation.ts'

interface Gates {
  featureGates: readonly string[]
  disabledFeatureGates: readonly string[]
}

/** The gates that somebody turned on or off in the KubeVirt resource (facts 1.3). */
export function gatesOf({ kubevirt }: Pick<Installation, 'kubevirt'>): Gates {
  const configuration: Record<string, unknown> = kubevirt.spec?.configuration ?? {}
  const { featureGates, disabledFeatureGates } = (configuration['developerConfiguration'] ?? {}) as {
    [list in keyof Gates]?: readonly string[] | null
  }
  return { featureGates: featureGates ?? [], disabledFeatureGates: disabledFeatureGates ?? [] }
}

/** Of these gates those that nobody decided on. */
export function undecided(gates: readonly string[], installation: Pick<Installation, 'kubevirt'>): string[] {
  const { featureGates, disabledFeatureGates } = gatesOf(installation)
  const decided = new Set([...featureGates, ...disabledFeatureGates])
  return gates.filter((gate) => !decided.has(gate))
}
