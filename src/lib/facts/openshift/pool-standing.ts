import type { MachineConfigPool } from '../../cluster/kinds/openshift.ts'
import { condition } from '../../cluster/object.ts'

/** Where a pool of machines stands (ocp 3.5). */
export interface PoolStanding {
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
export function poolStanding(pool: MachineConfigPool): PoolStanding {
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
    current: isCurrent(pool),
    message: messageOf(pool, state),
  }
}

const is = (pool: MachineConfigPool, type: string): boolean => condition(pool, type)?.status === 'True'
const degradedTypes = ['Degraded', 'NodeDegraded', 'RenderDegraded']

function stateOf(pool: MachineConfigPool): PoolStanding['state'] {
  if (degradedTypes.some((type) => is(pool, type))) return 'degraded'
  const done = isDone(pool)
  // An image-mode pool says Updating=True while it is paused.
  if (pool.spec?.paused === true) return done ? 'updated' : 'paused-pending'
  if (done) return 'updated'
  return is(pool, 'Updating') && isCurrent(pool) ? 'updating' : 'pending'
}

function isDone(pool: MachineConfigPool): boolean {
  const { machineCount = 0, updatedMachineCount = 0 } = pool.status ?? {}
  const says = is(pool, 'Updated') && !is(pool, 'Updating')
  return says && isCurrent(pool) && hasWanted(pool) && updatedMachineCount >= machineCount
}

const hasWanted = ({ spec, status }: MachineConfigPool): boolean =>
  spec?.configuration?.name === status?.configuration?.name

function isCurrent({ status, metadata }: MachineConfigPool): boolean {
  return (status?.observedGeneration ?? 0) >= (metadata.generation ?? 0)
}

function messageOf(pool: MachineConfigPool, state: PoolStanding['state']): string {
  const types =
    state === 'degraded' ? ['NodeDegraded', 'RenderDegraded', 'Degraded'] : ['Updating', 'Updated']
  const said = types.map((type) => condition(pool, type)?.message ?? '')
  return said.find((message) => message !== '') ?? ''
}
