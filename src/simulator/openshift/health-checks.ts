import * as kube from '../kinds.ts'
import { condition, type KubeObject } from '../../lib/kube/object.ts'
import { control, recordEvent } from '../machinery/controller.ts'
import { share } from '../machinery/owned-pods.ts'
import { listServed } from '../../lib/kube/known.ts'
import { isTrue, minute, msSince, type Platform, writeStatus } from './platform-context.ts'

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
  const watched = [{ kind: kube.Nodes }, { kind: kube.MachineHealthChecks }, { kind: kube.NodeHealthChecks }]
  return control(cx, watched, async () => {
    const nodes = await cx.reader.list(kube.Nodes)
    for (const check of await listServed(cx.reader, kube.MachineHealthChecks))
      await machineCheck(cx, check, nodes)
    for (const check of await listServed(cx.reader, kube.NodeHealthChecks)) await nodeCheck(cx, check, nodes)
    return nodes.every(isReady) ? undefined : beat
  })
}

const isReady = ({ status }: kube.Node): boolean => isTrue(status?.conditions, 'Ready')

function selected(nodes: readonly kube.Node[], labels: Record<string, string>): kube.Node[] {
  const wanted = Object.entries(labels)
  return nodes.filter(({ metadata }) => wanted.every(([key, value]) => metadata.labels?.[key] === value))
}

/** Machines have no objects here: a role among them is the role of nodes. */
async function machineCheck(cx: Platform, check: kube.MachineHealthCheck, nodes: readonly kube.Node[]) {
  const role = check.spec?.selector?.matchLabels?.[machineRole] ?? ''
  const own = selected(nodes, { [`node-role.kubernetes.io/${role}`]: '' })
  const unwell = own.filter((node) => !isReady(node)).length
  const most = share(check.spec?.maxUnhealthy ?? '100%', own.length, 'down')
  await writeStatus(cx, kube.MachineHealthChecks, check, {
    ...check.status,
    expectedMachines: own.length,
    currentHealthy: own.length - unwell,
    remediationsAllowed: Math.max(0, most - unwell),
  })
  const isPaused = check.metadata.annotations?.[pausedNote] !== undefined
  if (!isPaused && unwell <= most) await remediate(cx, check, own)
}

async function nodeCheck(cx: Platform, check: kube.NodeHealthCheck, nodes: readonly kube.Node[]) {
  const { selector, pauseRequests = [], minHealthy = '51%' } = check.spec ?? {}
  const own = selected(nodes, selector?.matchLabels ?? {})
  const healthyNodes = own.filter(isReady).length
  const phase = pauseRequests.length > 0 ? 'Paused' : 'Enabled'
  const status = { ...check.status, phase, observedNodes: own.length, healthyNodes }
  await writeStatus(cx, kube.NodeHealthChecks, check, status)
  const isEnough = healthyNodes >= share(minHealthy, own.length, 'up')
  if (phase === 'Enabled' && isEnough) await remediate(cx, check, own)
}

async function remediate(cx: Platform, check: KubeObject, nodes: readonly kube.Node[]): Promise<void> {
  for (const node of nodes) {
    const { name } = node.metadata
    const silent = condition(node, 'Ready')
    const isSilent = silent !== undefined && silent.status !== 'True'
    if (!isSilent || msSince([silent], 'Ready', cx.clock.now()) < patience) continue
    const message = `Machine of node ${name} is deleted: the node has not been Ready for 5 minutes`
    await recordEvent(cx, check, 'healthcheck', ['Warning', 'MachineDeleted', message])
    await cx.writer.delete(kube.Nodes, node.metadata)
  }
}
