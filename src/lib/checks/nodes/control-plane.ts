import type { Node } from '../../cluster/kinds/core.ts'
import type { Question } from '../check.ts'
import type { Version } from '../../releases/version.ts'

const labels = ['node-role.kubernetes.io/control-plane', 'node-role.kubernetes.io/master']

/** By its labels, whose values do not matter. */
export function isControlPlane({ metadata }: Node): boolean {
  return labels.some((label) => Object.hasOwn(metadata.labels ?? {}, label))
}

/** Operands since v1.3; an `infra.nodePlacement` in the KubeVirt, be it empty, takes the built-in affinity away (facts 1.1, 2.1). */
export function operandsNeedControlPlane({ installation }: Question, version: Version): boolean {
  return isFrom(version, 3) && installation.kubevirt.spec?.infra?.nodePlacement === undefined
}

/** virt-operator's own Deployment since v1.7, which the KubeVirt says nothing of; a tag does not replace it. */
export function operatorNeedsControlPlane({ method }: Question, version: Version): boolean {
  return isFrom(version, 7) && method !== 'image-tag'
}

const isFrom = ({ major, minor }: Version, first: number): boolean =>
  major > 1 || (major === 1 && minor >= first)
