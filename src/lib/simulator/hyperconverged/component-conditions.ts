import type { Condition } from '../../cluster/object.ts'

/** A component and what it says of itself. */
export interface Told {
  /** Its kind: `KubeVirt`, `CDI`. */
  component: string
  conditions: readonly Condition[]
}

/** What is true of HyperConverged because of its components; only what is not as it should be. Type → condition. */
export type Trouble = ReadonlyMap<string, Condition>

/** One survives of each type: that of the component which comes last (ocp 1.5). */
export function troubleOf(all: readonly Told[]): Trouble {
  const trouble = new Map<string, Condition>()
  for (const told of all) tell(trouble, told)
  return trouble
}

function tell(trouble: Map<string, Condition>, { component, conditions }: Told): void {
  if (conditions.length === 0) return tellOfNone(trouble, component)
  const put = (condition: Condition): unknown => trouble.set(condition.type, condition)
  const says = (type: string, status: string) =>
    conditions.find((c) => c.type === type && c.status === status)
  const words = (what: string, { message = '' }: Condition) => `${component} is ${what}: ${message}`
  const degraded = says('Degraded', 'True')
  if (degraded)
    put({
      type: 'Degraded',
      status: 'True',
      reason: `${component}Degraded`,
      message: words('degraded', degraded),
    })
  const unavailable = says('Available', 'False')
  if (unavailable) {
    const message = words('not available', unavailable)
    put({ type: 'Available', status: 'False', reason: `${component}NotAvailable`, message })
  }
  const progressing = says('Progressing', 'True')
  if (progressing) tellOfProgress(trouble, component, words('progressing', progressing))
  const held = says('Upgradeable', 'False')
  if (held) {
    const message = words('not upgradeable', held)
    put({ type: 'Upgradeable', status: 'False', reason: `${component}NotUpgradeable`, message })
  }
}

function tellOfProgress(trouble: Map<string, Condition>, component: string, message: string): void {
  const reason = `${component}Progressing`
  trouble.set('Progressing', { type: 'Progressing', status: 'True', reason, message })
  if (!trouble.has('Upgradeable'))
    trouble.set('Upgradeable', { type: 'Upgradeable', status: 'False', reason, message })
}

function tellOfNone(trouble: Map<string, Condition>, component: string): void {
  const because = { reason: `${component}Conditions`, message: `${component} resource has no conditions` }
  trouble.set('Available', { type: 'Available', status: 'False', ...because })
  trouble.set('Progressing', { type: 'Progressing', status: 'True', ...because })
  trouble.set('Upgradeable', { type: 'Upgradeable', status: 'False', ...because })
}
