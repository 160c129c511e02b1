import type { ConfigMap } from '../../cluster/kinds/core.ts'

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
