import { valueAt } from '../../cluster/apply/field-path.ts'
import type { KubeVirt } from '../../cluster/kinds/kubevirt.ts'
import { type Version, versionOf } from '../../releases/version.ts'

/** What a change of a running VM does: wait for its restart, or, for some fields, reach it while it runs. */
export type RolloutStrategy = 'Stage' | 'LiveUpdate'

export const liveUpdateGate = 'VMLiveUpdateFeatures'
export const rolloutPath = ['spec', 'configuration', 'vmRolloutStrategy'] as const
export const gatesPath = ['spec', 'configuration', 'developerConfiguration', 'featureGates'] as const

/** The strategy in effect, and what KubeVirt's version makes of what the CR says (facts 5). */
export interface VmRollout {
  inEffect: RolloutStrategy
  /** What the field says. */
  configured?: string
  /** Of this version, where the field is absent. */
  byDefault: RolloutStrategy
  /** Before v1.2 there is no such field. */
  served: boolean
  gate: {
    name: typeof liveUpdateGate
    listed: boolean
    /** From v1.0 to v1.4 LiveUpdate is ignored without it. */
    needed: boolean
  }
}

/** Where the version is not known it is taken for a new one. Pure. */
export function vmRolloutOf(kubevirt: KubeVirt): VmRollout {
  const version = versionOf(kubevirt.status?.observedKubeVirtVersion)
  const configured = valueAt(kubevirt, rolloutPath)
  const listed = gatesIn(kubevirt).includes(liveUpdateGate)
  const known = {
    ...(typeof configured === 'string' && { configured }),
    byDefault: isBefore(version, 6) ? ('Stage' as const) : ('LiveUpdate' as const),
    served: !isBefore(version, 2),
    gate: { name: liveUpdateGate, listed, needed: isBefore(version, 5) && !isBefore(version, 0) },
  } satisfies Omit<VmRollout, 'inEffect'>
  return { inEffect: inEffect(known), ...known }
}

function inEffect({ configured, byDefault, served, gate }: Omit<VmRollout, 'inEffect'>): RolloutStrategy {
  const asked = configured === 'Stage' || configured === 'LiveUpdate' ? configured : byDefault
  return served && (gate.listed || !gate.needed) ? asked : 'Stage'
}

/** The feature gates that are listed, in their order. */
export function gatesIn(kubevirt: KubeVirt): readonly string[] {
  const gates = valueAt(kubevirt, gatesPath)
  return Array.isArray(gates) ? gates.map(String) : []
}

/** Since v1.8 the condition RestartRequired goes when a VM is as it was at its start again (issues 16606 and 16719). */
export function revertingClears(version: Version | undefined): boolean {
  return !isBefore(version, 8)
}

/** Before v1.MINOR. */
function isBefore(version: Version | undefined, minor: number): boolean {
  return version !== undefined && (version.major < 1 || (version.major === 1 && version.minor < minor))
}
