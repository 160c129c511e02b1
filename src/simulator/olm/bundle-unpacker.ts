import * as kube from '../kinds.ts'
import { gunzipSync, gzipSync } from 'node:zlib'
import { condition, groupOf, type KubeObject } from '../../lib/kube/object.ts'
import { versionOf } from '../api/kinds/sim-kind.ts'
import {
  claim,
  type ControllerContext,
  foundIn,
  made,
  seconds,
  templateHash,
} from '../machinery/controller.ts'
import type { Program } from '../machinery/kubelet.ts'
import { msSince, type Olm, type OlmFaults } from './olm-context.ts'
import type { OlmShape } from './olm-shape.ts'
import {
  bundleFiles,
  bundleObjects,
  isServiceVersion,
  permissionsOf,
  type Release,
} from './operator-bundle.ts'
import { ownerReference } from '../machinery/owned-pods.ts'

/** Where the objects of a bundle lie that was unpacked, as a step refers to it (ocp 2.2). */
export interface Reference {
  kind: 'ConfigMap'
  name: string
  namespace: string
  catalogSourceName: string
  catalogSourceNamespace: string
  replaces: string
}

export const isReference = (manifest: KubeObject | Reference): manifest is Reference =>
  'namespace' in manifest

/** What a plan does for one release. */
export function stepsOf(release: Release, shape: OlmShape): kube.InstallStep[] {
  const { source, sourceNamespace, manifests = 'referenced' } = shape
  const reference = JSON.stringify(referenceTo(release, shape))
  return bundleObjects(release, shape).map((object) => ({
    resolving: release.entry.name,
    resource: {
      group: groupOf(object),
      version: versionOf(object.apiVersion),
      kind: object.kind,
      name: object.metadata.name,
      sourceName: source,
      sourceNamespace,
      manifest: manifests === 'referenced' ? reference : JSON.stringify(object),
    },
    status: 'Unknown',
  }))
}

/** Bears the hash of the bundle's image, as its Job does. */
const unpackedName = ({ package: name, entry }: Pick<Release, 'package' | 'entry'>): string =>
  templateHash({ bundle: `${name}@${entry.version}` }).repeat(6)

const referenceTo = (release: Release, { source, sourceNamespace }: OlmShape): Reference => ({
  kind: 'ConfigMap',
  name: unpackedName(release),
  namespace: sourceNamespace,
  catalogSourceName: source,
  catalogSourceNamespace: sourceNamespace,
  replaces: release.replaces ?? '',
})

const refLabel = 'operatorframework.io/bundle-unpack-ref'

const labelsOf = (release: Release): Record<string, string> => ({
  'olm.managed': 'true',
  [refLabel]: unpackedName(release),
})

/** The ConfigMap that an unpacked bundle is kept in: a file for each object, gzipped and in base64, which the API encodes once more. */
export function unpackedBundle(release: Release, shape: OlmShape): kube.ConfigMap {
  const files = bundleFiles(release, shape).map((object) => [fileOf(object), packed(JSON.stringify(object))])
  return made(kube.ConfigMaps, {
    metadata: {
      name: unpackedName(release),
      namespace: shape.sourceNamespace,
      labels: labelsOf(release),
    },
    binaryData: Object.fromEntries(files) as Record<string, string>,
  })
}

const fileOf = ({ kind, metadata }: KubeObject): string =>
  `${kind.toLowerCase()}_${metadata.name.replaceAll(':', '_')}.yaml`

const packed = (text: string): string => Buffer.from(gzipSync(text).toString('base64')).toString('base64')

function unpacked(text: string): KubeObject {
  const inner = Buffer.from(Buffer.from(text, 'base64').toString(), 'base64')
  return JSON.parse(gunzipSync(inner).toString()) as KubeObject
}

/** What a ConfigMap holds, and what OLM makes of the permissions in there; undefined where it is gone. */
export async function filesOf(
  reader: ControllerContext['reader'],
  { name, namespace }: Reference,
): Promise<KubeObject[] | undefined> {
  const found = foundIn(await reader.get(kube.ConfigMaps, { name, namespace }))
  if (found === undefined) return undefined
  const files = Object.values(found.binaryData ?? {}).map(unpacked)
  return [...files, ...files.filter(isServiceVersion).flatMap(permissionsOf)]
}

/** An unpacking is looked at as often, ms. */
const requeue = 5000
/** Then it is given up (ocp 2.2). */
const deadline = 600_000

type Unpacked = { is: 'done' } | { is: 'under-way'; again: number } | { is: 'failed'; why: string }

/** How the unpacking of these releases stands, each by a Job; begins it where it has not begun. */
export async function unpack(
  cx: Olm,
  releases: readonly Release[],
  source: kube.CatalogSource,
): Promise<Unpacked> {
  const all: Unpacked[] = []
  for (const release of releases) all.push(await unpackOne(cx, release, source))
  return all.find(({ is }) => is === 'failed') ?? all.find(({ is }) => is === 'under-way') ?? { is: 'done' }
}

async function unpackOne(cx: Olm, release: Release, source: kube.CatalogSource): Promise<Unpacked> {
  const kept = await keptFor(cx, release, source)
  if (kept.binaryData !== undefined) return { is: 'done' }
  const wanted = jobOf(cx, release, kept)
  const job = foundIn(await cx.reader.get(kube.Jobs, wanted.metadata))
  const { status, reason, message } = (job && condition(job, 'Failed')) ?? {}
  if (status === 'True')
    return { is: 'failed', why: `bundle unpacking failed. Reason: ${reason}, and Message: ${message}` }
  if (job && condition(job, 'Complete')?.status === 'True') {
    const { binaryData = {} } = unpackedBundle(release, cx.shape)
    await cx.writer.mergePatch(kube.ConfigMaps, kept.metadata, { binaryData })
    return { is: 'done' }
  }
  const says = cx.faults.on.bundleUnpackFailed
  if (job === undefined) await cx.writer.create(kube.Jobs, wanted)
  else if (says !== undefined && msSince(cx, job.metadata.creationTimestamp) >= deadline)
    await giveUp(cx, job, says)
  return { is: 'under-way', again: requeue }
}

/** The ConfigMap that the bundle goes to; empty until it is unpacked. */
async function keptFor(cx: Olm, release: Release, source: kube.CatalogSource): Promise<kube.ConfigMap> {
  const metadata = { name: unpackedName(release), namespace: cx.shape.sourceNamespace }
  const found = await cx.reader.get(kube.ConfigMaps, metadata)
  if (found.is === 'object') return found.object
  const owned = { ...metadata, labels: labelsOf(release), ownerReferences: [ownerReference(source, false)] }
  return cx.writer.create(kube.ConfigMaps, made(kube.ConfigMaps, { metadata: owned }))
}

/** The Job is given up with its pods, in the words of the registry. */
async function giveUp(cx: Olm, { metadata }: kube.Job, says: string): Promise<void> {
  const { name, namespace } = metadata
  const message = `Job was active longer than specified deadline: ${says}`
  const failed = {
    ...claim('Failed', 'True', 'DeadlineExceeded', message),
    lastTransitionTime: seconds(cx),
  }
  await cx.writer.mergePatch(kube.Jobs, metadata, { status: { active: 0, conditions: [failed] } }, 'status')
  const labels = `batch.kubernetes.io/job-name=${name}`
  for (const pod of await cx.reader.list(kube.Pods, { namespace, labels }))
    await cx.writer.delete(kube.Pods, pod.metadata)
}

function jobOf({ shape }: Olm, release: Release, kept: kube.ConfigMap): kube.Job {
  const image = `registry.redhat.io/${release.package}-bundle:v${release.entry.version}`
  const labels = labelsOf(release)
  return made(kube.Jobs, {
    metadata: {
      name: unpackedName(release),
      namespace: shape.sourceNamespace,
      labels,
      ownerReferences: [ownerReference(kept, false)],
    },
    spec: {
      backoffLimit: 3,
      ttlSecondsAfterFinished: 300,
      template: {
        metadata: { labels },
        spec: { restartPolicy: 'Never', containers: [{ name: 'extract', image }] },
      },
    },
  })
}

/** What the pod of a Job that unpacks a bundle runs: a second's work, or none to its end while the fault is on. Undefined for other pods. */
export function unpackProgram(
  { metadata }: kube.Pod,
  {
    clock,
    faults,
  }: Pick<ControllerContext, 'clock'> & { faults: { on: Pick<OlmFaults, 'bundleUnpackFailed'> } },
): Program | undefined {
  if (metadata.labels?.[refLabel] === undefined) return undefined
  return async (_pod, signal) => {
    do await clock.sleep(1000, signal)
    while (faults.on.bundleUnpackFailed !== undefined)
    return 0
  }
}
