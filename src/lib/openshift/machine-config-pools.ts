import type { MachineConfigPool } from '../kube/kinds/openshift-kinds.ts'
import { condition, isObserved } from '../kube/object.ts'
import type { Node } from '../kube/kinds/core-kinds.ts'

/** Where a pool of machines stands (ocp 3.5). */
export interface PoolStatus {
  name: string
  /** Never to be paused: the platform's update needs it. */
  isMaster: boolean
  paused: boolean
  /** `paused-pending`: it has something to do and will not begin. `pending`: it has something to do and has not begun. */
  state: 'updated' | 'updating' | 'paused-pending' | 'pending' | 'degraded'
  machines: number
  updated: number
  ready: number
  degraded: number
  /** The status is about the spec as it is now: right after a pool is unpaused it is not. */
  current: boolean
  /** In the words of the machine config controller; may be empty. */
  message: string
}

const required = 'operator.machineconfiguration.openshift.io/required-for-upgrade'

export const isMasterPool = ({ metadata }: MachineConfigPool): boolean =>
  metadata.name === 'master' || metadata.labels?.[required] !== undefined

/** `Updated` alone proves nothing: the wanted and the present configuration are compared, and the generation. */
export function assessPool(pool: MachineConfigPool): PoolStatus {
  const { status = {}, spec = {}, metadata } = pool
  const state = stateOf(pool)
  return {
    name: metadata.name,
    isMaster: isMasterPool(pool),
    paused: spec.paused === true,
    state,
    machines: status.machineCount ?? 0,
    updated: status.updatedMachineCount ?? 0,
    ready: status.readyMachineCount ?? 0,
    degraded: status.degradedMachineCount ?? 0,
    current: isObserved(pool),
    message: messageOf(pool, state),
  }
}

const is = (pool: MachineConfigPool, type: string): boolean => condition(pool, type)?.status === 'True'
const degradedTypes = ['Degraded', 'NodeDegraded', 'RenderDegraded']

function stateOf(pool: MachineConfigPool): PoolStatus['state'] {
  if (degradedTypes.some((type) => is(pool, type))) return 'degraded'
  const done = isDone(pool)
  // An image-mode pool says Updating=True while it is paused.
  if (pool.spec?.paused === true) return done ? 'updated' : 'paused-pending'
  if (done) return 'updated'
  return is(pool, 'Updating') && isObserved(pool) ? 'updating' : 'pending'
}

function isDone(pool: MachineConfigPool): boolean {
  const { machineCount = 0, updatedMachineCount = 0 } = pool.status ?? {}
  const says = is(pool, 'Updated') && !is(pool, 'Updating')
  return says && isObserved(pool) && hasWanted(pool) && updatedMachineCount >= machineCount
}

const hasWanted = ({ spec, status }: MachineConfigPool): boolean =>
  spec?.configuration?.name === status?.configuration?.name

function messageOf(pool: MachineConfigPool, state: PoolStatus['state']): string {
  const types =
    state === 'degraded' ? ['NodeDegraded', 'RenderDegraded', 'Degraded'] : ['Updating', 'Updated']
  const said = types.map((type) => condition(pool, type)?.message ?? '')
  return said.find((message) => message !== '') ?? ''
}

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

/**
 * What the pools lack to be updated, in words; undefined when all of them are. `Updated` alone is no proof: right after a pool is unpaused it
 * still tells of the configuration before (hco-olm-openshift facts 3.5), so wanted and present configuration are compared as well.
 */
export function poolsMissing(pools: readonly MachineConfigPool[]): string | undefined {
  const missing = pools.flatMap((pool) => {
    const what = missingOf(pool)
    return what === undefined ? [] : [`pool ${pool.metadata.name}, which ${what}`]
  })
  return missing.length === 0 ? undefined : missing.join(', ')
}

/** Whether one of them cannot go on by itself; one that is paused waits for a person. */
export const anyDegraded = (pools: readonly MachineConfigPool[]): boolean =>
  pools.some((pool) => pool.spec?.paused !== true && is(pool, 'Degraded'))

function missingOf(pool: MachineConfigPool): string | undefined {
  if (pool.spec?.paused === true) return 'is paused'
  if (is(pool, 'Degraded'))
    return `is degraded: ${condition(pool, 'Degraded')?.message || 'no reason is given'}`
  return (
    nodesMissing(pool) ??
    (isObserved(pool) && hasWanted(pool) ? undefined : 'has a new configuration and has not started on it')
  )
}

function nodesMissing(pool: MachineConfigPool): string | undefined {
  const { machineCount = 0, updatedMachineCount = 0, readyMachineCount = 0 } = pool.status ?? {}
  const done = Math.min(updatedMachineCount, readyMachineCount)
  if (done < machineCount) return `has ${done} of ${machineCount} nodes updated and ready`
  return is(pool, 'Updating') || !is(pool, 'Updated') ? 'is updating' : undefined
}
