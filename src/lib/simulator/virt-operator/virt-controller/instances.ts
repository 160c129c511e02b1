import { type Pod, Pods } from '../../../cluster/kinds/pods.ts'
import {
  type VirtualMachineInstance,
  VirtualMachineInstances,
} from '../../../cluster/kinds/virtual-machines.ts'
import type { Condition } from '../../../cluster/object.ts'
import { fateAnnotations } from '../../virtual-machine.ts'
import { control, ownedBy } from '../../machinery/controller.ts'
import { isLiving, isReady } from '../../machinery/pods.ts'
import { recordEvent } from '../../machinery/record-event.ts'
import { seconds, type VirtControllerContext } from './controller-context.ts'
import { createLauncher, currentLauncher, launcherImageOf, launchersOf } from './launcher-pods.ts'

export const outdatedLabel = 'kubevirt.io/outdatedLauncherImage'

/** Takes each instance from Pending to Running and marks those whose launcher is of another release (facts 3.1). */
export function runInstances(cx: VirtControllerContext): Promise<void> {
  const launchers = { kind: Pods, concerns: ownedBy('VirtualMachineInstance') }
  return control(cx, [{ kind: VirtualMachineInstances }, launchers], async () => {
    for (const vmi of await cx.reader.list(VirtualMachineInstances)) await tend(cx, vmi)
    return undefined
  })
}

async function tend(cx: VirtControllerContext, vmi: VirtualMachineInstance): Promise<void> {
  if (vmi.metadata.deletionTimestamp !== undefined) return
  const pod = currentLauncher(vmi, await launchersOf(cx, vmi))
  switch (vmi.status?.phase) {
    case undefined:
      await write(cx, vmi, { phase: 'Pending' })
      return
    case 'Pending':
      await schedule(cx, vmi, pod)
      return
    case 'Scheduling':
    case 'Scheduled':
      if (pod && isReady(pod)) await run(cx, vmi, pod)
      return
    case 'Running':
      if (pod && isLiving(pod)) await mark(cx, vmi, pod)
      else await endUnlessMoved(cx, vmi)
      return
    default:
  }
}

/** A migration moves the instance before its source pod ends: whoever saw the pod end has to look again. */
async function endUnlessMoved(cx: VirtControllerContext, vmi: VirtualMachineInstance): Promise<void> {
  const now = await cx.reader.find(VirtualMachineInstances, vmi.metadata)
  if (now.is !== 'object' || now.object.metadata.uid !== vmi.metadata.uid) return
  if (now.object.status?.nodeName === vmi.status?.nodeName) await write(cx, vmi, { phase: 'Succeeded' })
}

type Status = NonNullable<VirtualMachineInstance['status']>

async function write(
  cx: VirtControllerContext,
  { metadata }: VirtualMachineInstance,
  status: Status,
): Promise<void> {
  await cx.writer.mergePatch(VirtualMachineInstances, metadata, { status })
}

async function schedule(
  cx: VirtControllerContext,
  vmi: VirtualMachineInstance,
  there: Pod | undefined,
): Promise<void> {
  const pod = there ?? (await createLauncher(cx, vmi))
  const message = `Created virtual machine pod ${pod.metadata.name}`
  await recordEvent(cx, vmi, {
    type: 'Normal',
    reason: 'SuccessfulCreate',
    message,
    by: 'virtualmachine-controller',
  })
  await write(cx, vmi, { phase: 'Scheduling', launcherContainerImageVersion: launcherImageOf(pod) ?? '' })
}

async function run(cx: VirtControllerContext, vmi: VirtualMachineInstance, pod: Pod): Promise<void> {
  const nodeName = pod.spec?.nodeName ?? ''
  await write(cx, vmi, { phase: 'Scheduled' })
  await cx.writer.mergePatch(VirtualMachineInstances, vmi.metadata, {
    metadata: { labels: { 'kubevirt.io/nodeName': nodeName } },
    status: {
      phase: 'Running',
      nodeName,
      migrationMethod: 'LiveMigration',
      activePods: { [pod.metadata.uid ?? '']: nodeName },
      conditions: conditionsOf(vmi, seconds(cx)),
    },
  })
}

/** No `lastProbeTime: null` here: it does not survive a merge patch (lab, workloads 12). */
function conditionsOf({ metadata }: VirtualMachineInstance, now: string): Condition[] {
  const reason = metadata.annotations?.[fateAnnotations.notMigratable]
  const migratable: Condition =
    reason === undefined
      ? { type: 'LiveMigratable', status: 'True' }
      : { type: 'LiveMigratable', status: 'False', reason, message: `cannot migrate VMI: ${reason}` }
  const ready: Condition = { type: 'Ready', status: 'True' }
  return [ready, migratable].map((c) => ({ ...c, lastTransitionTime: now }))
}

async function mark(cx: VirtControllerContext, vmi: VirtualMachineInstance, pod: Pod): Promise<void> {
  const image = launcherImageOf(pod) ?? ''
  if (vmi.status?.launcherContainerImageVersion !== image)
    await write(cx, vmi, { launcherContainerImageVersion: image })
  const outdated = image !== cx.launcherImage
  const labels = { [outdatedLabel]: outdated ? '' : null }
  if (outdatedLabel in (vmi.metadata.labels ?? {}) !== outdated) {
    await cx.writer.mergePatch(VirtualMachineInstances, vmi.metadata, { metadata: { labels } })
  }
  if (outdatedLabel in (pod.metadata.labels ?? {}) !== outdated)
    await cx.writer.mergePatch(Pods, pod.metadata, { metadata: { labels } })
}
