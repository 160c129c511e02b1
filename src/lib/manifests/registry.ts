import type { Deployment } from '../cluster/kinds/apps.ts'
import type { KubeObject } from '../cluster/object.ts'
import { containersOf } from './containers.ts'
import { type Manifest, operatorManifest } from './manifest.ts'
import { type OperatorImage, operatorContainer, operatorImage } from './operator-image.ts'

export type Registry = Pick<OperatorImage, 'registry' | 'prefix'>

/** What release manifests name; a manifest that names another registry was made for that one. */
const publicRegistry = 'quay.io/kubevirt'

/**
 * Where the images are to come from: the registry that was asked for, else the mirror of the running operator where the
 * manifest names the public registry. Undefined: the manifest stays as it is.
 */
export function registryToKeep(
  manifest: Manifest,
  running: Deployment | undefined,
  asked?: string,
): Registry | undefined {
  const named = imageOf(manifest.operator)
  if (asked !== undefined) return { registry: asked.replace(/\/$/, ''), prefix: named?.prefix ?? '' }
  const live = running && imageOf(running)
  const mirrored = live !== undefined && live.registry !== publicRegistry
  return mirrored && named?.registry === publicRegistry ? live : undefined
}

/** A copy in which every image and *_IMAGE variable of the manifest's own registry comes from this one. */
export function fromRegistry(manifest: Manifest, to: Registry): Manifest {
  const from = imageOf(manifest.operator)
  if (from === undefined) return manifest
  const start = `${from.registry}/${from.prefix}`
  const rename = (image: string) =>
    image.startsWith(start) ? `${to.registry}/${to.prefix}${image.slice(start.length)}` : image
  return operatorManifest(
    manifest.objects.map((object) => renamed(object, rename)),
    manifest.origin,
  )
}

const imageOf = (operator: Deployment) => operatorImage(operatorContainer(operator)?.image)

function renamed(object: KubeObject, rename: (image: string) => string): KubeObject {
  const copy = structuredClone(object)
  for (const container of containersOf(copy)) {
    if (container.image !== undefined) container.image = rename(container.image)
    for (const variable of container.env ?? []) {
      const image = variable.name.endsWith('_IMAGE') ? variable.value : undefined
      if (image !== undefined) variable.value = rename(image)
    }
  }
  return copy
}
