import type { OperatorGroup } from '../../cluster/kinds/operator-lifecycle.ts'
import type { Known } from '../known.ts'
import type { Layer } from './layer.ts'

/** Where there is not exactly one: every CSV of the namespace fails then (ocp 2.6). Undefined where there is, and where it is not known. */
export function operatorGroupLayer(groups: Known<OperatorGroup>, namespace: string): Layer | undefined {
  if (!groups.known || groups.items.length === 1) return undefined
  const [first] = groups.items
  const names = groups.items.map(({ metadata }) => metadata.name).join(', ')
  const found = first === undefined ? 'there is none' : `there are ${groups.items.length} (${names})`
  return {
    layer: 'operator-group',
    ...(first && { object: `operatorgroup/${first.metadata.name}` }),
    verdict: 'Degraded',
    says: `${found} in namespace ${namespace}, and OLM installs nothing without exactly one`,
    help: [`kubectl -n ${namespace} get operatorgroups.operators.coreos.com`],
  }
}
