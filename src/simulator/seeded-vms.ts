import * as kube from './kinds.ts'
import type { KubeObject } from '../lib/kube/object.ts'
import { made, nameSuffix } from './machinery/controller.ts'
import { ownerReference, terminationFinalizer } from './machinery/owned-pods.ts'
import { withOthersUse } from './machinery/resource-quotas.ts'
import { podStatus } from './machinery/kubelet.ts'
import { seed, type Store } from './api/store.ts'
import { launcherImageOf } from './virt-operator/virt-controller.ts'
import { launcherTemplate, outdatedLabel } from './virt-operator/vmi-controller.ts'

/** How a settled cluster is filled. */
interface Filling {
  /** Of KubeVirt. */
  namespace: string
  /** 0 ≤ x < 1: for the names of pods. */
  random: () => number
  /** For when the launchers began; RFC 3339. */
  now: string
}

/**
 * Puts VMs, their instances and what goes with them into a settled cluster, as they are: an instance that runs has a launcher on its node. The launcher of an instance that is
 * labelled as outdated has the image that its status names, every other one the image that KubeVirt gives to new launchers here.
 */
export function seedVms(
  store: Store,
  objects: readonly KubeObject[],
  { namespace, random, now }: Filling,
): void {
  const current = launcherImage(store, namespace)
  const quotas = objects.filter(({ kind }) => kind === kube.ResourceQuotas.kind)
  for (const object of objects.filter(({ kind }) => kind !== kube.ResourceQuotas.kind).map(withOwnUid)) {
    const vmi: kube.Vmi = object
    const runs = vmi.status?.phase === 'Running' && vmi.status.nodeName !== undefined
    seed(store, object.kind === kube.Vmis.kind && runs ? running(vmi, { current, random, now }) : [object])
  }
  // Last: what else uses of them is what the pods that are here do not.
  for (const quota of quotas) seed(store, [withOthersUse(store, withOwnUid(quota))])
}

/** No uid that came from elsewhere is one that this cluster gives: of simulated clusters they are the same. What kubectl printed may have none. */
const ownUid = (uid: string): string => `${ownPrefix}${uid}`
const ownPrefix = 'twin-'

/** Of a seeded object the uid that it came with; undefined for what was made here. */
export const uidInCluster = (uid: string | undefined): string | undefined =>
  uid?.startsWith(ownPrefix) ? uid.slice(ownPrefix.length) : undefined

function withOwnUid(object: KubeObject): KubeObject {
  const { namespace = '', name, uid = `${namespace}-${name}`, ownerReferences } = object.metadata
  const owners = ownerReferences?.map((owner) => Object.assign({}, owner, { uid: ownUid(owner.uid) }))
  return {
    ...object,
    metadata: { ...object.metadata, uid: ownUid(uid), ...(owners && { ownerReferences: owners }) },
  }
}

/** A VMI that runs, with its launcher. */
function running(vmi: kube.Vmi, { current, random, now }: Omit<Filling, 'namespace'> & { current: string }) {
  const { name, namespace, uid, labels = {} } = vmi.metadata
  const { nodeName = '', launcherContainerImageVersion } = vmi.status ?? {}
  const image = (outdatedLabel in labels && launcherContainerImageVersion) || current
  const { metadata, spec } = launcherTemplate(vmi, image)
  const pod: kube.Pod = made(kube.Pods, {
    metadata: {
      ...metadata,
      name: `virt-launcher-${name}-${nameSuffix(random)}`,
      namespace,
      uid: `launcher-${uid}`,
      ownerReferences: [ownerReference(vmi)],
      finalizers: [terminationFinalizer],
    },
    spec: { ...spec, nodeName },
  })
  const state = { phase: 'Running', ready: true, state: { running: { startedAt: now } } } as const
  const activePods = { [pod.metadata.uid ?? '']: nodeName }
  const known = spec?.containers?.[0]?.image ?? ''
  return [
    { ...vmi, status: { ...vmi.status, activePods, launcherContainerImageVersion: known } },
    { ...pod, status: podStatus(pod, state, now) },
  ]
}

/** The image that KubeVirt gives to new launchers of this cluster, whose operands are in that namespace; empty before it is installed. */
export function launcherImage(store: Store, namespace: string): string {
  const controller: kube.Deployment | undefined = store.read(kube.Deployments, {
    name: 'virt-controller',
    namespace,
  })
  return launcherImageOf(controller?.spec?.template)
}
