import type { ClusterOperator } from '../../../cluster/kinds/openshift.ts'
import type { Release } from '../shape.ts'

/** Those with an operand of their own, whose version is that of Kubernetes. */
const operands = new Set(['kube-apiserver', 'kube-controller-manager', 'kube-scheduler'])

/** What an operator says that it is at, once it is at that release. */
export function versionsOf(
  name: string,
  { version, kubernetes }: Pick<Release, 'version' | 'kubernetes'>,
): NonNullable<NonNullable<ClusterOperator['status']>['versions']> {
  const own = { name: 'operator', version }
  return operands.has(name) ? [own, { name, version: kubernetes }] : [own]
}
