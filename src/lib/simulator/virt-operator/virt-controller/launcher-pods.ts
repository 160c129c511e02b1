import { type ContainerStatus, type Pod, Pods } from '../../../cluster/kinds/pods.ts'
import type { VirtualMachineInstance } from '../../../cluster/kinds/virtual-machines.ts'
import type { Condition } from '../../../cluster/object.ts'
import { avoidAnnotation } from '../../machinery/scheduler.ts'
import { bearPod, isLiving } from '../../machinery/pods.ts'
import type { VirtControllerContext } from './controller-context.ts'

export const migrationLabel = 'kubevirt.io/migrationJobUID'

/** Every virt-launcher pod of an instance, those that are through included. */
export async function launchersOf(
  cx: VirtControllerContext,
  { metadata }: VirtualMachineInstance,
): Promise<Pod[]> {
  return cx.reader.list(Pods, {
    namespace: metadata.namespace,
    labels: `kubevirt.io/created-by=${metadata.uid}`,
  })
}

/** The pod that the guest runs in: on the instance's node, or its first one. */
export function currentLauncher({ status }: VirtualMachineInstance, pods: readonly Pod[]): Pod | undefined {
  if (status?.nodeName === undefined)
    return pods.find((pod) => pod.metadata.labels?.[migrationLabel] === undefined)
  const here = pods.filter((pod) => pod.spec?.nodeName === status.nodeName)
  return here.find(isLiving) ?? here[0]
}

/** The image of the `compute` container: what decides whether an instance is outdated. */
export function launcherImageOf(pod: Pod): string | undefined {
  return pod.spec?.containers?.find((c) => c.name === 'compute')?.image
}

/** Creates a launcher; one for a migration keeps away from the node where the instance runs. */
export function createLauncher(
  cx: VirtControllerContext,
  vmi: VirtualMachineInstance,
  migrationUid?: string,
): Promise<Pod> {
  const { name, uid = '', labels } = vmi.metadata
  const { nodeName = '' } = vmi.status ?? {}
  const migration = migrationUid === undefined ? {} : { [migrationLabel]: migrationUid }
  const apart = migrationUid === undefined ? {} : { [avoidAnnotation]: nodeName }
  const template = {
    metadata: {
      labels: {
        ...labels,
        'kubevirt.io': 'virt-launcher',
        'kubevirt.io/created-by': uid,
        'vmi.kubevirt.io/id': name,
        ...migration,
      },
      annotations: { 'kubevirt.io/domain': name, ...apart },
    },
    spec: {
      restartPolicy: 'Never',
      nodeSelector: { 'kubevirt.io/schedulable': 'true' },
      containers: [{ name: 'compute', image: cx.launcherImage, command: ['/usr/bin/virt-launcher-monitor'] }],
    },
  }
  return bearPod(cx, vmi, { template, prefix: `virt-launcher-${name}-`, by: 'virtualmachine-controller' })
}

/** The end of a launcher whose guest is elsewhere or gone, as its kubelet would report it. */
export async function finishLauncher(cx: VirtControllerContext, pod: Pod, finishedAt: string): Promise<void> {
  if (!isLiving(pod)) return
  const state = { terminated: { exitCode: 0, reason: 'Completed', finishedAt } }
  const ended = (c: ContainerStatus): ContainerStatus => ({ ...c, ready: false, started: false, state })
  const containerStatuses = (pod.status?.containerStatuses ?? []).map(ended)
  const conditions = (pod.status?.conditions ?? []).map(completed)
  const status = { phase: 'Succeeded', conditions, containerStatuses }
  await cx.writer.mergePatch(Pods, pod.metadata, { status }, 'status')
}

const completed = (c: Condition): Condition =>
  c.type.endsWith('Ready') ? { ...c, status: 'False', reason: 'PodCompleted' } : c
