import type { Node } from '../../cluster/kinds/core.ts'
import type { MachineConfigPool } from '../../cluster/kinds/openshift.ts'

interface Expression {
  key?: string
  operator?: string
  values?: string[]
}

/**
 * The pool that a node follows: master before a custom one, a custom one before worker. Undefined where none selects it, or two
 * custom ones do, which the machine config operator refuses (ocp 3.5; mco pkg/helpers/helpers.go).
 */
export function poolOf(node: Node, pools: readonly MachineConfigPool[]): MachineConfigPool | undefined {
  const selecting = pools.filter((pool) => selects(pool, node.metadata.labels ?? {}))
  const custom = selecting.filter(({ metadata }) => !['master', 'worker'].includes(metadata.name))
  if (custom.length > 1) return undefined
  return named(selecting, 'master') ?? custom[0] ?? named(selecting, 'worker')
}

const named = (pools: readonly MachineConfigPool[], name: string) =>
  pools.find(({ metadata }) => metadata.name === name)

type Labels = Readonly<Record<string, string>>

/** No selector at all selects nothing. */
function selects({ spec }: MachineConfigPool, labels: Labels): boolean {
  if (!spec?.nodeSelector) return false
  const { matchLabels = {}, matchExpressions = [] } = spec.nodeSelector
  const equal = Object.entries(matchLabels).every(([key, value]) => labels[key] === value)
  return equal && (matchExpressions as Expression[]).every((expression) => holds(expression, labels))
}

function holds({ key = '', operator, values = [] }: Expression, labels: Labels): boolean {
  const value = labels[key]
  if (operator === 'Exists') return value !== undefined
  if (operator === 'DoesNotExist') return value === undefined
  if (operator === 'In') return value !== undefined && values.includes(value)
  return operator === 'NotIn' && (value === undefined || !values.includes(value))
}
