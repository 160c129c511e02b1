import {
  type MachineHealthCheck,
  MachineHealthChecks,
  type NodeHealthCheck,
  NodeHealthChecks,
} from '../../cluster/kinds/openshift.ts'
import type { HealthCheckShape } from './shape.ts'

const silent = ['Unknown', 'False']

/** A check over the nodes of a pool, which takes a node for lost after five minutes (night E7). */
export function healthCheckObject(check: HealthCheckShape): MachineHealthCheck | NodeHealthCheck {
  return check.kind === 'MachineHealthCheck' ? machineHealthCheck(check) : nodeHealthCheck(check)
}

function machineHealthCheck({ name, pool }: HealthCheckShape): MachineHealthCheck {
  const spec = {
    selector: { matchLabels: { 'machine.openshift.io/cluster-api-machine-role': pool } },
    unhealthyConditions: silent.map((status) => ({ type: 'Ready', status, timeout: '300s' })),
    maxUnhealthy: '40%',
  }
  const { apiVersion, kind } = MachineHealthChecks
  return { apiVersion, kind, metadata: { name, namespace: 'openshift-machine-api' }, spec }
}

function nodeHealthCheck({ name, pool }: HealthCheckShape): NodeHealthCheck {
  const spec = {
    selector: { matchLabels: { [`node-role.kubernetes.io/${pool}`]: '' } },
    unhealthyConditions: silent.map((status) => ({ type: 'Ready', status, duration: '300s' })),
    minHealthy: '51%',
  }
  const { apiVersion, kind } = NodeHealthChecks
  return { apiVersion, kind, metadata: { name }, spec }
}
