import { type OperatorVersion, operatorMinor, operatorVersionOf } from './operator-version.ts'
import type { HyperConvergedRelease, Releases } from './releases.ts'

/** Distributions of HyperConverged: the upstream one bears 1.y.z, that of OpenShift the version of the platform (ocp 1.2). */
export type OperatorLine = 'upstream' | 'openshift'

export function lineOf({ major }: Pick<OperatorVersion, 'major'>): OperatorLine {
  return major < 4 ? 'upstream' : 'openshift'
}

/** The row of exactly this operator; OpenShift's own patch releases are in no table. */
export function releaseOfOperator(
  { text }: Pick<OperatorVersion, 'text'>,
  { hyperconverged }: Pick<Releases, 'hyperconverged'>,
): HyperConvergedRelease | undefined {
  return hyperconverged.find(({ version }) => version === text)
}

/** The operators that bring exactly this KubeVirt (`v1.8.4`), in the order of the table: the newest last. */
export function operatorsBringing(
  kubevirt: string,
  { hyperconverged }: Pick<Releases, 'hyperconverged'>,
): readonly string[] {
  return hyperconverged.filter((row) => row.kubevirt === kubevirt).map(({ version }) => version)
}

/**
 * The platform minor that an operator belongs to, `4.18` (night E8): on OpenShift its own, upstream by the table, and beyond it
 * by nothing: undefined.
 */
export function platformOfOperator(
  operator: OperatorVersion,
  { hyperconverged }: Pick<Releases, 'hyperconverged'>,
): string | undefined {
  if (lineOf(operator) === 'openshift') return operatorMinor(operator)
  const minor = operatorMinor(operator)
  return hyperconverged.find(({ version }) => minorOfText(version) === minor)?.platform
}

function minorOfText(text: string): string | undefined {
  const version = operatorVersionOf(text)
  return version && operatorMinor(version)
}
