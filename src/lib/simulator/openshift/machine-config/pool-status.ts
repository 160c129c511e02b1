import type { Node } from '../../../cluster/kinds/core.ts'
import type { MachineConfigPool } from '../../../cluster/kinds/openshift.ts'
import { condition } from '../../../cluster/object.ts'
import { type Claim, withConditions } from '../conditions.ts'
import { nodeNote } from './names.ts'

type Status = NonNullable<MachineConfigPool['status']>

const note = ({ metadata }: Node, key: string): string | undefined => metadata.annotations?.[key]
const isReady = (node: Node): boolean => condition(node, 'Ready')?.status === 'True'

/** True when the node runs that configuration and wants no other. */
export function isUpdated(node: Node, config: string): boolean {
  const state = note(node, nodeNote.state)
  return (
    note(node, nodeNote.current) === config && note(node, nodeNote.desired) === config && state === 'Done'
  )
}

/** True when the node does not serve: under way, silent or cordoned. */
export function isUnavailable(node: Node): boolean {
  const settled = note(node, nodeNote.current) === note(node, nodeNote.desired)
  return (
    !settled || note(node, nodeNote.state) !== 'Done' || !isReady(node) || node.spec?.unschedulable === true
  )
}

/** What a pool says of its nodes (ocp 3.5): a paused one with something to do is neither updated nor updating. Pure; `at`: RFC 3339. */
export function poolStatus(pool: MachineConfigPool, nodes: readonly Node[], at: string): Status {
  const { spec = {}, status = {}, metadata } = pool
  const { name: config = '' } = spec.configuration ?? {}
  const counts = countsOf(nodes, config)
  const done = counts.readyMachineCount === nodes.length && counts.unavailableMachineCount === 0
  const { configuration } = done ? spec : status
  const claims = [
    ...degradedClaims(nodes.filter(isDegraded)),
    ...(done ? updatedClaims(config) : pendingClaims(pool, config)),
  ]
  return {
    ...observed(metadata),
    ...(configuration && { configuration }),
    ...counts,
    conditions: withConditions(status.conditions ?? [], claims, at),
    certExpirys: [certificate(pool)],
  }
}

const observed = ({ generation = 1 }: MachineConfigPool['metadata']): Pick<Status, 'observedGeneration'> => ({
  observedGeneration: generation,
})

const isDegraded = (node: Node): boolean => note(node, nodeNote.state) === 'Degraded'

function countsOf(
  nodes: readonly Node[],
  config: string,
): {
  machineCount: number
  updatedMachineCount: number
  readyMachineCount: number
  unavailableMachineCount: number
  degradedMachineCount: number
} {
  const updated = nodes.filter((node) => isUpdated(node, config))
  return {
    machineCount: nodes.length,
    updatedMachineCount: updated.length,
    readyMachineCount: updated.filter((node) => isReady(node) && node.spec?.unschedulable !== true).length,
    unavailableMachineCount: nodes.filter(isUnavailable).length,
    degradedMachineCount: nodes.filter(isDegraded).length,
  }
}

function updatedClaims(config: string): Claim[] {
  const message = `All nodes are updated with MachineConfig ${config}`
  return [
    { type: 'Updated', status: 'True', reason: '', message },
    { type: 'Updating', status: 'False', reason: '', message: '' },
  ]
}

function pendingClaims({ spec }: MachineConfigPool, config: string): Claim[] {
  const updating: Claim =
    spec?.paused === true
      ? {
          type: 'Updating',
          status: 'False',
          message: `Pool is paused; will not update to MachineConfig ${config}`,
        }
      : { type: 'Updating', status: 'True', message: `All nodes are updating to MachineConfig ${config}` }
  return [
    { type: 'Updated', status: 'False', reason: '', message: '' },
    { reason: '', ...updating },
  ]
}

function degradedClaims(nodes: readonly Node[]): Claim[] {
  const message = nodes
    .map((node) => `Node ${node.metadata.name} is reporting: ${JSON.stringify(note(node, nodeNote.reason))}`)
    .join(', ')
  const status = nodes.length > 0 ? 'True' : 'False'
  const reason = nodes.length > 0 ? `${nodes.length} nodes are reporting degraded status on sync` : ''
  return [
    { type: 'RenderDegraded', status: 'False', reason: '', message: '' },
    { type: 'NodeDegraded', status, reason, message },
    { type: 'Degraded', status, reason: '', message },
  ]
}

/** A year after the pool was made. */
function certificate({ metadata }: MachineConfigPool): NonNullable<Status['certExpirys']>[number] {
  const made = Date.parse(metadata.creationTimestamp ?? '2026-01-01T00:00:00Z')
  const expiry = new Date(made + 365 * 24 * 3_600_000).toISOString().replace(/\.\d+Z$/, 'Z')
  return {
    bundle: 'KubeAPIServerServingCAData',
    subject: 'CN=kube-apiserver-to-kubelet-signer,OU=openshift',
    expiry,
  }
}
