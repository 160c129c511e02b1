import * as kube from '../kinds.ts'
import { quantity } from '../../lib/kube/quantity.ts'
import { type Condition, condition } from '../../lib/kube/object.ts'
import { outcomeAnnotations } from '../vm-shape.ts'
import {
  claim,
  controlEach,
  type ControllerContext,
  foundIn,
  keyed,
  keyOf,
  recordEvent,
  seconds,
} from '../machinery/controller.ts'
import { createPod, isLiving, isReady } from '../machinery/owned-pods.ts'
import { avoidAnnotation } from '../machinery/scheduler.ts'

export const outdatedLabel = 'kubevirt.io/outdatedLauncherImage'

/** Takes each instance from Pending to Running and marks those whose launcher is of another release (facts 3.1). */
export function runInstances(cx: Virt): Promise<void> {
  const watches = [
    keyed(kube.Vmis, ({ metadata }) => [keyOf(metadata)]),
    keyed(kube.Pods, (pod) => instanceOf(pod) ?? []),
  ]
  return controlEach(cx, watches, async () => async (ref) => {
    const vmi = foundIn(await cx.reader.get(kube.Vmis, ref))
    if (vmi === undefined) return
    const pod = currentLauncher(vmi, await launchersOf(cx, vmi))
    if (vmi.metadata.deletionTimestamp === undefined) await phases[vmi.status?.phase ?? '']?.(cx, vmi, pod)
  })
}

/** The key of the instance that a launcher belongs to; none for other pods. */
export function instanceOf({ metadata }: kube.Pod): [string] | undefined {
  const owner = metadata.ownerReferences?.find((o) => o.controller === true && o.kind === instanceKind)
  return owner && [keyOf({ namespace: metadata.namespace, name: owner.name })]
}

const instanceKind = kube.Vmis.kind

type Reconcile = (cx: Virt, vmi: kube.Vmi, pod: kube.Pod | undefined) => Promise<void>

const awaitLauncher: Reconcile = async (cx, vmi, pod) => {
  if (pod && isReady(pod)) await run(cx, vmi, pod)
  else if (pod) await tellScheduler(cx, vmi, pod)
}

/** What each phase waits for, and does then. */
const phases: Record<string, Reconcile> = {
  '': (cx, vmi) => write(cx, vmi, { phase: 'Pending' }),
  Pending: schedule,
  Scheduling: awaitLauncher,
  Scheduled: awaitLauncher,
  Running: (cx, vmi, pod) => (pod && isLiving(pod) ? mark(cx, vmi, pod) : endUnlessMoved(cx, vmi)),
}

type Status = NonNullable<kube.Vmi['status']>
type Labels = Record<string, string | null>

async function write(cx: Virt, { metadata }: kube.Vmi, status: Status, labels?: Labels): Promise<void> {
  await cx.writer.mergePatch(kube.Vmis, metadata, { ...(labels && { metadata: { labels } }), status })
}

/** What the scheduler says of the launcher is said of the instance (facts 6: ErrorUnschedulable). */
async function tellScheduler(cx: Virt, vmi: kube.Vmi, pod: kube.Pod): Promise<void> {
  const unplaced = condition(pod, 'PodScheduled')
  if (unplaced?.status !== 'False' || condition(vmi, 'PodScheduled')?.status === 'False') return
  const { type, status, reason = '', message = '' } = unplaced
  await write(cx, vmi, { conditions: [{ type, status, reason, message, lastTransitionTime: seconds(cx) }] })
}

/** A migration moves the instance before its source pod ends: whoever saw the pod end has to look again. */
async function endUnlessMoved(cx: Virt, vmi: kube.Vmi): Promise<void> {
  const now = foundIn(await cx.reader.get(kube.Vmis, vmi.metadata))
  if (now?.metadata.uid === vmi.metadata.uid && now?.status?.nodeName === vmi.status?.nodeName)
    await write(cx, vmi, { phase: 'Succeeded' })
}

async function schedule(cx: Virt, vmi: kube.Vmi, there: kube.Pod | undefined): Promise<void> {
  const pod = there ?? (await createLauncher(cx, vmi))
  const message = `Created virtual machine pod ${pod.metadata.name}`
  await recordEvent(cx, vmi, by, ['Normal', 'SuccessfulCreate', message])
  await write(cx, vmi, { phase: 'Scheduling', launcherContainerImageVersion: launcherImageOf(pod) })
}

async function run(cx: Virt, vmi: kube.Vmi, pod: kube.Pod): Promise<void> {
  const nodeName = pod.spec?.nodeName ?? ''
  await write(cx, vmi, { phase: 'Scheduled' })
  const status: Status = {
    phase: 'Running',
    nodeName,
    migrationMethod: 'LiveMigration',
    activePods: { [pod.metadata.uid ?? '']: nodeName },
    conditions: conditionsOf(vmi, seconds(cx)),
  }
  await write(cx, vmi, status, { 'kubevirt.io/nodeName': nodeName })
}

/** No `lastProbeTime: null` here: it does not survive a merge patch (lab, workloads 12). */
function conditionsOf({ metadata }: kube.Vmi, lastTransitionTime: string): Condition[] {
  const reason = metadata.annotations?.[outcomeAnnotations.notMigratable]
  const migratable =
    reason === undefined
      ? claim('LiveMigratable', 'True')
      : claim('LiveMigratable', 'False', reason, `cannot migrate VMI: ${reason}`)
  return [claim('Ready', 'True'), migratable].map((one) => Object.assign(one, { lastTransitionTime }))
}

async function mark(cx: Virt, vmi: kube.Vmi, pod: kube.Pod): Promise<void> {
  const image = launcherImageOf(pod)
  if (vmi.status?.launcherContainerImageVersion !== image)
    await write(cx, vmi, { launcherContainerImageVersion: image })
  const outdated = image !== cx.launcherImage
  const metadata = { labels: { [outdatedLabel]: outdated ? '' : null } }
  if (outdatedLabel in (vmi.metadata.labels ?? {}) !== outdated)
    await cx.writer.mergePatch(kube.Vmis, vmi.metadata, { metadata })
  if (outdatedLabel in (pod.metadata.labels ?? {}) !== outdated)
    await cx.writer.mergePatch(kube.Pods, pod.metadata, { metadata })
}

const by = 'virtualmachine-controller'
export const migrationLabel = 'kubevirt.io/migrationJobUID'

/** Every virt-launcher pod of an instance, those that are through included. */
export async function launchersOf(cx: Virt, { metadata }: kube.Vmi): Promise<kube.Pod[]> {
  return cx.reader.list(kube.Pods, {
    namespace: metadata.namespace,
    labels: `kubevirt.io/created-by=${metadata.uid}`,
  })
}

/** The pod that the guest runs in: on the instance's node, or its first one. */
export function currentLauncher({ status }: kube.Vmi, pods: readonly kube.Pod[]): kube.Pod | undefined {
  if (status?.nodeName === undefined)
    return pods.find((pod) => pod.metadata.labels?.[migrationLabel] === undefined)
  const here = pods.filter((pod) => pod.spec?.nodeName === status.nodeName)
  return here.find(isLiving) ?? here[0]
}

/** The image of the `compute` container: what decides whether an instance is outdated. */
const launcherImageOf = ({ spec }: kube.Pod): string =>
  spec?.containers?.find((c) => c.name === 'compute')?.image ?? ''

/** Creates a launcher; one for a migration keeps away from the node where the instance runs. */
export function createLauncher(cx: Virt, vmi: kube.Vmi, migrationUid?: string): Promise<kube.Pod> {
  const { name } = vmi.metadata
  const template = launcherTemplate(vmi, cx.launcherImage, migrationUid)
  return createPod(cx, vmi, { template, prefix: `virt-launcher-${name}-`, by })
}

/** What virt-controller makes a launcher of the instance from; with the uid of a migration, one that it goes to. */
export function launcherTemplate(vmi: kube.Vmi, image: string, migrationUid?: string): kube.PodTemplate {
  const { name, uid = '', labels } = vmi.metadata
  const spec: Asking | undefined = vmi.spec
  const { nodeName = '' } = vmi.status ?? {}
  const requests = requestsOf(spec?.domain?.resources?.requests?.memory)
  const migration = migrationUid === undefined ? {} : { [migrationLabel]: migrationUid }
  const apart = migrationUid === undefined ? {} : { [avoidAnnotation]: nodeName }
  return {
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
      nodeSelector: { ...spec?.nodeSelector, 'kubevirt.io/schedulable': 'true' },
      ...(spec?.affinity && { affinity: spec.affinity }),
      ...(spec?.tolerations && { tolerations: spec.tolerations }),
      containers: [{ name: 'compute', image, command: ['/usr/bin/virt-launcher-monitor'], ...requests }],
    },
  }
}

/** What the guest asks for, and what KubeVirt takes itself, for one vCPU (KV:pkg/virt-controller/services, GetMemoryOverhead, its fixed parts). */
function requestsOf(memory: string | undefined): { resources?: { requests: { memory: string } } } {
  const guest = quantity(memory)
  if (guest === undefined) return {}
  const all = Math.ceil(guest + 228 * 2 ** 20 + guest / 512)
  return { resources: { requests: { memory: String(all) } } }
}

/** The part of a VMI's spec that decides where its launcher can run. */
interface Asking {
  nodeSelector?: Record<string, string>
  affinity?: Record<string, unknown>
  tolerations?: Record<string, unknown>[]
  domain?: { resources?: { requests?: { memory?: string } } }
}

/** The end of a launcher whose guest is elsewhere or gone, as its kubelet would report it. */
export async function finishLauncher(cx: Virt, pod: kube.Pod, finishedAt: string): Promise<void> {
  if (!isLiving(pod)) return
  const state = { terminated: { exitCode: 0, reason: 'Completed', finishedAt } }
  const { containerStatuses = [], conditions = [] } = pod.status ?? {}
  const status = {
    phase: 'Succeeded',
    conditions: conditions.map(completed),
    containerStatuses: containerStatuses.map((one) =>
      Object.assign({}, one, { ready: false, started: false, state }),
    ),
  }
  await cx.writer.mergePatch(kube.Pods, pod.metadata, { status }, 'status')
}

const completed = (c: Condition): Condition =>
  c.type.endsWith('Ready') ? { ...c, status: 'False', reason: 'PodCompleted' } : c

/** A leading virt-controller. */
export interface Virt extends ControllerContext {
  /** The image that new virt-launcher pods get and all others are compared with (facts 2.10). */
  readonly launcherImage: string
  readonly namespace: string
}
