import { type Condition, condition } from '../kube/object.ts'
import type { ClusterOperator } from '../kube/kinds/openshift-kinds.ts'
import type { Known } from '../kube/known.ts'
import type { ConfigMap } from '../kube/kinds/core-kinds.ts'
import type { OperatorCondition } from '../kube/kinds/operator-kinds.ts'

/** Whether somebody lets an update through, and why not in their words. `unknown` is no "no": each caller says what it makes of it. */
export type Gate = { is: 'yes' } | { is: 'no' | 'unknown'; reason: string; message: string }

export const yes: Gate = { is: 'yes' }

/** A condition of which True lets through; `absent` is what its absence means. */
export function gateOf(found: Condition | undefined, absent: Gate): Gate {
  if (!found) return absent
  const { status, type, reason = type, message = '' } = found
  return status === 'True' ? yes : { is: status === 'False' ? 'no' : 'unknown', reason, message }
}

export const unknownGate = (reason: string, message: string): Gate => ({ is: 'unknown', reason, message })

/** The operator's own condition, as its ClusterOperator names it in the message and, less the last word, in the reason. */
const ofKubelet = { inMessage: 'KubeletMinorVersionUpgradeable: ', inReason: 'KubeletMinorVersion_' }
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
  const cause = reason.split('::').find((one) => one.startsWith(ofKubelet.inReason))
  if (cause === undefined) return status === 'False' ? yes : unknownGate(reason, message)
  const lines = message.split('\n').filter((line) => line.startsWith(ofKubelet.inMessage))
  const why = cause.slice(ofKubelet.inReason.length)
  return {
    is: unsure.has(why) ? 'unknown' : 'no',
    reason: why,
    message: lines.map((line) => line.slice(ofKubelet.inMessage.length)).join('\n'),
  }
}

/** Something that an administrator has to acknowledge before the next minor. */
export interface AdminGate {
  /** The key that has to be `"true"` in openshift-config/admin-acks. */
  name: string
  /** What is to be read before. */
  text: string
}

const applies = /^ack-(?<minor>[4-5][.][0-9]{1,})-[^-]/u

/**
 * Gates that are not acknowledged on a platform of this minor (`4.18`), the malformed and the empty ones included: those block
 * until they are mended, whatever is acknowledged (ocp 3.3; cvo pkg/risk/adminack).
 */
export function openGates(
  gates: ConfigMap | undefined,
  acks: ConfigMap | undefined,
  platformMinor: string,
): readonly AdminGate[] {
  return Object.entries(gates?.data ?? {}).flatMap(([name, text]) => {
    const minor = applies.exec(name)?.groups?.['minor']
    if (minor === undefined)
      return [{ name, text: 'its name is not of the form ack-MINOR-NAME, and so it can never be passed' }]
    if (minor !== platformMinor) return []
    if (text === '')
      return [{ name, text: 'it does not say what is to be acknowledged, and so it can never be passed' }]
    return acks?.data?.[name] === 'true' ? [] : [{ name, text }]
  })
}

/**
 * Whether OLM lets the operator of this OperatorCondition be replaced, decided as OLM does: an override beats the status, a status
 * of an older generation is a no, and nothing said, or no such object, is a yes (ocp 2.5).
 */
export function operatorConditionGate(found: OperatorCondition | undefined): Gate {
  if (!found) return yes
  const override = upgradeable(found.spec?.overrides)
  if (override) return override.status === 'True' ? yes : no(override)
  const seen = upgradeable(found.status?.conditions)
  // Not copied to the status yet: OLM is about to see it.
  return seen ? seenGate(seen, found) : saidGate(upgradeable(found.spec?.conditions))
}

function seenGate(seen: Said, found: OperatorCondition): Gate {
  if (!isOutdated(seen, found)) return saidGate(seen)
  return no({ ...seen, reason: 'Outdated', message: `it is about generation ${seen.observedGeneration}` })
}

const saidGate = (said: Said | undefined): Gate => (said?.status === 'False' ? no(said) : yes)

type Said = Condition & { observedGeneration?: number }

const upgradeable = (conditions: readonly Said[] | undefined): Said | undefined =>
  conditions?.find(({ type }) => type === 'Upgradeable')

function isOutdated({ observedGeneration }: Said, { metadata }: OperatorCondition): boolean {
  return observedGeneration !== undefined && observedGeneration < (metadata.generation ?? 0)
}

const no = ({ reason = 'Upgradeable', message = '' }: Condition): Gate => ({ is: 'no', reason, message })

/**
 * What has to be known before the operator of this OperatorCondition is replaced: that OLM would hold that, or that it would not, against the
 * operator's own word; and whether the operator or an override says so (ocp 2.5). Undefined where nothing speaks against it.
 */
export function saidOfReplacing(found: OperatorCondition | undefined): string | undefined {
  const gate = operatorConditionGate(found)
  const said = operatorConditionGate(withoutOverrides(found))
  if (gate.is === 'no') {
    const who = isOverridden(found) ? 'an override in its OperatorCondition' : 'its OperatorCondition'
    return `OLM would not replace it: ${who} says ${gate.reason}: ${gate.message}`
  }
  if (!isOverridden(found) || said.is !== 'no') return undefined
  return `OLM would replace it, by an override in its OperatorCondition, although it says ${said.reason}: ${said.message}`
}

/** Somebody says, in place of the operator, whether it may be replaced. */
export const isOverridden = (found: OperatorCondition | undefined): boolean =>
  found?.spec?.overrides?.some(({ type }) => type === 'Upgradeable') === true

function withoutOverrides(found: OperatorCondition | undefined): OperatorCondition | undefined {
  return found && { ...found, spec: { ...found.spec, overrides: [] } }
}
