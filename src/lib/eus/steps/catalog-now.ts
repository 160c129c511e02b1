import type { Reader } from '../../cluster/cluster.ts'
import type { CatalogSource, Subscription } from '../../cluster/kinds/operator-lifecycle.ts'
import { type Pod, Pods } from '../../cluster/kinds/pods.ts'
import { condition } from '../../cluster/object.ts'
import { itemsOf, known } from '../../facts/known.ts'
import { type LifecycleSnapshot, takeLifecycle } from '../../facts/operator-lifecycle/take-lifecycle.ts'
import type { StepState } from '../../procedure/step.ts'

/** What the catalog of a Subscription says: the head of the channel that is set, or what has to be waited for before it counts. */
export type CatalogNow = { is: 'answers'; head: string } | { is: 'waits'; state: StepState }

type Waits = Extract<StepState, { is: 'waiting' | 'stalled' }>

/**
 * An answer counts only from a pod of the catalog's present image that is ready, over a connection that is READY (night E4, ocp 2.6): what is not there, or
 * cannot be read, says nothing. Throws ApiError.
 */
export async function catalogNow(
  reader: Reader,
  subscription: Subscription,
  command: string,
): Promise<CatalogNow> {
  const { pack, source, namespace, channel } = askedOf(subscription)
  const offer = await takeLifecycle(reader, {
    namespace: subscription.metadata.namespace ?? '',
    packages: [pack],
    parts: ['catalogSources', 'packageManifests'],
  })
  const remedy = [
    `oc -n ${namespace} get catalogsource ${source} -o yaml`,
    `oc get packagemanifest ${pack} -o yaml`,
  ]
  const waits = (state: Waits): CatalogNow => ({ is: 'waits', state: { ...state, remedy } })
  const catalog = itemsOf(offer.catalogSources).find(({ metadata }) => metadata.name === source)
  if (catalog === undefined) return waits(withoutCatalog(offer, source))
  const unready = notReady(catalog) ?? (await withoutPod(reader, catalog))
  if (unready !== undefined) return waits(unready)
  const head = headOf(offer, channel)
  if (head !== undefined) return { is: 'answers', head }
  const state = withoutHead(offer, { pack, channel })
  const file = `${command} --catalog-file FILE     knows the releases without it`
  return { is: 'waits', state: { ...state, remedy: [...remedy, file] } }
}

function askedOf({ spec = {} }: Subscription) {
  const { name: pack = '', source = '', sourceNamespace: namespace = '', channel = '' } = spec
  return { pack, source, namespace, channel }
}

function withoutCatalog({ catalogSources }: LifecycleSnapshot, source: string): Waits {
  const why = catalogSources.known ? 'there is none of that name' : catalogSources.why
  return { is: 'stalled', on: `catalog ${source}`, why }
}

function notReady({ metadata, status }: CatalogSource): Waits | undefined {
  const state = status?.connectionState?.lastObservedState
  if (state === 'READY') return undefined
  return { is: 'waiting', on: `catalog ${metadata.name} to be READY, it is ${state ?? 'not connected'}` }
}

/** The connection outlives its pod for a while: an old one still answers READY. A catalog without an image is served by somebody else's pod. */
async function withoutPod(reader: Reader, { metadata, spec }: CatalogSource): Promise<Waits | undefined> {
  const { name, namespace = '' } = metadata
  const image = spec?.image
  if (image === undefined) return undefined
  const pods = await known(reader.list(Pods, { namespace, labels: `olm.catalogSource=${name}` }))
  if (!pods.known)
    return { is: 'stalled', on: `the pod of catalog ${name}`, why: `whether it is new: ${pods.why}` }
  return pods.items.some((pod) => imagesOf(pod).includes(image) && isReady(pod))
    ? undefined
    : { is: 'waiting', on: `a ready pod of catalog ${name} with image ${image}` }
}

/** Where the content is unpacked by an init container, that one has the catalog's image. */
const imagesOf = ({ spec }: Pod): readonly (string | undefined)[] =>
  [...(spec?.containers ?? []), ...(spec?.initContainers ?? [])].map(({ image }) => image)

const isReady = (pod: Pod): boolean =>
  pod.metadata.deletionTimestamp === undefined && condition(pod, 'Ready')?.status === 'True'

function headOf({ packageManifests }: LifecycleSnapshot, channel: string): string | undefined {
  const channels = itemsOf(packageManifests).flatMap(({ status }) => status?.channels ?? [])
  return channels.find(({ name }) => name === channel)?.currentCSV
}

function withoutHead(
  { packageManifests }: LifecycleSnapshot,
  { pack, channel }: { pack: string; channel: string },
): Waits {
  const why = packageManifests.known
    ? `no PackageManifest ${pack} of this catalog has a channel ${channel}`
    : packageManifests.why
  return { is: 'stalled', on: `what channel ${channel} has`, why }
}
