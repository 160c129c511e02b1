import { type Pod, Pods, type PodTemplate } from '../../lib/kube/kinds/workload-kinds.ts'
import { condition, type KubeObject, type OwnerReference } from '../../lib/kube/object.ts'
import { quantity } from '../../lib/kube/quantity.ts'
import { ApiError } from '../../lib/kube/errors.ts'
import { ownKey } from '../own-keys.ts'
import { type ControllerContext, made, nameSuffix, recordEvent } from './controller.ts'

/** Holds a deleted pod until its containers have ended, which in a real cluster the kubelet's second delete does. */
export const terminationFinalizer = ownKey('termination')

/** The reference that makes an object go when its owner goes; of no controller, an object may have several owners. */
export function ownerReference(
  { apiVersion, kind, metadata }: KubeObject,
  controller = true,
): OwnerReference {
  return { apiVersion, kind, name: metadata.name, uid: metadata.uid ?? '', controller }
}

/** The owner's pods, those that are going included. */
export async function podsOf(
  cx: ControllerContext,
  owner: KubeObject,
  labels: Record<string, string>,
): Promise<Pod[]> {
  const pods = await cx.reader.list(Pods, { namespace: owner.metadata.namespace, labels: asSelector(labels) })
  return pods.filter(
    (pod) => pod.metadata.ownerReferences?.some((o) => o.uid === owner.metadata.uid) ?? false,
  )
}

/** `a=b,c=d`. */
export const asSelector = (labels: Record<string, string>): string =>
  Object.entries(labels)
    .map(([key, value]) => `${key}=${value}`)
    .join(',')

interface PodRequest {
  template: PodTemplate
  prefix: string
  labels?: Record<string, string>
  nodeName?: string | undefined
  /** The controller that makes it. */
  by: string
}

/** Creates a pod of the owner from a template. An event tells of a refusal, as nothing else would. */
export async function createPod(cx: ControllerContext, owner: KubeObject, request: PodRequest): Promise<Pod> {
  try {
    return await cx.writer.create(Pods, newPod(cx, owner, request))
  } catch (error) {
    if (error instanceof ApiError && error.status !== 404)
      await recordEvent(cx, owner, request.by, [
        'Warning',
        'FailedCreate',
        `Error creating: ${error.message}`,
      ])
    throw error
  }
}

function newPod(cx: ControllerContext, owner: KubeObject, request: PodRequest): Pod {
  const { template, prefix, labels, nodeName } = request
  return made(Pods, {
    metadata: {
      name: `${prefix}${nameSuffix(cx.random)}`,
      generateName: prefix,
      namespace: owner.metadata.namespace,
      labels: { ...template.metadata?.labels, ...labels },
      annotations: { ...template.metadata?.annotations },
      ownerReferences: [ownerReference(owner)],
      finalizers: [terminationFinalizer],
    },
    spec: { ...template.spec, ...(nodeName === undefined ? {} : { nodeName }) },
  })
}

/** True while the pod is there and nobody has asked it to go. */
export const isLiving = ({ metadata, status }: Pod): boolean =>
  metadata.deletionTimestamp === undefined && !isOver({ status })

/** True when its containers have ended for good. */
export const isOver = ({ status }: Pick<Pod, 'status'> | { status: Pod['status'] }): boolean =>
  status?.phase === 'Succeeded' || status?.phase === 'Failed'

export const isReady = (pod: Pod): boolean => condition(pod, 'Ready')?.status === 'True'

/** A number, or a percentage of `total` rounded up or down as the field asks. */
export function share(value: number | string | undefined, total: number, round: 'up' | 'down'): number {
  if (typeof value === 'number') return value
  if (value === undefined) return 1
  const part = (Number.parseFloat(value) * total) / 100
  return round === 'up' ? Math.ceil(part) : Math.floor(part)
}

/** `{namespace}` where there is one: exactOptionalPropertyTypes takes no undefined. */
export const namespaced = ({ namespace }: { namespace?: string | undefined }): { namespace?: string } =>
  namespace === undefined ? {} : { namespace }

/** What its containers ask for, in bytes. */
export const memoryOf = ({ spec }: Pod): number =>
  (spec?.containers ?? []).reduce((sum, one) => sum + (quantity(one.resources?.requests?.['memory']) ?? 0), 0)
