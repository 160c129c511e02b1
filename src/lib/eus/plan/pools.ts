import type { MachineHealthCheck, NodeHealthCheck } from '../../cluster/kinds/openshift.ts'
import { itemsOf } from '../../facts/known.ts'
import type { HealthCheckRef, PoolToPause } from '../eus-plan.ts'
import { type EusSight, isBorrowed, type JudgedPool } from './sight.ts'

/** Every pool but master that has machines, custom ones too: a node in one is not the worker pool's (ocp 3.5). */
export function poolsToPause(sight: EusSight): readonly PoolToPause[] {
  return sight.pools
    .filter(({ isMaster, machines }) => !isMaster && machines > 0)
    .map((pool) => toPause(pool, isBorrowed(sight, `pool-paused/${pool.name}`)))
}

function toPause(
  { name, machines, paused, pool: { metadata, spec } }: JudgedPool,
  borrowed: boolean,
): PoolToPause {
  return {
    name,
    ...(metadata.uid !== undefined && { uid: metadata.uid }),
    machines,
    maxUnavailable: spec?.maxUnavailable ?? 1,
    paused: paused && !borrowed,
    ...(borrowed && { borrowed }),
  }
}

/** What replaces a node that is away for longer than an update takes (night E7). */
export function healthChecksOf({ evidence: { platform } }: EusSight): readonly HealthCheckRef[] {
  return [
    ...itemsOf(platform.machineHealthChecks).map(machineHealthCheck),
    ...itemsOf(platform.nodeHealthChecks).map(nodeHealthCheck),
  ]
}

const pausedAnnotation = 'cluster.x-k8s.io/paused'

function machineHealthCheck({ metadata }: MachineHealthCheck): HealthCheckRef {
  const { namespace, name, annotations = {} } = metadata
  return {
    kind: 'MachineHealthCheck',
    ...(namespace !== undefined && { namespace }),
    name,
    paused: Object.hasOwn(annotations, pausedAnnotation),
  }
}

const nodeHealthCheck = ({ metadata, spec }: NodeHealthCheck): HealthCheckRef => ({
  kind: 'NodeHealthCheck',
  name: metadata.name,
  paused: (spec?.pauseRequests ?? []).length > 0,
})
