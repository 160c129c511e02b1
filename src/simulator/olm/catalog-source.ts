import * as kube from '../kinds.ts'
import type { KubeObject } from '../../lib/kube/object.ts'
import { ApiError } from '../../lib/kube/errors.ts'
import { control, type ControllerContext, foundIn, made, seconds } from '../machinery/controller.ts'
import { createPod, isLiving, isReady } from '../machinery/owned-pods.ts'
import { msSince, type Olm } from './olm-context.ts'
import { same } from '../api/json.ts'
import { contentOf, headOf, type PackageContent } from './catalog-content.ts'

const catalogLabel = 'olm.catalogSource'
/** From the first connection to READY, ms. */
const connecting = 8000
/** How long a catalog that does not answer is left alone, ms. */
const retry = 5000

/**
 * Keeps the catalog's pod: of the image of the platform's minor, as the marketplace operator writes it into the CatalogSource. What the
 * catalog has is what the image of its pod has, once that answers (ocp 2.6).
 */
export function runCatalog(cx: Olm): Promise<void> {
  const watched = [
    { kind: kube.CatalogSources },
    { kind: kube.ClusterVersions },
    { kind: kube.ClusterOperators, concerns: ({ metadata }: KubeObject) => metadata.name === 'marketplace' },
    {
      kind: kube.Pods,
      concerns: ({ metadata }: KubeObject) => metadata.labels?.[catalogLabel] !== undefined,
    },
  ]
  return control(cx, watched, async () => {
    const { source: name, sourceNamespace: namespace } = cx.shape
    const found = await cx.reader.get(kube.CatalogSources, { name, namespace })
    return found.is === 'object' ? reconcile(cx, await ofPlatform(cx, found.object)) : undefined
  })
}

/** The catalog with the image that its platform wants: OpenShift's have a tag for each minor. */
async function ofPlatform(cx: Olm, source: kube.CatalogSource): Promise<kube.CatalogSource> {
  const minor = await platformMinor(cx)
  const index = source.metadata.name.replace(/s$/u, '')
  const image =
    minor === undefined
      ? 'quay.io/operatorhubio/catalog:latest'
      : `registry.redhat.io/redhat/${index}-index:v${minor}`
  if (source.spec?.image === image) return source
  return cx.writer.mergePatch(kube.CatalogSources, source.metadata, { spec: { image } })
}

/** The minor that an image is of; undefined where it has everything. */
const minorOfImage = (image: string | undefined): string | undefined =>
  /:v(?<minor>\d+\.\d+)$/u.exec(image ?? '')?.groups?.['minor']

async function reconcile(cx: Olm, source: kube.CatalogSource): Promise<number | undefined> {
  const pods = await catalogPods(cx, source.metadata)
  const wanted = pods.filter((pod) => isLiving(pod) && imageIn(pod) === source.spec?.image)
  for (const pod of pods.filter((one) => isLiving(one) && !wanted.includes(one)))
    await cx.writer.delete(kube.Pods, pod.metadata)
  if (wanted.length === 0) await begin(cx, source)
  return connect(cx, source, wanted.find(isReady))
}

const imageIn = ({ spec }: kube.Pod): string | undefined => spec?.containers?.[0]?.image

function catalogPods(
  { reader }: ControllerContext,
  { name, namespace }: { name: string; namespace?: string },
): Promise<kube.Pod[]> {
  return reader.list(kube.Pods, { namespace, labels: `${catalogLabel}=${name}` })
}

async function begin(cx: Olm, source: kube.CatalogSource): Promise<void> {
  const { name } = source.metadata
  const image = source.spec?.image ?? ''
  const containers = [{ name: 'registry-server', image, command: ['/bin/opm', 'serve', '/configs'] }]
  const template = { metadata: { labels: { [catalogLabel]: name } }, spec: { containers } }
  try {
    await createPod(cx, source, { template, prefix: `${name}-`, by: 'catalog-operator' })
  } catch (error) {
    if (!(error instanceof ApiError)) throw error
  }
}

/** The connection goes from CONNECTING to READY; one that breaks says so. */
async function connect(cx: Olm, source: kube.CatalogSource, pod: kube.Pod | undefined) {
  const { lastObservedState: state, lastConnect } = source.status?.connectionState ?? {}
  if (pod === undefined) {
    await observe(cx, source, 'CONNECTING')
    return undefined
  }
  if (cx.faults.on.catalogNotReady === true) return refuse(cx, source)
  if (state === 'READY') return tellPackages(cx, minorOfImage(imageIn(pod)))
  const wait = state === 'CONNECTING' ? connecting - msSince(cx, lastConnect) : connecting
  await observe(cx, source, wait > 0 ? 'CONNECTING' : 'READY')
  return Math.max(0, wait)
}

/** Nobody answers: it connects for a while, and then it fails. */
async function refuse(cx: Olm, source: kube.CatalogSource): Promise<number | undefined> {
  const { lastObservedState: state, lastConnect } = source.status?.connectionState ?? {}
  if (state === 'TRANSIENT_FAILURE') return undefined
  const isLate = state === 'CONNECTING' && msSince(cx, lastConnect) >= retry
  await observe(cx, source, isLate ? 'TRANSIENT_FAILURE' : 'CONNECTING')
  if (isLate) await forgetPackages(cx)
  return retry
}

async function observe(cx: Olm, source: kube.CatalogSource, lastObservedState: string): Promise<void> {
  if (source.status?.connectionState?.lastObservedState === lastObservedState) return
  const { name, namespace } = source.metadata
  const connectionState = {
    address: `${name}.${namespace}.svc:50051`,
    lastConnect: seconds(cx),
    lastObservedState,
  }
  await cx.writer.mergePatch(kube.CatalogSources, source.metadata, { status: { connectionState } }, 'status')
}

/** Of which image the catalog answers now: with its minor, or with that it does not. */
export async function servedBy(
  cx: Olm,
): Promise<{ is: 'ready'; minor: string | undefined } | { is: 'not-ready'; state: string }> {
  const { source: name, sourceNamespace: namespace } = cx.shape
  const found = await cx.reader.get(kube.CatalogSources, { name, namespace })
  const state = found.is === 'object' ? found.object.status?.connectionState?.lastObservedState : undefined
  if (found.is !== 'object' || state !== 'READY') return { is: 'not-ready', state: state ?? '' }
  const pods = await catalogPods(cx, found.object.metadata)
  const pod = pods.find((one) => isLiving(one) && isReady(one))
  return pod ? { is: 'ready', minor: minorOfImage(imageIn(pod)) } : { is: 'not-ready', state: 'CONNECTING' }
}

/**
 * What the catalog has, as the package server tells it: versions without edges (ocp 2.6). In the catalog's namespace and the operator's;
 * nothing where the cluster does not serve the kind.
 */
async function tellPackages(cx: Olm, minor: string | undefined): Promise<undefined> {
  const { namespace, sourceNamespace } = cx.shape
  for (const content of contentOf(cx.shape, minor))
    for (const where of new Set([sourceNamespace, namespace])) {
      const wanted = manifest(cx, content, where)
      const found = await cx.reader.get(kube.PackageManifests, wanted.metadata)
      const change = [{ op: 'replace', path: '/status', value: wanted.status }] as const
      if (found.is === 'absent') await cx.writer.create(kube.PackageManifests, wanted)
      if (found.is === 'object' && !same(found.object.status, wanted.status))
        await cx.writer.jsonPatch(kube.PackageManifests, wanted.metadata, change)
    }
}

/** The package server shows nothing of a catalog that does not answer. */
async function forgetPackages({ reader, writer, shape }: Olm): Promise<void> {
  for (const { metadata, status } of await reader.list(kube.PackageManifests))
    if (status?.catalogSource === shape.source) await writer.delete(kube.PackageManifests, metadata)
}

function manifest({ shape }: Olm, content: PackageContent, namespace: string): kube.PackageManifest {
  const { source, sourceNamespace } = shape
  const channels = content.channels.map(({ name, entries }) => {
    const head = headOf(entries)
    const { skipRange } = head ?? {}
    return {
      name,
      ...(head && {
        currentCSV: head.name,
        currentCSVDesc: {
          version: head.version,
          annotations: skipRange === undefined ? {} : { 'olm.skipRange': skipRange },
        },
      }),
      entries: entries.map((entry) => ({ name: entry.name, version: entry.version })),
    }
  })
  const [first] = channels
  return made(kube.PackageManifests, {
    metadata: {
      name: content.package,
      namespace,
      labels: { catalog: source, 'catalog-namespace': sourceNamespace },
    },
    status: {
      catalogSource: source,
      catalogSourceNamespace: sourceNamespace,
      packageName: content.package,
      ...(first && { defaultChannel: first.name }),
      channels,
    },
  })
}

/**
 * The minor, `4.19`, whose catalogs are to be served: that of the marketplace operator, which comes to it in the middle of a platform
 * update (ocp 2.3 #10), or else of the newest update that is completed. Undefined where there is no cluster version.
 */
async function platformMinor({ reader }: Pick<ControllerContext, 'reader'>): Promise<string | undefined> {
  const version = foundIn(await reader.get(kube.ClusterVersions, { name: 'version' }))
  if (version === undefined) return undefined
  const marketplace = await reader.get(kube.ClusterOperators, { name: 'marketplace' })
  const versions = marketplace.is === 'object' ? marketplace.object.status?.versions : undefined
  const own = versions?.find(({ name }) => name === 'operator')?.version
  const completed = version.status?.history?.find(({ state }) => state === 'Completed')?.version
  return minorOf(own ?? completed)
}

/** `4.19` of `4.19.0-okd-scos.16`. */
export const minorOf = (version: string | undefined): string | undefined =>
  /^\d+\.\d+/u.exec(version ?? '')?.[0]
