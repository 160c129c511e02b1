import type { ConfigMap } from '../../../cluster/kinds/core.ts'
import { releaseNumber } from '../release-number.ts'

export interface Cause {
  /** Of the condition that stands for it where there are several causes: `UpgradeableAdminAckRequired`. */
  type: string
  reason: string
  message: string
}

/** What an administrator has not acknowledged of the gates of the running minor; undefined where all is (ocp 3.3). Pure. */
export function unacknowledged(
  gates: ConfigMap | undefined,
  acks: ConfigMap | undefined,
  version: string,
): Cause | undefined {
  const type = 'UpgradeableAdminAckRequired'
  if (!gates)
    return {
      type,
      reason: 'UnableToAccessAdminGatesConfigMap',
      message: 'admin-gates configmap not found.',
    }
  if (!acks)
    return { type, reason: 'UnableToAccessAdminAcksConfigMap', message: 'admin-acks configmap not found.' }
  const open = Object.entries(gates.data ?? {}).flatMap(
    ([name, text]) => openGate({ name, text }, acks.data?.[name], version) ?? [],
  )
  const reasons = new Set(open.map(({ reason }) => reason))
  if (open.length === 0) return undefined
  const message = open
    .map((gate) => gate.message)
    .sort()
    .join(' ')
  return { type, reason: reasons.size === 1 ? (open[0]?.reason ?? '') : 'MultipleReasons', message }
}

/** A gate that is written wrongly stays closed whatever is acknowledged. */
function openGate(
  { name, text }: { name: string; text: string },
  ack: string | undefined,
  version: string,
): Omit<Cause, 'type'> | undefined {
  const minor = /^ack-(?<minor>[45][.]\d+)-[^-]/.exec(name)?.groups?.['minor']
  if (minor === undefined) {
    const message = `admin-gates configmap gate name ${name} has invalid format; must comply with "^ack-([4-5][.][0-9]{1,})-[^-]".`
    return { reason: 'AdminAckConfigMapGateNameError', message }
  }
  const { major, minor: running } = releaseNumber(version)
  if (minor !== `${major}.${running}`) return undefined
  if (text === '') {
    const message = `admin-gates configmap gate ${name} must contain a non-empty value.`
    return { reason: 'AdminAckConfigMapGateValueError', message }
  }
  return ack === 'true' ? undefined : { reason: 'AdminAckRequired', message: text }
}
