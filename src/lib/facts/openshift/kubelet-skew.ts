import type { ClusterOperator } from '../../cluster/kinds/openshift.ts'
import { condition, type Condition } from '../../cluster/object.ts'
import { type Gate, unknownGate, yes } from '../gate.ts'
import type { Known } from '../known.ts'

/** The operator's own condition, as its ClusterOperator names it in the message and, less the last word, in the reason. */
const own = { inMessage: 'KubeletMinorVersionUpgradeable: ', inReason: 'KubeletMinorVersion_' }
const unsure = new Set(['KubeletVersionUnknown', 'KubeletMinorVersionAhead'])

/**
 * Whether the kubelets are new enough for the control plane's next minor, as the cluster itself says: no arithmetic with
 * even and odd minors holds for ever. It stands in `Upgradeable` of the ClusterOperator kube-apiserver, beside other causes (ocp 3.4).
 */
export function kubeletSkew(operators: Known<ClusterOperator>): Gate {
  if (!operators.known) return unknownGate('NotRead', operators.why)
  const found = operators.items.find(({ metadata }) => metadata.name === 'kube-apiserver')
  if (!found) return unknownGate('NoOperator', 'there is no ClusterOperator kube-apiserver')
  const said = condition(found, 'Upgradeable')
  return said ? gateIn(said) : unknownGate('NotSaid', 'kube-apiserver does not say Upgradeable')
}

function gateIn({ status, reason = '', message = '' }: Condition): Gate {
  if (status === 'True') return yes
  const cause = reason.split('::').find((one) => one.startsWith(own.inReason))
  if (cause === undefined) return status === 'False' ? yes : unknownGate(reason, message)
  const lines = message.split('\n').filter((line) => line.startsWith(own.inMessage))
  const why = cause.slice(own.inReason.length)
  return {
    is: unsure.has(why) ? 'unknown' : 'no',
    reason: why,
    message: lines.map((line) => line.slice(own.inMessage.length)).join('\n'),
  }
}
