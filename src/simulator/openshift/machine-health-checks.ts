import { type Node, Nodes } from '../../lib/kube/kinds/core-kinds.ts'
import {
  type MachineHealthCheck,
  MachineHealthChecks,
  type NodeHealthCheck,
  NodeHealthChecks,
} from '../../lib/kube/kinds/openshift-kinds.ts'
import { condition } from '../../lib/kube/object.ts'
import { control, recordEvent } from '../machinery/controller.ts'
import { share } from '../machinery/owned-pods.ts'
import { listServed, minute, type Platform, writeStatus } from './platform-context.ts'
import type { HealthCheckShape } from './openshift-shape.ts'

const patience = 5 * minute
const beat = 30_000
const machineRole = 'machine.openshift.io/cluster-api-machine-role'
/** What stops a MachineHealthCheck, whatever its value. */
const pausedNote = 'cluster.x-k8s.io/paused'

/**
 * Takes a node that was not Ready for five minutes for lost, and its machine away, unless the check is paused or too many nodes are
 * not well (night E7): what a reboot looks like to it that takes its time.
 */
export function runHealthChecks(cx: Platform): Promise<void> {
  const watched = [{ kind: Nodes }, { kind: MachineHealthChecks }, { kind: NodeHealthChecks }]
  return control(cx, watched, async () => {
    const nodes = await cx.reader.list(Nodes)
    const machineChecks = await listServed(cx, MachineHealthChecks)
    const nodeChecks = await listServed(cx, NodeHealthChecks)
    for (const check of machineChecks) await machineCheck(cx, check, nodes)
    for (const check of nodeChecks) await nodeCheck(cx, check, nodes)
    return nodes.every(isReady) ? undefined : beat
  })
}

const isReady = (node: Node): boolean => condition(node, 'Ready')?.status === 'True'

function isLost(cx: Platform, node: Node): boolean {
  const ready = condition(node, 'Ready')
  if (ready === undefined || ready.status === 'True') return false
  return cx.clock.now().getTime() - Date.parse(ready.lastTransitionTime ?? '') >= patience
}

function selected(nodes: readonly Node[], labels: Record<string, string>): Node[] {
  const wanted = Object.entries(labels)
  return nodes.filter(({ metadata }) => wanted.every(([key, value]) => metadata.labels?.[key] === value))
}

/** Machines have no objects here: a role among them is the role of nodes. */
async function machineCheck(cx: Platform, check: MachineHealthCheck, nodes: readonly Node[]): Promise<void> {
  const role = check.spec?.selector?.matchLabels?.[machineRole] ?? ''
  const own = selected(nodes, { [`node-role.kubernetes.io/${role}`]: '' })
  const unwell = own.filter((node) => !isReady(node)).length
  const most = share(check.spec?.maxUnhealthy ?? '100%', own.length, 'down')
  const remediationsAllowed = Math.max(0, most - unwell)
  const status = { expectedMachines: own.length, currentHealthy: own.length - unwell, remediationsAllowed }
  await writeStatus(cx, MachineHealthChecks, check, { ...check.status, ...status })
  const paused = check.metadata.annotations?.[pausedNote] !== undefined
  if (!paused && unwell <= most) await remediate(cx, check, own)
}

async function nodeCheck(cx: Platform, check: NodeHealthCheck, nodes: readonly Node[]): Promise<void> {
  const { selector, pauseRequests = [], minHealthy = '51%' } = check.spec ?? {}
  const own = selected(nodes, selector?.matchLabels ?? {})
  const healthyNodes = own.filter(isReady).length
  const paused = pauseRequests.length > 0
  const enough = healthyNodes >= share(minHealthy, own.length, 'up')
  const phase = paused ? 'Paused' : 'Enabled'
  await writeStatus(cx, NodeHealthChecks, check, {
    ...check.status,
    phase,
    observedNodes: own.length,
    healthyNodes,
  })
  if (!paused && enough) await remediate(cx, check, own)
}

async function remediate(
  cx: Platform,
  check: MachineHealthCheck | NodeHealthCheck,
  nodes: readonly Node[],
): Promise<void> {
  for (const node of nodes.filter((one) => isLost(cx, one))) {
    const message = `Machine of node ${node.metadata.name} is deleted: the node has not been Ready for 5 minutes`
    await recordEvent(cx, check, 'healthcheck', ['Warning', 'MachineDeleted', message])
    await cx.writer.delete(Nodes, node.metadata)
  }
}

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
