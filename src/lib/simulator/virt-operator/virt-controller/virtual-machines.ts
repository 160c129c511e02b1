import { type KubeVirt, KubeVirts } from '../../../cluster/kinds/kubevirt.ts'
import {
  type VirtualMachine,
  type VirtualMachineInstance,
  VirtualMachineInstances,
  VirtualMachines,
} from '../../../cluster/kinds/virtual-machines.ts'
import { condition, type Metadata } from '../../../cluster/object.ts'
import { control } from '../../machinery/controller.ts'
import { namespaced } from '../../machinery/namespaced.ts'
import { ownerReference } from '../../machinery/pods.ts'
import { recordEvent } from '../../machinery/record-event.ts'
import { sameStatus } from '../../machinery/same-status.ts'
import type { VirtControllerContext } from './controller-context.ts'
import { conditionsOf, withoutRestart } from './restart-required.ts'
import { keepStart } from './start-revision.ts'

const by = 'virtualmachine-controller'

/** What a restart, a start or a stop leaves in the status of a VM for the controller. */
export interface StateChange {
  action: 'Start' | 'Stop'
}
type Status = NonNullable<VirtualMachine['status']>

/** Gives each VM the instance that its run strategy asks for (facts 3.4: what comes back after an eviction). */
export function runVirtualMachines(cx: VirtControllerContext): Promise<void> {
  return control(cx, [{ kind: VirtualMachines }, { kind: VirtualMachineInstances }], async () => {
    const instances = await cx.reader.list(VirtualMachineInstances)
    for (const vm of await cx.reader.list(VirtualMachines)) {
      const { name, namespace } = vm.metadata
      await tend(
        cx,
        vm,
        instances.find(({ metadata: m }) => m.name === name && m.namespace === namespace),
      )
    }
    return undefined
  })
}

async function tend(
  cx: VirtControllerContext,
  vm: VirtualMachine,
  vmi: VirtualMachineInstance | undefined,
): Promise<void> {
  const [request, ...later] = requestsOf(vm)
  if (vmi === undefined) {
    const wanted = request?.action === 'Start' || startsByItself(vm)
    return wanted
      ? start(cx, vm, request === undefined ? {} : { stateChangeRequests: null })
      : report(cx, vm, absent)
  }
  if (!isThrough(vmi) && request?.action !== 'Stop') {
    const conditions = await conditionsOf(cx, vm, vmi)
    return report(cx, vm, { ...standing(vmi), ...(conditions && { conditions }) })
  }
  await stop(cx, vm, vmi)
  return report(cx, vm, { ...absent, stateChangeRequests: later })
}

function requestsOf({ status = {} }: VirtualMachine): StateChange[] {
  const { stateChangeRequests }: Status = status
  return stateChangeRequests ?? []
}

const absent = { printableStatus: 'Stopped', ready: false, created: false }

function isThrough({ status }: VirtualMachineInstance): boolean {
  return status?.phase === 'Succeeded' || status?.phase === 'Failed'
}

/** RerunOnFailure, Once: only the first time, since no guest here ever fails. */
function startsByItself({ spec, status }: VirtualMachine): boolean {
  const strategy = spec?.runStrategy ?? (spec?.running === true ? 'Always' : 'Halted')
  if (strategy === 'Always') return true
  return (strategy === 'RerunOnFailure' || strategy === 'Once') && status?.printableStatus === undefined
}

function standing(vmi: VirtualMachineInstance): Status {
  const running = vmi.status?.phase === 'Running'
  const { migrationState } = vmi.status ?? {}
  const migrating = migrationState?.startTimestamp !== undefined && migrationState.endTimestamp === undefined
  const starting = condition(vmi, 'PodScheduled')?.status === 'False' ? 'ErrorUnschedulable' : 'Starting'
  const printableStatus = migrating ? 'Migrating' : running ? 'Running' : starting
  return { printableStatus, ready: running, created: true }
}

async function report(cx: VirtControllerContext, vm: VirtualMachine, status: Status): Promise<void> {
  if (!sameStatus(vm.status, status))
    await cx.writer.mergePatch(VirtualMachines, vm.metadata, { status }, 'status')
}

async function start(cx: VirtControllerContext, vm: VirtualMachine, taken: Status): Promise<void> {
  const { metadata, spec } = vm.spec?.template ?? {}
  const { labels = {}, annotations = {} } = (metadata ?? {}) as Partial<Metadata>
  const evictionStrategy = spec?.evictionStrategy ?? (await clusterStrategy(cx))
  const virtualMachineRevisionName = await keepStart(cx, vm)
  const created = await cx.writer.create(VirtualMachineInstances, {
    apiVersion: VirtualMachineInstances.apiVersion,
    kind: VirtualMachineInstances.kind,
    metadata: {
      name: vm.metadata.name,
      ...namespaced(vm.metadata),
      labels,
      annotations,
      ownerReferences: [ownerReference(vm)],
    },
    spec: { ...spec, ...(evictionStrategy === undefined ? {} : { evictionStrategy }) },
    status: { virtualMachineRevisionName },
  })
  const message = `Started the virtual machine by creating the new virtual machine instance ${created.metadata.name}`
  await recordEvent(cx, vm, { type: 'Normal', reason: 'SuccessfulCreate', message, by })
  await report(cx, vm, { ...starting, ...takenOver(vm), ...taken })
}

const starting = { printableStatus: 'Starting', ready: false, created: true }

/** A start takes over everything that waited for it. */
function takenOver({ status }: VirtualMachine): Status {
  return status?.conditions ? { conditions: withoutRestart(status.conditions) } : {}
}

/** The cluster's strategy is frozen into the instance when it is made (facts 1.3). */
async function clusterStrategy(cx: VirtControllerContext): Promise<string | undefined> {
  const [kubevirt]: KubeVirt[] = await cx.reader.list(KubeVirts, { namespace: cx.namespace })
  return kubevirt?.spec?.configuration?.['evictionStrategy'] as string | undefined
}

async function stop(
  cx: VirtControllerContext,
  vm: VirtualMachine,
  { metadata }: VirtualMachineInstance,
): Promise<void> {
  await cx.writer.delete(VirtualMachineInstances, metadata, { uid: metadata.uid })
  const message = `Stopped the virtual machine by deleting the virtual machine instance ${metadata.uid}`
  await recordEvent(cx, vm, { type: 'Normal', reason: 'SuccessfulDelete', message, by })
}
